#!/usr/bin/env bash
# demo.sh - the section of 63,666 Debian packages, from SQL: bash test/demo.sh
#
# Takes the machine's own package index, hides the section of nine packages in
# ten, and finds it out again from the packages' words and dependencies.
# Installs the Debian packages that are missing (as root or through sudo),
# builds a copy of the checkout, or takes what make built there, and works in a throw-away
# PostgreSQL; leaves nothing running, and nothing on disk but packages.  Options:
#   --svg FILE   also writes the reliability picture as SVG
#   --shop       asks a question of a whole schema instead: which customers of a generated shop leave
#   --psql       asks nothing itself: opens psql on the tables, as the tutorial begins
set -u
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
DEMO=$ROOT/test/demo
. "$DEMO/packages.sh"
SVG=
PSQL=
SHOP=
stop=()
times=()

# Runs a step and keeps its time.
step() {
	local name=$1 from=$EPOCHREALTIME rc

	shift
	case $name in SQL:*) ;; *) echo "-- $name" ;; esac
	"$@"
	rc=$?
	times+=("$(printf '%-44s %6.1f s' "$name" \
		"$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')")")
	[ $rc = 0 ] || die "failed: $name"
}

# Builds; what make left in the checkout for this server is not compiled again.
build_rest() {
	mkdir -p "$WORK/src"
	! grep -qs "/postgresql/$PG_VERSION/server/" "$ROOT/src/pg/server/spi.d" ||
		(cd "$ROOT" && find . -name '*.[od]' -print0 | tar -cf - --null -T -) | tar -xf - -C "$WORK/src" --no-same-owner
	build
}

# Runs a file of SQL, showing what it runs.
show() {
	psql -X -v ON_ERROR_STOP=1 -P pager=off -P footer=off -P columns=120 -P expanded=auto "${@:2}" <"$1" 2>&1
}

while [ $# -gt 0 ]; do
	case $1 in
	--svg) SVG=${2:?a file name}; shift 2 ;;
	--psql) PSQL=yes; shift ;;
	--shop) SHOP=yes; shift ;;
	*) die "usage: bash test/demo.sh [--svg FILE | --psql | --shop]" ;;
	esac
done

prepare
private_server
step "build the extension (a minute or two)" build_rest || tail "$WORK/build.log"
step "start a throw-away server" start_server "shared_buffers = 512MB" "max_wal_size = 4GB"
if [ -n "$SHOP" ]; then
	step "SQL: the shop" show "$ROOT/doc/examples/shop.sql" -e
	printf '%s\n' "${times[@]}"
	exit
fi
need_package_lists
step "read Debian's package index" read_package_index
step "load it into tables" load_package_tables

echo
sql -P footer=off -c "
	SELECT (SELECT count(*) FROM packages) AS packages,
	       (SELECT count(*) FROM depends) AS dependencies,
	       (SELECT count(*) FROM packages WHERE section IS NOT NULL) AS with_section,
	       (SELECT count(DISTINCT section) FROM packages) AS sections,
	       (SELECT count(*) FROM package_words) AS word_entries"
if [ -n "$PSQL" ]; then
	sql -f "$DEMO/people.sql"
	echo "The tables are here and the extension is not yet: begin as doc/tutorial.md does.  All of it goes with \\q."
	# A script ends at its first error; who types goes on.
	[ -t 0 ] || stop=(-v ON_ERROR_STOP=1)
	psql -X "${stop[@]}"
	exit
fi
echo "================ the README's quick start"
step "SQL: quick start (graph, fit, predictions)" show "$DEMO/quickstart.sql" -e
echo "================ what it is worth: the same labels without the graph, by the model \"words\""
step "SQL: features alone, and the judgement" show "$DEMO/judge.sql" -e
echo "================ reliability: = is the share that was right, | what the model had said; equal is honest"
step "SQL: reliability" show "$DEMO/reliability.sql"
[ -z "$SVG" ] || sql -At -f "$DEMO/reliability_svg.sql" >"$SVG"
echo "================ where the time went"
printf '%s\n' "${times[@]}"
sql -At -c "SELECT format('  of which gp_fit, model %s: %s s', rpad(model, 20), round(seconds::numeric, 1)) FROM gp_models ORDER BY model"
