#!/usr/bin/env bash
# readme.sh - the SQL that the documents show runs.
#
# Runs the blocks marked sql of README.md and of each page of doc/, in order, each document in a
# database of its own with the small graph of test/readme_tables.sql.  A page that does not make the
# extension itself begins after the README's quick start, which runs once.  A block marked "sql no-run" is left out.
# Then each file of doc/examples.  Names of documents may be given.  The server is the one that psql finds.  Prints TAP, one test a
# block.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OUT=$(mktemp -d "${TMPDIR:-/tmp}/gnngp-readme.XXXXXX") || exit 1
trap 'rm -rf "$OUT"' EXIT
number=0
failures=0

sql() {
	psql -X -q -v ON_ERROR_STOP=1 -d "${2:-readme}" -f "$1"
}

# The blocks of a document as files, and whether there are any.
blocks() {
	rm -f "$OUT"/*.sql
	awk -v out="$OUT" '
		/^```sql$/ { inside = 1; file = sprintf("%s/%03d.sql", out, ++n); next }
		/^```/ && inside { inside = 0; close(file); next }
		inside { print >file }
	' "$1"
	[ -e "$OUT/001.sql" ]
}

cd "$ROOT" || exit 1
[ $# -gt 0 ] || set -- README.md doc/*.md
# The databases that documents begin in, to be copied: with the tables, and after the quick start.
for database in readme readme_tables readme_started; do
	dropdb --if-exists $database 2>/dev/null
done
createdb readme_tables && sql test/readme_tables.sql readme_tables && createdb -T readme_tables readme_started || exit 1
sql test/demo/quickstart.sql readme_started >"$OUT/log" 2>&1 || { cat "$OUT/log"; exit 1; }
for document in "$@"; do
	blocks "$document" || continue
	grep -q '^CREATE EXTENSION gnngp' "$OUT"/*.sql && begin=readme_tables || begin=readme_started
	createdb -T $begin readme || exit 1
	for block in "$OUT"/*.sql; do
		number=$((number + 1))
		name="$document, block $(basename "$block" .sql): $(grep -m 1 -vE '^(--|\s*$)' "$block" | cut -c 1-50)"
		if sql "$block" >"$OUT/log" 2>&1; then
			echo "ok $number - ${name//#/}"
		else
			echo "not ok $number - ${name//#/}"
			grep -vE '^(NOTICE|HINT)' "$OUT/log" | tail -n 8 | sed 's/^/# /'
			failures=$((failures + 1))
		fi
	done
	dropdb readme
done
dropdb readme_tables
dropdb readme_started
for example in doc/examples/*.sql; do
	createdb readme || exit 1
	number=$((number + 1))
	if sql "$example" >"$OUT/log" 2>&1; then
		echo "ok $number - $example"
	else
		echo "not ok $number - $example"
		tail -n 8 "$OUT/log" | sed 's/^/# /'
		failures=$((failures + 1))
	fi
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
