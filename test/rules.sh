#!/usr/bin/env bash
# rules.sh - the rules of the source that no compiler checks, as TAP: bash test/rules.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 1

grep -rnE '#include *[<"](postgres|fmgr)\.h' src/core |
	report "the core knows no server"
grep -rnE 'cblas_|LAPACKE_|\bcu(da|blas|sparse|solver)[A-Z]' src/pg |
	report "the database floor calls no BLAS and no CUDA"
grep -rnE '\b(malloc|calloc|realloc|printf|exit|abort)\(' src/core --include='*.c' |
	grep -vE '^[^:]*:[0-9]+:\s*(/?\*|//)' |
	report "the core allocates, prints and ends through its environment"
grep -rnE '\b(pg_)?qsort(_[a-z]+)?\(' src | report "what users choose the size of is sorted by gp_sort"
grep -rnE 'ereport\((ERROR|elevel)' src | cut -d: -f1,2 | while IFS=: read -r f l; do
	sed -n "${l},$((l + 3))p" "$f" | grep -q errcode || echo "$f:$l"
done | report "every error has an errcode"
find src test cuda -type f \( -name '*.[ch]' -o -name '*.cu' \) | xargs awk 'FNR == 801 { print FILENAME }' |
	report "no file has more than 800 lines"
find src -name '*.c' | xargs awk '/^\{/ { start = FNR } /^\}/ && start {
	if (FNR - start > 61) print FILENAME ":" start ": " FNR - start - 1 " lines"; start = 0 }' |
	report "no function has more than 60 lines"
# A message stands whole in its line, as it is looked for.
find src -name '*.[ch]' | xargs perl -lne '1 while s/^([^\t]*)\t/$1 . " " x (4 - length($1) % 4)/e; s/"[^"]*"/""/g;
	print "$ARGV:$.: ", length, " columns" if length > 100; close ARGV if eof' |
	report "no line has more than 100 columns, messages left out"
find src -type d | while read -r d; do
	n=$(find "$d" -maxdepth 1 -name '*.[ch]' | wc -l)
	[ "$n" -le 20 ] || echo "$d: $n files"
done | report "no folder has more than 20 files"
for f in test/sql/*.sql; do
	[ ! -e "$f" ] || [ -e "test/expected/$(basename "$f" .sql).out" ] || echo "$f"
done | report "every SQL test has its expected output"
for f in test/expected/*.out; do
	[ ! -e "$f" ] || [ -e "test/sql/$(basename "$f" .out | sed 's/_[0-9]$//').sql" ] ||
		echo "$f"
done | report "every expected output has its SQL test"
grep -rlE '[[:blank:]]+$' --include='*.[ch]' --include='*.sql' --include='*.sh' \
	--exclude-dir=.git src sql test |
	report "no line ends in blanks"
grep -rnE '^(<{7} |>{7} )' --exclude-dir=.git --exclude='*.o' --exclude='*.so' . |
	report "no file holds what a merge left"
LC_ALL=C grep -rnP --include="*.sql" "[^\x00-\x7F]" sql |
	report "the SQL scripts install whatever the database's encoding"
perl test/floors.pl check 2>&1 |
	report "no include goes up a floor or through another's back door, and no files form a circle"
perl test/floors.pl draw 2>&1 | cmp - doc/img/floors.svg 2>&1 |
	report "the picture of the floors is current (perl test/floors.pl draw >doc/img/floors.svg)"
{
	grep -rhoE '^\} ?[a-zA-Z_0-9]+;' src | tr -d '}; ' | sort -u | LC_ALL=C comm -23 - typedefs.list
	grep -rhowFf typedefs.list --include='*.[ch]' --include='*.cu' src test cuda | LC_ALL=C sort -u |
		LC_ALL=C comm -13 - typedefs.list | sed 's/$/ is no type/'
} | report "typedefs.list has the types of src"
perl test/metadata.pl 2>&1 |
	report "the Makefile, the control file and the packages name one version"
perl test/prose.pl 2>&1 |
	report "documents and messages: plain sentences, links that lead somewhere, no banned phrase"
