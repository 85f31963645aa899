#!/usr/bin/env bash
# drivers.sh - the programs of doc/howto-drivers.md run, as TAP, each where its driver is installed.
#
# PYTHON names an interpreter with psycopg 3 (and SQLAlchemy with pandas), NODE_PATH a folder with pg,
# JDBC the driver's jar; by default they are Debian's (python3-psycopg, python3-sqlalchemy with
# python3-pandas, node-pg, libpostgresql-jdbc-java).  The server is the one that psql finds; JDBC asks
# it on localhost where psql takes a socket.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OUT=$(mktemp -d "${TMPDIR:-/tmp}/gnngp-drivers.XXXXXX") || exit 1
trap 'rm -rf "$OUT"' EXIT
PYTHON=${PYTHON:-/usr/bin/python3}
NODE_PATH=${NODE_PATH:-/usr/share/nodejs}
JDBC=${JDBC:-/usr/share/java/postgresql.jar}
case ${PGHOST:-/} in /*) tcp=localhost ;; *) tcp=$PGHOST ;; esac
failures=0
number=0

# The program of the page in a language, as a file.
program() {
	awk -v fence="^\`\`\`$1\$" '$0 ~ fence {i = 1; next} /^```/ {i = 0} i' "$ROOT/doc/howto-drivers.md" >"$OUT/$2"
}

# Runs a program: a name, what it prints, a command that tells whether its driver is there, the program.
runs() {
	local name=$1 expected=$2 there=$3
	shift 3

	number=$((number + 1))
	if ! bash -c "$there" >/dev/null 2>&1; then
		echo "ok $number - $name # SKIP no driver, or no way to the server"
	elif "$@" >"$OUT/log" 2>&1 && [ "$(tail -n 1 "$OUT/log")" = "$expected" ]; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		tail -n 8 "$OUT/log" | sed 's/^/# /'
		failures=$((failures + 1))
	fi
}

export PYTHON NODE_PATH JDBC OUT tcp PGDATABASE=drivers PGPORT=${PGPORT:-5432}
dropdb --if-exists drivers 2>/dev/null
createdb drivers && psql -X -q -v ON_ERROR_STOP=1 -f "$ROOT/test/demo/people.sql" -c 'CREATE EXTENSION gnngp' || exit 1
program python one.py && program pandas frame.py && program javascript node.js && program java Example.java
runs "psycopg 3" "person 17 2 200" '"$PYTHON" -c "import psycopg"' "$PYTHON" "$OUT/one.py"
psql -X -q -c "SELECT gp_create_graph('people', 'people', 'calls', id => 'email', features => '{age,visits}',
	target => 'spending', src => 'caller', dst => 'called') WHERE NOT EXISTS (SELECT FROM gp_graphs)" >/dev/null
runs "SQLAlchemy and pandas" "66 5 True" '"$PYTHON" -c "import psycopg, sqlalchemy, pandas"' "$PYTHON" "$OUT/frame.py"
runs "node-postgres" "person 17 2 200 57014" 'node -e "require(\"pg\")"' node "$OUT/node.js"
runs "JDBC" "person 17 2 200" '[ -e "$JDBC" ] && command -v java && psql -X -h "$tcp" -c ""' \
	env PGHOST="$tcp" java -cp "$JDBC" "$OUT/Example.java"
dropdb drivers
echo "1..$number"
[ $failures = 0 ]
