#!/usr/bin/env bash
# reference.sh - doc/reference.md, with reference-values.md, describes what the catalog holds, no more and
# no less: names, arguments, defaults, volatility, columns, settings.
#
# Each object stands in the document as a fenced block that begins with
# "gnngp"; line breaks inside an entry are free, a blank line ends it.  The
# server is the one that psql finds.  Prints TAP.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
number=0
failures=0

# The entries of the document, one line each.
documented() {
	awk '
		/^```gnngp/ { inside = 1; entry = ""; next }
		/^```/ && inside { if (entry != "") print entry; inside = 0; next }
		inside && /^[ \t]*$/ { if (entry != "") print entry; entry = ""; next }
		inside { sub(/^[ \t]+/, ""); entry = entry (entry == "" || entry ~ /\($/ ? "" : " ") $0 }
	' "$ROOT/doc/reference.md" "$ROOT/doc/reference-values.md" | sed -E 's/[ \t]+/ /g; s/ $//' | LC_ALL=C sort
}

dropdb --if-exists reference 2>/dev/null
createdb reference && psql -X -q -d reference -c 'CREATE EXTENSION gnngp' || exit 1
catalog=$(psql -X -q -At -v ON_ERROR_STOP=1 -d reference -f "$ROOT/test/reference.sql" | LC_ALL=C sort) ||
	exit 1
dropdb reference
if [ "${1:-}" = --print ]; then
	printf '%s\n' "$catalog"
	exit
fi
document=$(documented)
while IFS= read -r entry; do
	number=$((number + 1))
	if grep -qxF -e "$entry" <<<"$document"; then
		echo "ok $number - documented: ${entry%%(*}"
	else
		echo "not ok $number - not in doc/reference.md: $entry"
		failures=$((failures + 1))
	fi
done <<<"$catalog"
while IFS= read -r entry; do
	number=$((number + 1))
	if grep -qxF -e "$entry" <<<"$catalog"; then
		echo "ok $number - exists: ${entry%%(*}"
	else
		echo "not ok $number - doc/reference.md describes what does not exist: $entry"
		failures=$((failures + 1))
	fi
done <<<"$document"
echo "1..$number"
[ $failures = 0 ]
