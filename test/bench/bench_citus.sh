#!/usr/bin/env bash
# bench_citus.sh - a fit on Citus against the same fit in memory: bash test/bench/bench_citus.sh [EDGES...]
#
# PG_CONFIG is that of a server with Citus and gnngp.  Starts a coordinator and two workers in a folder that goes away.
# Prints a row for each number of edges (100,000 and 1,000,000; a tenth as many nodes): processor
# seconds of all processes, the peaks of their own memory in bytes an edge, and how many best classes are the same.  256
# nodes have more neighbours than all others, so that both fits take them as landmarks.  Two rows of 10^8 and 10^9 edges
# are computed from the last one: seconds grow with the edges, bytes an edge with what groups of columns no longer take.
set -u
BIN=$(dirname "${PG_CONFIG:?}")
DIR=$(mktemp -d "${TMPDIR:-/tmp}/gnngp_citus.XXXXXX")
PORT=${PORT:-7700}
as_server() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else "$@"; fi; }
sql() { "$BIN/psql" -XAtq -v ON_ERROR_STOP=1 -h "$DIR" -p "$1" -U postgres "${@:2}"; }
stop() { for i in 0 1 2; do as_server "$BIN/pg_ctl" -D "$DIR/n$i" -m immediate stop >/dev/null 2>&1; done; rm -rf "$DIR"; }
trap stop EXIT
[ "$(id -u)" != 0 ] || chown postgres "$DIR"

for i in 0 1 2; do
	as_server "$BIN/initdb" -D "$DIR/n$i" -A trust -U postgres --no-sync >/dev/null || exit 1
	printf '%s\n' "port = $((PORT + i))" "unix_socket_directories = '$DIR'" "listen_addresses = 'localhost'" \
		"shared_preload_libraries = 'citus'" 'fsync = off' 'autovacuum = off' 'max_wal_size = 4GB' \
		'max_prepared_transactions = 50' "citus.node_conninfo = 'sslmode=disable'" >>"$DIR/n$i/postgresql.conf"
	as_server "$BIN/pg_ctl" -D "$DIR/n$i" -l "$DIR/n$i.log" -w start >/dev/null || exit 1
	sql $((PORT + i)) -c 'CREATE EXTENSION citus' || exit 1
done
sql "$PORT" -c "SELECT citus_set_coordinator_host('localhost', $PORT), citus_add_node('localhost', $((PORT + 1))),
	citus_add_node('localhost', $((PORT + 2)))" -c 'CREATE EXTENSION gnngp' >/dev/null || exit 1

# Clock ticks of all processes, those that ended too.
ticks() {
	local i postmaster
	for i in 0 1 2; do
		postmaster=$(head -n 1 "$DIR/n$i/postmaster.pid")
		awk '{ print $14 + $15 + $16 + $17 }' "/proc/$postmaster/stat"
		pgrep -P "$postmaster" | sed 's#.*#/proc/&/stat#' | xargs cat 2>/dev/null | awk '{ print $14 + $15 }'
	done | awk '{ n += $1 } END { print n }'
}

# The largest memory of its own that a process of each server has had, in kB.
watch_peaks() {
	local i pid
	while sleep 0.3; do
		for i in 0 1 2; do
			for pid in $(pgrep -P "$(head -n 1 "$DIR/n$i/postmaster.pid")"); do
				awk -v n="$i" '/RssAnon/ { print n, $2 }' "/proc/$pid/status" 2>/dev/null
			done
		done
	done
}

# Fits a graph; sets SECONDS_USED and the peaks of coordinator and worker.
fit() {
	local before watcher

	sleep 1
	before=$(ticks)
	watch_peaks >"$DIR/peaks" &
	watcher=$!
	sql "$PORT" -c "SET client_min_messages = error; SELECT gp_fit('$1', 'model_$1', 'gcn', strategy => '$2',
		landmarks => 256, nugget => 0.1)" >/dev/null || exit 1
	sleep 1
	kill $watcher
	SECONDS_USED=$(awk -v a="$before" -v b="$(ticks)" -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.1f", (b - a) / hz }')
	HERE=$(awk '$1 == 0 && $2 > m { m = $2 } END { print m * 1024 }' "$DIR/peaks")
	WORKER=$(awk '$1 > 0 && $2 > m { m = $2 } END { print m * 1024 }' "$DIR/peaks")
}

echo '| edges | in memory, CPU s | bytes an edge | on Citus, CPU s | times | worker, bytes an edge | coordinator | same best class |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
for edges in ${*:-100000 1000000}; do
	nodes=$((edges / 10))
	sql "$PORT" >/dev/null <<-SQL || exit 1
		SELECT setseed(0.5);
		CREATE TABLE nodes AS SELECT i AS id, CASE WHEN i % 50 = 0 THEN 'c' || i % 7 END AS y,
			ARRAY(SELECT random() + CASE j WHEN 16 THEN i % 7 ELSE 0 END FROM generate_series(1, 16) AS j)::real[] AS x
			FROM generate_series(1, $nodes) AS i;
		CREATE TABLE edges AS SELECT 1 + (random() * ($nodes - 1))::bigint AS src, 1 + (random() * ($nodes - 1))::bigint AS dst
			FROM generate_series(1, $edges);
		INSERT INTO edges SELECT 1 + h * ($nodes / 256), 1 + (random() * ($nodes - 1))::bigint
			FROM generate_series(0, 255) AS h, generate_series(1, 80);
		CREATE TABLE d_nodes (LIKE nodes);
		CREATE TABLE d_edges (LIKE edges);
		SELECT create_distributed_table('d_nodes', 'id', shard_count => 8), create_distributed_table('d_edges', 'src', shard_count => 8);
		INSERT INTO d_nodes TABLE nodes;
		INSERT INTO d_edges TABLE edges;
		ANALYZE;
		SELECT gp_create_graph('here', 'nodes', 'edges', features => '{x}', target => 'y'),
			gp_create_graph('spread', 'd_nodes', 'd_edges', features => '{x}', target => 'y');
	SQL
	fit here nystrom
	memory=$SECONDS_USED bytes=$HERE
	fit spread sql
	same=$(sql "$PORT" -c "SELECT round(100 * avg((a.class = b.class)::integer), 3)
		FROM gp_predict('model_here') AS a JOIN gp_predict('model_spread') AS b USING (node)")
	awk -v e="$edges" -v same="$same" -v m="$memory" -v b="$bytes" -v s="$SECONDS_USED" -v w="$WORKER" -v c="$HERE" \
		'BEGIN { printf "| %d | %.1f | %.0f | %.1f | %.1f | %.0f | %.0f | %s%% |\n", e, m, b / e, s, s / m, w / e, c / e, same }'
	sql "$PORT" -c 'SET client_min_messages = warning' -c "SELECT gp_drop_graph('here'), gp_drop_graph('spread')" -c 'DROP TABLE nodes, edges, d_nodes, d_edges' >/dev/null
done
for more in 100000000 1000000000; do
	awk -v e="$edges" -v n=$more -v m="$memory" -v b="$bytes" -v s="$SECONDS_USED" -v w="$WORKER" -v c="$HERE" '
		function columns(edges) { return 2 * (7 * edges < 50331648 ? 50331648 : 7 * edges < 536870912 ? 7 * edges : 536870912) }
		BEGIN { k = n / e; printf "| %d, computed | %.0f | %.0f | %.0f | %.1f | %.0f | %.0f | |\n",
			n, m * k, b / e, s * k, s / m, (w - columns(e)) / e + columns(n) / n, c / e }'
done
