#!/usr/bin/env bash
# sanitized.sh - the extension under the address and undefined-behaviour sanitizers in a throw-away server:
# bash test/sanitized.sh [--calls N] [--seed S] [--seconds N] [test of test/sql ...]
#
# Builds a copy of the checkout in which each piece of memory has a red zone of its own
# (test/sanitized/redzones.c), runs SQL tests, those that alter stored rows and values unless others are
# named, and then random calls (test/calls/calls.pl).  What the sanitizers find ends the server's
# process, and is printed.  Closes with "N passed, N failed"; status 1 when something failed.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
CALLS=5000 SEED=$(($(date +%s) % 1000000)) SECONDS_OF_CALLS=1200

while [ $# -gt 0 ]; do
	case $1 in
	--calls) CALLS=${2:?a number}; shift 2 ;;
	--seed) SEED=${2:?a number}; shift 2 ;;
	--seconds) SECONDS_OF_CALLS=${2:?a number}; shift 2 ;;
	-*) sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"; exit 2 ;;
	*) break ;;
	esac
done
[ $# != 0 ] || set -- catalog_rows aggregates_hostile live_hostile matrix id_types

# What stands in the way of the server's own functions of memory.
wrapped=$(sed -n 's/^__wrap_\([A-Za-z0-9_]*\).*/-Wl,--wrap=\1/p' "$ROOT/test/sanitized/redzones.c" | tr '\n' ' ')
prepare perl
private_server
copy_checkout "$WORK/src"
cp "$ROOT/test/sanitized/redzones.c" "$WORK/src/src/pg/server/"
make -C "$WORK/src" -j "$(nproc)" with_llvm=no CUDA=no install SHLIB_LINK="-ldl -lpthread -lm $wrapped" \
	PROFILE="-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize=nonnull-attribute \
		-fno-sanitize-recover=undefined -Wno-frame-larger-than" \
	>"$WORK/build.log" 2>&1 || { tail -n 20 "$WORK/build.log"; die "the build failed"; }
export ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16:log_path=$WORK/home/asan"
export UBSAN_OPTIONS="print_stacktrace=1:log_path=$WORK/home/asan"
gcc -shared -fPIC -o "$WORK/nls.so" "$ROOT/test/sanitized/nls.c" || die "no compiler"
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so) $WORK/nls.so" start_server "max_connections = 50"
{
	as_server make -s -C "$WORK/src" with_llvm=no installcheck REGRESS="$*" \
		REGRESS_OPTS="--inputdir=test --load-extension=gnngp --outputdir=$WORK/home" >"$WORK/regress.log" 2>&1
	sed -nE -e "s/^test ([^ ]+) +\\.\\.\\. ok .*/ok - \\1/p" -e "s/^test ([^ ]+) +\\.\\.\\. FAILED.*/not ok - \\1/p" "$WORK/regress.log"
	head -n 100 "$WORK/home/regression.diffs" 2>/dev/null | sed 's/^/# /'
	[ "$CALLS" = 0 ] ||
		perl "$ROOT/test/calls/calls.pl" --calls "$CALLS" --seed "$SEED" --seconds "$SECONDS_OF_CALLS" 2>&1
	stop_server
	cat "$WORK"/home/asan.* 2>/dev/null | report "the sanitizers found nothing"
} | tee "$WORK/all.tap"
failed=$(grep -c '^not ok' "$WORK/all.tap")
echo "$(grep -c '^ok' "$WORK/all.tap") passed, $failed failed"
[ "$failed" = 0 ]
