#!/usr/bin/env bash
# check.sh - every check of the project, on a Debian machine: bash test/check.sh
#
# Installs the Debian packages that are missing (as root or through sudo),
# builds a copy of the checkout with warnings as errors, and runs the house
# rules, the core's unit tests under sanitizers, the GPU library on an emulated
# card (and with nvcc on a real one), the SQL tests, the TAP tests, and the tests
# of documents and memory and random calls in throw-away servers; the
# quality floors on real graphs too when GNNGP_DATA names a folder that holds them.
#
# It takes about 7 minutes of two idle processors.  GNNGP_LONG=1 takes half an hour, and adds: a million kernels and
# 20,000 random calls instead of 8,000 and 800; every kind of undefined behaviour, with its message; faults at
# places as near each other late in a run as early; live answers of every kernel by both strategies; gckm's equation
# on Cora; on the emulated card fits of 523 and 2,050 nodes, and of 300 where 100 take their place, links by scores under sanitizers, thrice the chains, both types in
# every setting and all SQL tests that compute; the real GPU library where there is nvcc and no card; every call on
# every altered row of the catalog; each guard of the reader alone; more of the quality floors, and a browser for the report where none is installed.
# Stages can be named: bash test/check.sh unit regress.  They run in four lanes side
# by side, and are reported in the order in which they end.
#
# Closes with "N passed, N failed" (", N skipped" may follow); status 1 when
# something failed.  Leaves nothing running, and nothing on disk but packages.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

STAGES="rules site build unit fuzz gpu regress tap reference readme drivers calls memory quality"
# How a log marks a test that was skipped, or a whole file.
SKIPPED='^ok .*# *skip|^1\.\.0 .*# *skip|\.pl \.+ skipped: '
passed=0
failed=0
skipped=0

# True for a stage that was named, or when none was.
wanted() {
	case " ${WANTED:-$STAGES} " in *" $1 "*) ;; *) return 1 ;; esac
}

# Runs one stage, a function that prints TAP, into a log with its status and time,
# and passes on its name when it is over.
run_stage() {
	local started=$SECONDS

	"stage_$1" >"$WORK/$1.tap" 2>&1
	echo "$? $((SECONDS - started))" >"$WORK/$1.status"
	echo "$1" >&3
}

# Counts what a stage reports.  One that fails without a "not ok" counts as one failure.
tell_stage() {
	local name=$1 log="$WORK/$1.tap" rc seconds p f s

	read -r rc seconds <"$WORK/$name.status"
	s=$(grep -ciE "$SKIPPED" "$log")
	p=$(($(grep -cE '^ok( |$)' "$log") - $(grep -ciE '^ok .*# *skip' "$log")))
	f=$(grep -E '^not ok' "$log" | grep -cviE '# *todo')
	if [ "$rc" != 0 ] && [ "$f" = 0 ]; then
		f=1
		echo "not ok - $name ended with status $rc" >>"$log"
	fi
	printf '%-10s %5d passed, %d failed, %d skipped (%d s)\n' "$name" "$p" "$f" "$s" "$seconds"
	grep -iE "$SKIPPED" "$log" | sed 's/^/    /'
	if [ "$f" != 0 ]; then
		grep -nE -A6 '^not ok' "$log" | head -n 80 | cut -c 1-300 | sed 's/^/    /'
		grep -E '^# [^ ]+ ended with status' "$log" | sed 's/^/    /'
		[ ! -s "$WORK/$name.diffs" ] || head -n 200 "$WORK/$name.diffs"
		grep -qE '^not ok - .* ended with status' "$log" && tail -n 40 "$log" | sed 's/^/    /'
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
}

# Runs those of some stages that are wanted: one after the other, or all at once.
in_turn() {
	local name

	for name in "$@"; do
		! wanted "$name" || run_stage "$name"
	done
}
side_by_side() {
	local name

	for name in "$@"; do
		! wanted "$name" || run_stage "$name" &
	done
	wait
}

# Starts a lane, a function that runs stages beside those of other lanes.  Each has a
# process group of its own, by which it is ended when this script is.
lanes=()
start_lane() {
	set -m
	{ "$@"; echo end >&3; } </dev/null &
	lanes+=($!)
	set +m
}

# Ends lanes that run still.
end_lanes() {
	local lane

	for lane in "${lanes[@]}"; do
		kill -- "-$lane" 2>/dev/null && wait "$lane"
	done
}

