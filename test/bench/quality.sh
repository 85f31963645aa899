#!/usr/bin/env bash
# quality.sh - what gp_fit answers by default, beside what anybody would try first.
#
# GNNGP_DATA names a folder with load.sql and the data sets; the server is the one that psql finds.
# Makes the database quality_bench there, and drops one of that name first.
# Prints a row for each graph.  A figure is the mean over the splits that come with the graph: ROC AUC
# of two classes, R2 of values, else accuracy.  Where PYTHON (python3) has NumPy, SciPy and
# scikit-learn, logistic (or ridge) regression on own columns, the neighbours' means, two hops' means
# and the degree stands beside it, LightGBM on the same where Python has it, and ten rounds of label
# propagation.  A dash stands for what Python does not have; its error goes to stderr.
# Graphs can be named: cora cora48 dblp dblp60 packages chameleon tolokers.  dblp60 has 60% of the
# labels, drawn twice.
set -u
[ -n "${GNNGP_DATA:-}" ] || { echo "GNNGP_DATA names no folder of graphs" >&2; exit 1; }
HERE=$(cd "$(dirname "$0")" && pwd)
GRAPHS=${*:-cora cora48 dblp dblp60 packages chameleon tolokers}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export PGOPTIONS='-c client_min_messages=warning'

sql() {
	psql -X -q -v ON_ERROR_STOP=1 "$@"
}

# The splits of a graph, and the kind of its figure.
splits_of() {
	case $1 in cora | packages) echo default ;; dblp60) echo 0 1 ;; *) echo 0 1 2 3 4 5 6 7 8 9 ;; esac
}
figure_of() {
	case $1 in chameleon) echo r2 ;; tolokers) echo auc ;; *) echo accuracy ;; esac
}

. "$HERE/../demo/packages.sh"

# Writes the tutorial's tables, which Debian's package index fills, as a graph in folder $1.
write_packages() {
	mkdir "$1/packages"
	read_package_index && load_package_tables || exit 1
	csv "$1/packages/nodes" "SELECT id - 1 AS id, dense_rank() OVER (ORDER BY coalesce(p.section, a.section)) - 1 AS label,
		CASE WHEN p.section IS NULL THEN 'test' ELSE 'train' END AS split
		FROM packages AS p LEFT JOIN answers AS a USING (id) ORDER BY id"
	csv "$1/packages/edges" "SELECT DISTINCT least(src, dst) - 1 AS src, greatest(src, dst) - 1 AS dst FROM depends"
	csv "$1/packages/features" "SELECT package - 1 AS node_id, word AS feature_id, value FROM package_words"
}

# Writes DBLP with 60% of its labels as a graph in folder $1.
write_dblp60() {
	mkdir "$1/dblp60" && cp "$GNNGP_DATA"/dblp/{nodes,edges,features}.csv.gz "$1/dblp60" || exit 1
	gzip -dc "$1/dblp60/nodes.csv.gz" | awk -F, 'BEGIN { print "split_no,node_id,role" }
		NR > 1 { for (s = 0; s < 2; s++) print s "," $1 "," ($1 * sqrt(2 + s) % 1 < .6 ? "train" : "test") }' |
		gzip -1 >"$1/dblp60/splits.csv.gz"
}

# Writes the rows of query $2 to $1.csv.gz.
csv() {
	sql -c "COPY ($2) TO STDOUT (FORMAT csv, HEADER)" | gzip -1 >"$1.csv.gz"
}

dropdb --if-exists quality_bench 2>/dev/null
createdb quality_bench || exit 1
export PGDATABASE=quality_bench
sql -c 'CREATE EXTENSION gnngp' || exit 1
echo '| graph | splits | figure | gnngp | seconds | regression | LightGBM | label propagation |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
for graph in $GRAPHS; do
	set=${graph%48}
	folder=$GNNGP_DATA
	case $graph in packages | dblp60)
		folder=$WORK
		"write_$graph" "$folder"
		;;
	esac
	figure=$(figure_of "$graph")
	read -r -a splits <<<"$(splits_of "$graph")"
	sql -v dir="$folder" -v name="$set" -f "$GNNGP_DATA/load.sql" >/dev/null || exit 1
	rows=$(for split in "${splits[@]}"; do
		sql -At -F ' ' -v set="$set" -v split="$split" -v figure="$figure" -f "$HERE/quality.sql" | tail -n 1
	done)
	others=$("${PYTHON:-python3}" "$HERE/bench_nodes.py" "$folder/$set" "$figure" "${splits[@]}")
	echo "$rows" | awk -v graph="$graph" -v n=${#splits[@]} -v figure="$figure" -v others="${others:-- - -}" '
		{ sum += $1; seconds += $2 }
		END { split(others, o, " ")
			printf "| %s | %d | %s | %s | %.1f | %s | %s | %s |\n", graph, n, figure, NR == n ? sprintf("%.4f", sum / n) : "-",
				seconds / n, o[1], o[2], o[3] }'
done
