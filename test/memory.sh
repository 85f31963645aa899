#!/usr/bin/env bash
# memory.sh - what gp_estimate promises, what a fit then takes, and what the
# operating system saw.
#
# Fits synthetic graphs of several sizes, each in a backend of its own, and holds peak_bytes against
# gp_estimate: at most its bytes, and at least 1/1.1 of them or, where the labels choose among
# kernels and powers, of the least that its reason tells.  From 20,000 nodes on the growth of the
# backend's high-water mark is held against peak_bytes.  The server is the one that psql finds, by a
# superuser.  Prints TAP.  Arguments: the sizes, else 2,000 and 30,000
# and, with GNNGP_LONG=1, 20,000, 50,000 and 100,000.
set -u
sizes=${*:-2000 30000 ${GNNGP_LONG:+20000 50000 100000}}
number=0
failures=0
# Sharing tables' pages counts as growth; the server's buffers are read through before.
SLACK=$((40 << 20))

sql() {
	psql -X -q -At -F ' ' -v ON_ERROR_STOP=1 -d memory "$@"
}

# Reports one comparison.
check() {
	local name=$1

	shift
	number=$((number + 1))
	if awk "BEGIN { exit !($1) }"; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		failures=$((failures + 1))
	fi
}

# One fit: what it is, the arguments of gp_estimate, the call that fits, the least share of its peak by
# which the backend grows ('': not looked at).
compare() {
	local most least peak growth where

	read -r most least <<<"$(sql -c "SET client_min_messages = error" -c "SELECT bytes,
		    coalesce(substring(reason FROM '([0-9]+) MB at least')::bigint << 20, bytes) FROM gp_estimate($2)")"
	# A backend of its own, which has loaded the library and seen the tables.
	read -r peak growth <<<"$(sql <<-EOF
		SET client_min_messages = error;
		SELECT 'gcn'::gp_kernel, (SELECT sum(id + features[1]) FROM node), (SELECT sum(src + dst) FROM edge)
		\\g /dev/null
		SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::bigint * 1024 AS before \\gset
		SELECT peak_bytes AS peak FROM $3 \\gset
		SELECT :peak, substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::bigint * 1024 - :before;
	EOF
	)"
	where="$1: peak_bytes ${peak:-none}"
	# The first fit of a session takes some hundred bytes more than the next.  What lies around landmarks
	# is guessed before they are chosen: on one of these graphs it is 4.6% more.
	check "$where at most 1.05 times the estimate ${most:-none}" "${peak:-1e18} <= 1.05 * ${most:-0} + 1024"
	# The reason counts in whole megabytes.
	check "$where at least ${least:-none} / 1.1" "${peak:-0} + 1048576 >= ${least:-1e18} / 1.1"
	[ -z "$4" ] || check "$where against the backend's growth of ${growth:-none}" \
		"${growth:-1e18} <= 1.25 * ${peak:-0} + $SLACK && ${growth:-0} >= $4 * ${peak:-1e18} - $SLACK"
}

dropdb --if-exists memory 2>/dev/null
createdb memory && sql -c 'CREATE EXTENSION gnngp' || exit 1
for n in $sizes; do
	sql -v n="$n" <<-'EOF' >/dev/null || exit 1
		DROP TABLE IF EXISTS node, edge CASCADE;
		-- One node in twenty has a label, at most 100; ten neighbours each.
		CREATE TABLE node AS
		    SELECT i AS id, CASE WHEN i <= least(100, :n / 20) THEN i % 4 END AS class,
		           ARRAY[sin(i), cos(i * 0.7), sin(i * 1.3), i % 4, 1]::real[] AS features
		    FROM generate_series(1, :n) AS i;
		CREATE TABLE edge AS
		    SELECT i AS src, 1 + (i * 7919::bigint + k * 104729::bigint * i + k) % :n AS dst
		    FROM generate_series(1, :n) AS i, generate_series(1, 5) AS k;
		ANALYZE;
		SELECT count(gp_drop_graph(graph)) FROM gp_graphs;
		SELECT gp_create_graph('synthetic', 'node', 'edge', features => '{features}', target => 'class');
		SELECT gp_create_graph('plain', 'node', 'edge', target => 'class');
	EOF
	grows() { [ "$n" -lt 20000 ] || echo "$1"; }
	for strategy in exact nystrom; do
		landmarks=$([ $strategy = nystrom ] && echo 400 || echo NULL)
		asked="'synthetic', kernel => 'gcn', strategy => '$strategy', landmarks => $landmarks"
		compare "$n nodes, $strategy" "$asked" "gp_fit($asked)" "$(grows .6)"
	done
	[ "$n" -gt 20000 ] || for kernel in auto sage2 appnp; do
		compare "$n nodes, kernel $kernel" "'synthetic', '$kernel'" "gp_fit('synthetic', kernel => '$kernel')" ""
	done
	[ "$n" -gt 20000 ] || compare "$n nodes without features" "'plain'" "gp_fit('plain')" ""
	for graph in plain synthetic; do
		# Features make the fit of a large graph long, and the plan no other.
		[ $graph = plain ] || [ "$n" -le 20000 ] || continue
		compare "$n nodes, links of $graph" "'$graph', kernel => 'scores'" "gp_fit_links('$graph')" "$(grows .45)"
	done
done
# A task with time, of more rows to predict than labels, and one of rows without time.
sql <<-'EOF' >/dev/null || exit 1
	CREATE TABLE thing (id integer PRIMARY KEY, kind text);
	CREATE TABLE seen (thing integer REFERENCES thing, at timestamp, amount real);
	INSERT INTO thing SELECT i, CASE WHEN i % 2 = 0 THEN i / 2 % 3 END FROM generate_series(1, 2000) AS i;
	INSERT INTO seen SELECT 1 + i % 2000, timestamp '2020-01-01' + i * interval '1 hour', sin(i) FROM generate_series(1, 10000) AS i;
	CREATE VIEW label AS SELECT thing, at, CASE WHEN extract(hour FROM at) < 3 THEN amount > 0 END AS up FROM seen;
	CREATE TABLE place (id integer PRIMARY KEY);
	CREATE TABLE visit (thing integer REFERENCES thing, place integer REFERENCES place);
	INSERT INTO place SELECT generate_series(1, 500);
	INSERT INTO visit SELECT 1 + i % 2000, 1 + i * 7919 % 500 FROM generate_series(1, 6000) AS i;
	ANALYZE;
	SELECT gp_create_graph('timed', tables => '{thing,seen}', times => '{"seen": "at"}');
	SELECT gp_create_task('with time', 'timed', labels => 'label', entity => 'thing', target => 'up', time_column => 'at', horizon => '1 day');
	SELECT gp_create_graph('typed', tables => '{thing,place,visit}');
	SELECT gp_create_task('without time', 'typed', 'thing.kind');
EOF
for task in 'with time' 'without time'; do
	compare "a task $task" "'$task'" "gp_fit('$task')" ""
done
dropdb memory
echo "1..$number"
[ $failures = 0 ]
