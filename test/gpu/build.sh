#!/usr/bin/env bash
# build.sh - builds the GPU library against the emulated card: bash test/gpu/build.sh FILE [plain|sanitized]
#
# The library's sources are compiled as C++ with the headers of test/gpu/emulate
# in place of CUDA's, and linked with the core's env.c and the emulator.  The
# emulator's own products, factorisations and fibers are never instrumented:
# their arguments are checked as a whole, and they take most of the time.
#
# CXX and CC may name other compilers.  Objects go to a folder beside FILE.
set -eu

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
file=$1
how=${2:-plain}
objects=$file.objects
mkdir -p "$objects"

export CXX=${CXX:-g++} CC=${CC:-gcc}
warn="-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wno-unknown-pragmas -Wno-psabi -Werror"
common="-fPIC -fvisibility=hidden -DGP_CUDA_EMULATED -I$root/test/gpu/emulate -I$root/src/core"
case $how in
plain) tune="-O2" ;;
sanitized) tune="-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fsanitize-undefined-trap-on-error -fno-sanitize=null,alignment,object-size,vptr" ;;
*) echo "build.sh: plain or sanitized, not $how" >&2; exit 2 ;;
esac
link=
[ "$how" = plain ] || link="-fsanitize=address,undefined"

# One command a line, for as many processors as there are.
{
	for f in "$root"/cuda/*.cu; do
		echo "$CXX -x c++ -std=c++17 $warn $common $tune -include cuda_runtime.h -c $f -o $objects/$(basename "$f" .cu).o"
	done
	for f in "$root"/test/gpu/emulate/*.cpp; do
		case $f in
		*/emulate_blas.cpp | */emulate_solver.cpp) how="-O3 -march=native" ;;
		*/emulate_launch.cpp) how="-O2" ;;
		*) how=$tune ;;
		esac
		echo "$CXX -std=c++17 $warn $common $how -c $f -o $objects/$(basename "$f" .cpp).o"
	done
	echo "$CC -std=gnu99 $warn $common $tune -c $root/src/core/base/env.c -o $objects/env.o"
} | xargs -P "$(nproc)" -d '\n' -n 1 sh -c '$1 || exit 255' sh

# shellcheck disable=SC2086
"$CXX" -shared $link -o "$file.new" "$objects"/*.o -Wl,--no-undefined -lm -lpthread -ldl
mv -f "$file.new" "$file"
