#!/usr/bin/env bash
# readme.sh - the SQL that the documents show runs.
#
# Runs the blocks marked sql of README.md, then of doc/tutorial.md, in order,
# each document in a database of its own with the small graph of
# test/readme_tables.sql; a block marked "sql no-run" is left out.  The server is the one that psql
# finds.  Prints TAP, one test a block.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OUT=$(mktemp -d "${TMPDIR:-/tmp}/gnngp-readme.XXXXXX") || exit 1
trap 'rm -rf "$OUT"' EXIT
number=0
failures=0

for document in README.md doc/tutorial.md; do
	[ -e "$ROOT/$document" ] || continue
	dropdb --if-exists readme 2>/dev/null
	createdb readme && psql -X -q -v ON_ERROR_STOP=1 -d readme -f "$ROOT/test/readme_tables.sql" || exit 1
	rm -f "$OUT"/*.sql
	awk -v out="$OUT" '
		/^```sql$/ { inside = 1; file = sprintf("%s/%03d.sql", out, ++n); line = NR; next }
		/^```/ && inside { inside = 0; close(file); next }
		inside { print >file }
	' "$ROOT/$document"
	for block in "$OUT"/*.sql; do
		[ -e "$block" ] || continue
		number=$((number + 1))
		name="$document, block $(basename "$block" .sql): $(grep -m 1 -vE '^(--|\s*$)' "$block" | cut -c 1-50)"
		if psql -X -q -v ON_ERROR_STOP=1 -d readme -f "$block" >"$OUT/log" 2>&1; then
			echo "ok $number - ${name//#/}"
		else
			echo "not ok $number - ${name//#/}"
			grep -vE '^(NOTICE|HINT)' "$OUT/log" | tail -n 8 | sed 's/^/# /'
			failures=$((failures + 1))
		fi
	done
	dropdb readme
done
if cmp -s <(awk '/^```sql$/ {i = 1; next} /^```/ {i = 0} i' "$ROOT/README.md" | tr -s ' \n' '  ' |
	grep -cF "$(tr -s ' \n' '  ' <"$ROOT/test/demo/quickstart.sql")") <(echo 1); then
	echo "ok $((++number)) - the demo runs the README's quick start word for word"
else
	echo "not ok $((++number)) - the demo runs the README's quick start word for word"
	failures=$((failures + 1))
fi
echo "1..$number"
[ $failures = 0 ]
