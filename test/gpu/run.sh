#!/usr/bin/env bash
# run.sh - the GPU's tests on this machine's card: bash test/gpu/run.sh [FILE [part ...]]
#
# FILE is the GPU library, else the one that `make cuda` has built here.
# Needs gcc and OpenBLAS and no server.  Prints TAP; skips, saying so, without a
# card.  CC and CFLAGS may be given.
set -eu

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
file=${1:-$root/gnngp_cuda.so}
work=$(mktemp -d "${TMPDIR:-/tmp}/gnngp-gpu.XXXXXX")
trap 'rm -rf "$work"' EXIT
[ -e "$file" ] || { echo "run.sh: there is no $file; build it with make cuda" >&2; exit 2; }

# shellcheck disable=SC2086
"${CC:-gcc}" ${CFLAGS:--O2} -std=gnu99 -I"$root/src/core" -I"$root/test/unit" -I"$root/test/gpu" \
	"$root"/test/gpu/*.c "$root"/test/unit/test_env.c $(find "$root/src/core" -name "*.c") -o "$work/test_gpu" -lm -lpthread -ldl
"$work/test_gpu" "$(realpath "$file")" "${@:2}"