# Reports each stage that comes to its end until all lanes have.
tell_lanes() {
	local name open=${#lanes[@]}

	while [ "$open" != 0 ] && read -r -u 3 name; do
		if [ "$name" = end ]; then open=$((open - 1)); else tell_stage "$name"; fi
	done
	lanes=()
}

# What the compiler cannot see.
stage_rules() { bash "$ROOT/test/rules.sh"; }

# The documents as a site, each link followed.
stage_site() {
	if ! command -v mkdocs >/dev/null; then
		echo "ok - the documents as a site # SKIP no mkdocs"
		return
	fi
	mkdocs build --strict --quiet --config-file "$ROOT/mkdocs.yml" --site-dir "$WORK/site" 2>&1 |
		report "mkdocs builds the documents as a site"
}

# The extension, with warnings as errors, and each message of a plain make.
stage_build() {
	if [ -e "$WORK/built" ]; then
		{ grep -E 'warning:|error:' "$WORK/build.log"; true; } | report "it builds without a warning"
	else
		{ grep -E 'warning:|error:|Error ' "$WORK/build.log" || tail -n 20 "$WORK/build.log"; } |
			report "it builds and installs without a warning"
	fi
	# These are compiled late, or by hand alone.
	for f in "$ROOT"/test/gpu/*.c "$ROOT"/test/bench/*.c; do
		gcc -fsyntax-only -Wall -I"$ROOT/src/core" -I"$ROOT/test/unit" -I"$ROOT/test/gpu" "$f"
	done 2>&1 | report "the programs of test/gpu and test/bench compile without a warning"
	{ nm -D --defined-only "$WORK/src/gnngp.so" |
		awk '$3 !~ /^(Pg_magic_func|_PG_init|_PG_fini|(pg_finfo_)?gnngp_[a-z0-9_]+)$/ {print $3}'; } |
		report "the library exports its SQL functions alone"
	{ nm -D --undefined-only "$WORK/src/gnngp.so" | awk '$2 ~ /^(gnngp|gp)_/ {print $2}'; } |
		report "the library calls none of its own functions that is not there"
	{ ! grep -qaF "$WORK/src" "$WORK/src/gnngp.so" || echo "gnngp.so names $WORK/src"; } |
		report "the library does not tell where it was built"
}

# What a test frees is watched for a while; to be given new pages for ever costs a tenth of the time.
export UNIT_ASAN=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16:max_malloc_fill_size=1000000000:malloc_fill_byte=255

# Makes something of the core's unit tests in $WORK/unit, under sanitizers.
make_unit() {
	make -s -j "$(nproc)" -f "$ROOT/test/unit/Makefile" BUILD="$WORK/unit" WERROR=-Werror \
		SANITIZE="$([ -n "${GNNGP_LONG:-}" ] && echo yes || echo quick)" "$@"
}

# The core's unit tests; no server is needed.
stage_unit() {
	make_unit build && make_unit -k --output-sync run
}

# The fuzzer's corpus through the kernel language.
stage_fuzz() { make_unit fuzz; }

# Where the Makefile finds nvcc; nothing when there is none.
find_nvcc() {
	local home=${CUDA_HOME:-}

	[ -n "$home" ] || { [ -d /usr/local/cuda ] && home=/usr/local/cuda || home=/opt/cuda; }
	[ -x "$home/bin/nvcc" ] && echo "$home/bin/nvcc" || command -v nvcc
}

# Builds the real GPU library from a copy of the sources with warnings as errors.
build_cuda() {
	cp -r "$WORK/src" "$WORK/cuda" &&
		make -C "$WORK/cuda" -j "$(nproc)" with_llvm=no NVCC="$1" CUDA_ARCHS=90 \
			NVCC_EXTRA="-Werror all-warnings -Xcompiler -Werror" gnngp_cuda.so >"$WORK/cuda.log" 2>&1
}

# Runs one part of the GPU's tests under sanitizers into a log of its own; the second argument is $WORK.
run_gpu_part() {
	ASAN_OPTIONS=$UNIT_ASAN timeout 1200 \
		"$2/unit/test_gpu" "$2/gnngp_sanitized.so" "$1" >"$2/gpu_$1.log" 2>&1 ||
		echo "# $1 ended with status $?" >>"$2/gpu_$1.log"
}
export -f run_gpu_part

# The GPU library: on the emulated card under sanitizers; with nvcc, where there is a card or time,
# the real one is built without a warning, too, and runs.
stage_gpu() {
	local gpu=$ROOT/test/gpu nvcc rc=0

	make_unit gpu && bash "$gpu/build.sh" "$WORK/gnngp_sanitized.so" sanitized || return 1
	# Those that take longest first.
	printf '%s\n' operations fits shapes faults chains card walks training | xargs -P "$(nproc)" -I{} bash -c 'run_gpu_part "$@"' part {} "$WORK"
	cat "$WORK"/gpu_*.log || rc=1
	! grep -q '^# .* ended with status' "$WORK"/gpu_*.log || rc=1

	nvcc=${NVCC:-$(find_nvcc)}
	if [ -z "$nvcc" ] || [ ! -e /dev/nvidia0 ] && [ -z "${GNNGP_LONG:-}" ]; then
		echo "ok - the GPU library for a real card # SKIP no nvcc, or no card and no GNNGP_LONG=1"
		return $rc
	fi
	{ build_cuda "$nvcc" || tail -n 20 "$WORK/cuda.log"; } |
		report "the GPU library for a real card is built without a warning"
	[ -e "$WORK/cuda/gnngp_cuda.so" ] || return 1
	ASAN_OPTIONS=detect_leaks=0:protect_shadow_gap=0 timeout 1200 \
		"$WORK/unit/test_gpu" "$WORK/cuda/gnngp_cuda.so" || rc=1
	return $rc
}

# Builds the GPU library on the emulated card into $WORK/gnngp_emulated.so, once.
emulated_library() (
	flock 9
	[ -e "$WORK/gnngp_emulated.so" ] ||
		bash "$ROOT/test/gpu/build.sh" "$WORK/gnngp_emulated.so" >"$WORK/emulated.log" 2>&1 ||
		{ tail -n 20 "$WORK/emulated.log"; return 1; }
) 9>"$WORK/emulated.lock"

# Runs SQL tests into a folder of $WORK, all or those named; the second argument
# goes behind their names.
regress() {
	local out=$WORK/$1 what=$2
	shift 2

	mkdir "$out"
	[ "$(id -u)" != 0 ] || chown postgres "$out"
	as_server make -s -C "$WORK/src" with_llvm=no installcheck ${1:+REGRESS="$*"} \
		REGRESS_OPTS="--inputdir=test --load-extension=gnngp --outputdir=$out" >"$out.log" 2>&1
	cat "$out/regression.diffs" >>"$WORK/regress.diffs" 2>/dev/null
	sed -nE -e "s/^test ([^ ]+) +\\.\\.\\. ok .*/ok - \\1$what/p;t" \
		-e "s/^test ([^ ]+) +\\.\\.\\. FAILED.*/not ok - \\1$what/p;t" \
		-e '/^(not )?ok /p' "$out.log"
	grep -qE '^test |^(not )?ok ' "$out.log" || { cat "$out.log"; return 1; }
}

# The SQL tests; then, on the emulated card, that of fits, or all that compute and don't take minutes there.
stage_regress() {
	local installed on_card=fit

	[ -z "${GNNGP_LONG:-}" ] || on_card="aggregates fit id_types input_rules laplacian ownership predict refresh"
	installed=$("$PG_CONFIG" --pkglibdir)/gnngp_cuda.so
	regress regress '' || return 1
	emulated_library && cp "$WORK/gnngp_emulated.so" "$installed" || return 1
	PGOPTIONS='-c gnngp.device=cuda' regress regress_cuda ', on the emulated card' $on_card
	rm -f "$installed"
}

# The reader has two guards against tables that are swapped under it: each is left
# out of the library in turn, and the other has to do.
prove_guards() {
	local guard copy

	for guard in locks types; do
		copy=$WORK/without_$guard
		cp -a "$WORK/src" "$copy" && rm "$copy/src/pg/reader/read_source.o" "$copy/gnngp.so" &&
			make -s -C "$copy" with_llvm=no COPT="-DGNNGP_TEST_WITHOUT_${guard^^}" install >"$copy.log" 2>&1 ||
			{ tail -n 20 "$copy.log"; return 1; }
		GNNGP_WITHOUT=$guard prove_tests "tap_$guard" 1 "$WORK/src/test/t/009_locks.pl" || return 1
	done
}

# Those that measure time, or put a GPU library beside the extension.
TIMED='_(cancel|refresh|gpu|hostile)\.pl$'

# Clusters without settings of their own are copies of one, as those of PostgreSQL::Test are from 17 on.
initdb_once() {
	local bin template=$WORK/template

	bin=$(dirname "$PG_CONFIG")
	mkdir "$template"
	[ "$(id -u)" != 0 ] || chown postgres "$template"
	as_server "$bin/initdb" -D "$template/data" -A trust -N >"$WORK/template.log" 2>&1 || return
	mv "$bin/initdb" "$bin/initdb.real"
	cat >"$bin/initdb" <<-EOF
		#!/bin/sh
		[ "\$*" = "-D \$2 -A trust -N" ] && exec cp -a "$template/data" "\$2"
		exec "$bin/initdb.real" "\$@"
	EOF
	chmod 755 "$bin/initdb"
}

# Whole servers: restart, dump, standby, cancels, permissions, hostile timing.  They
# have a copy of the server's files to themselves, for they change what is installed.
stage_tap() (
	cp -a "$WORK/pg" "$WORK/pg_tap"
	PG_CONFIG=${PG_CONFIG/"$WORK/pg/"/"$WORK/pg_tap/"}
	PATH=$(dirname "$PG_CONFIG"):$PATH
	pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/../..
	if [ ! -e "$pgxs/src/test/perl/PostgreSQL/Test/Cluster.pm" ]; then
		echo "ok - TAP tests # SKIP this server comes without PostgreSQL::Test"
		return
	fi
	emulated_library || return 1
	initdb_once
	prove_tests tap_alone 1 $(ls "$WORK"/src/test/t/*.pl | grep -E "$TIMED") &&
		prove_tests tap "$((2 * $(nproc)))" $(ls "$WORK"/src/test/t/*.pl | grep -vE "$TIMED") || return 1
	[ -z "${GNNGP_LONG:-}" ] || prove_guards
)

# The documents against the catalog, their SQL, and their programs.
stage_reference() { bash "$ROOT/test/reference.sh"; }
stage_readme() { bash "$ROOT/test/readme.sh"; }
stage_drivers() { bash "$ROOT/test/drivers.sh"; }

# Random calls of all that there is to call; GNNGP_SEED decides which.
stage_calls() {
	perl "$ROOT/test/calls/calls.pl" --calls "$([ -n "${GNNGP_LONG:-}" ] && echo 20000 || echo 800)" --seed "${GNNGP_SEED:-1}" --seconds 600
}

# peak_bytes against gp_estimate and the operating system.
stage_memory() { bash "$ROOT/test/memory.sh"; }

# Accuracy on real graphs.
stage_quality() {
	if [ -z "${GNNGP_DATA:-}" ]; then
		echo "ok - quality floors # SKIP GNNGP_DATA names no folder of graphs"
		return
	fi
	bash "$ROOT/test/quality/run.sh"
}

# The lanes.  That of the TAP tests waits most of the time, and measures some of it: the
# others stand back, and fill the processors.  The core's is the longest, and goes before the rest.
NICE=10
nice_lane() {
	renice -n "$1" "$BASHPID" >/dev/null
	in_turn "${@:2}"
}
core_lane() {
	nice_lane "$((NICE / 2))" rules site build unit
	! wanted fuzz && ! wanted gpu || make_unit core >/dev/null 2>&1
	side_by_side fuzz gpu
}
server_lane() {
	nice_lane "$NICE" regress reference readme drivers
	side_by_side calls memory
}

WANTED="$*"
for name in $WANTED; do
	case " $STAGES " in *" $name "*) ;; *) die "no stage is named $name; there are $STAGES" ;; esac
done
prepare g++ libipc-run-perl
want_packages "postgresql-$PG_VERSION-cron" ${GNNGP_LONG:+chromium}
private_server
build PROFILE="-Werror -g1" && touch "$WORK/built"
mkfifo "$WORK/over" && exec 3<>"$WORK/over"
trap 'rc=$?; end_lanes; (exit $rc); finish' EXIT
start_lane core_lane
if [ -e "$WORK/built" ]; then
	start_lane in_turn tap
	if wanted regress || wanted reference || wanted readme || wanted drivers || wanted calls || wanted memory || wanted quality; then
		start_server
		renice -n "$NICE" "$(head -n 1 "$SERVER_DATA/postmaster.pid")" >/dev/null
		start_lane server_lane
		start_lane nice_lane "$NICE" quality
	fi
fi
tell_lanes
stop_server
line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
