#!/usr/bin/env bash
# memory.sh - what gp_estimate promises, what a fit then takes, and what the
# operating system saw.
#
# Fits synthetic graphs of several sizes with both strategies, each in a backend
# of its own, and holds peak_bytes against gp_estimate's bytes (each at most 1.2
# and 1.5 times the other) and, from 20,000 nodes on, against the growth of the
# backend's high-water mark.  Likewise gp_fit_links, whose estimate is at least what it takes and at
# most 1.1 times that, and gp_fit of tasks with and without time.  The server is the one that psql finds, by a
# superuser.  Prints TAP.  Arguments: the sizes, else 2,000 and 50,000
# and, with GNNGP_LONG=1, 20,000 and 100,000.
set -u
sizes=${*:-2000 50000 ${GNNGP_LONG:+20000 100000}}
number=0
failures=0
# Sharing tables' pages counts as growth; the server's buffers are read through before.
SLACK=$((40 << 20))

sql() {
	psql -X -q -At -v ON_ERROR_STOP=1 -d memory "$@"
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
	for strategy in exact nystrom; do
		landmarks=$([ $strategy = nystrom ] && echo 400 || echo NULL)
		estimate=$(sql -c "SET client_min_messages = error" \
			-c "SELECT bytes FROM gp_estimate('synthetic', 'gcn', strategy => '$strategy', landmarks => $landmarks)")
		# A backend of its own, which has loaded the library and seen the tables.
		read -r peak growth <<<"$(sql -F ' ' -v strategy="$strategy" -v landmarks="$landmarks" <<-'EOF'
			SET client_min_messages = error;
			SELECT 'gcn'::gp_kernel, (SELECT sum(id + features[1]) FROM node), (SELECT sum(src + dst) FROM edge)
			\g /dev/null
			SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::bigint * 1024 AS before \gset
			SELECT peak_bytes AS peak FROM gp_fit('synthetic', kernel => 'gcn', strategy => :'strategy', landmarks => :landmarks) \gset
			SELECT :peak,
			    substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::bigint * 1024 - :before;
		EOF
		)"
		where="$n nodes, $strategy: peak_bytes ${peak:-none}"
		check "$where at most 1.2 times the estimate ${estimate:-none}" "${peak:-1} <= 1.2 * ${estimate:-0}"
		check "$where at least the estimate / 1.5" "${peak:-0} >= ${estimate:-1} / 1.5"
		if [ "$n" -ge 20000 ]; then
			check "$where against the backend's growth of ${growth:-none}" \
				"${growth:-1e18} <= 1.25 * ${peak:-0} + $SLACK && ${growth:-0} >= 0.6 * ${peak:-1e18} - $SLACK"
		fi
	done
	# What comparing kernels takes; another than the first may be chosen, which takes less in full.
	for graph in plain synthetic; do
		[ "$n" -le 20000 ] || continue
		plan=$(sql -c "SET client_min_messages = error" -c "SELECT bytes FROM gp_estimate('$graph')")
		peak=$(sql -c "SET client_min_messages = error" -c "SELECT peak_bytes FROM gp_fit('$graph')")
		where="$n nodes, graph $graph, kernels compared: peak_bytes ${peak:-none}"
		check "$where at most the estimate ${plan:-none}" "${peak:-1e18} <= ${plan:-0} + 1024"
		[ $graph = plain ] || check "$where at least the estimate / 1.1" "${peak:-0} >= ${plan:-1} / 1.1"
	done
	for graph in plain synthetic; do
		# Features make the fit of a large graph long, and the plan no other.
		[ $graph = plain ] || [ "$n" -le 20000 ] || continue
		read -r peak growth <<<"$(sql -F ' ' -v graph=$graph <<-'EOF'
			SET client_min_messages = error;
			SELECT 'gcn'::gp_kernel, (SELECT sum(id + features[1]) FROM node), (SELECT sum(src + dst) FROM edge)
			\g /dev/null
			SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::bigint * 1024 AS before \gset
			SELECT peak_bytes AS peak FROM gp_fit_links(:'graph') \gset
			SELECT :peak,
			    substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::bigint * 1024 - :before;
		EOF
		)"
		plan=$(sql -c "SELECT bytes FROM gp_estimate('$graph', kernel => 'scores')")
		where="$n nodes, links$([ $graph = plain ] || echo ' with features'): peak_bytes ${peak:-none}"
		# The first fit of a session takes some hundred bytes more than the next.
		check "$where at most the estimate ${plan:-none}" "${peak:-1e18} <= ${plan:-0} + 1024"
		check "$where at least the estimate / 1.1" "${peak:-0} >= ${plan:-1} / 1.1"
		if [ "$n" -ge 20000 ]; then
			check "$where against the backend's growth of ${growth:-none}" \
				"${growth:-1e18} <= 1.25 * ${peak:-0} + $SLACK && ${growth:-0} >= 0.45 * ${peak:-1e18} - $SLACK"
		fi
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
	plan=$(sql -v task="$task" <<<"SELECT bytes FROM gp_estimate(:'task')")
	peak=$(sql -v task="$task" <<<"SELECT peak_bytes FROM gp_fit(:'task')" 2>/dev/null)
	check "a task $task: peak_bytes ${peak:-none} at most the estimate ${plan:-none}" "${peak:-1e18} <= ${plan:-0} + 1024"
	check "a task $task: peak_bytes ${peak:-none} at least the estimate / 1.1" "${peak:-0} >= ${plan:-1} / 1.1"
done
dropdb memory
echo "1..$number"
[ $failures = 0 ]
