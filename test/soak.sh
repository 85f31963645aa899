#!/usr/bin/env bash
# soak.sh - 200,000 random calls, then sessions that are killed: bash test/soak.sh
#
# Installs the Debian packages that are missing (as root or through sudo),
# builds a copy of the checkout, and works in a throw-away PostgreSQL.  First
# test/calls/calls.pl calls all that the extension has with arguments that
# are often wrong; then test/calls/storm.pl lets sessions fit, refresh, read,
# drop and grant at once, while backends are cancelled, terminated and killed.
# Takes half an hour on two idle cores, and stops early after --seconds and
# --storm.  Options:
#   --calls N      how many calls (200000; 0: none)
#   --seed S       decides all that is called; printed with every failure
#   --part P       this part of the calls alone, to repeat a failure
#   --seconds N    the calls' share of time at most (2400)
#   --storm N      seconds of the second half (300; 0: none)
#   --without deep leaves out kernels nested far
#   --trail FILE   writes every statement of the calls to FILE
#
# Closes with "N passed, N failed"; status 1 when something failed.  Leaves
# nothing running, and nothing on disk but packages.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
SEED=$(($(date +%s) % 1000000)) CALLS=200000 SECONDS_OF_CALLS=2400 STORM=300
options=()

while [ $# -gt 0 ]; do
	case $1 in
	--calls) CALLS=${2:?a number}; shift 2 ;;
	--seed) SEED=${2:?a number}; shift 2 ;;
	--seconds) SECONDS_OF_CALLS=${2:?a number}; shift 2 ;;
	--storm) STORM=${2:?a number}; shift 2 ;;
	--part) options+=(--part "${2:?a number}"); STORM=0; shift 2 ;;
	--trail) options+=(--trail "$(realpath "${2:?a file name}")"); shift 2 ;;
	--without) options+=("$1" "${2:?deep}"); shift 2 ;;
	*) sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done

prepare perl
private_server
build || { tail -n 20 "$WORK/build.log"; die "the build failed"; }
start_server "max_connections = 50" "log_checkpoints = off"
rc=0
if [ "$CALLS" != 0 ]; then
	perl "$ROOT/test/calls/calls.pl" --calls "$CALLS" --seed "$SEED" --seconds "$SECONDS_OF_CALLS" \
		"${options[@]}" 2>&1 | tee "$WORK/calls.tap"
	rc=$((rc + PIPESTATUS[0]))
fi
if [ "$STORM" != 0 ]; then
	perl "$ROOT/test/calls/storm.pl" --log "$WORK/data/server.log" --seed "$SEED" --seconds "$STORM" \
		2>&1 | tee "$WORK/storm.tap"
	rc=$((rc + PIPESTATUS[0]))
fi
stop_server
passed=$(cat "$WORK"/*.tap | grep -c '^ok')
failed=$(cat "$WORK"/*.tap | grep -c '^not ok')
[ "$rc" = 0 ] || [ "$failed" != 0 ] || failed=1
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
