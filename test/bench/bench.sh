#!/usr/bin/env bash
# bench.sh - how fast, as ratios to named baselines in one run: bash test/bench/bench.sh
#
#   cora      gp_fit from the call to the stored model, against the same method
#             N x N in NumPy; scikit-learn and PyTorch Geometric where Python has them
#             (GNNGP_DATA names the folder of the data)
#   device    the CPU device's operations against OpenBLAS's own threads
#   packages  the package graph with 1,500 landmarks, by phase, against sgemm
#   live      gp_predict_live and gp_explain on the package graph, against the fit that they spare
#   edges     reading 10 million edges
#   predict   gp_predict on a million nodes
#   links     held-out links against common neighbours and resource allocation in plain SQL, Katz's
#             index in SciPy, and scikit-learn's logistic regression on the same scores (GNNGP_DATA);
#             times on the package graph and on 20,000 nodes, with one thread and with all
#   aggregates  gp_graph on 10 million rows against count(*) and array_agg; 10,000 groups of
#             1,000 edges into factors against array_agg; bytes of a stored graph
#   walks     a node's random walks on 10,000 to 1,000,000 nodes, against the smallest graph's
#   blocks    gp_fit on a stochastic block graph without features (NODES, 1,000,000), against ten
#             rounds of label propagation in SciPy with their reading of the tables
#   plan      planning fits of 200,000 nodes, against building their graph
#   gpu       the GPU library against cuBLAS's large products, the card's copies and the CPU;
#             needs nvcc and a card, and says so without.  End to end: bench_gpu.sql
#   memory    peak_bytes against gp_estimate and the operating system
#
# Parts can be named.  PYTHON names the interpreter, THREADS the number of threads.  Absolute times are this
# machine's; compare ratios.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
. "$ROOT/test/demo/packages.sh"
HERE=$ROOT/test/bench
PYTHON=${PYTHON:-python3}
RUNS=${RUNS:-7}
PARTS=${*:-cora device packages live edges predict links aggregates walks blocks plan gpu memory}
threads=${THREADS:-$(nproc)}
table=()

wanted() {
	case " $PARTS " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

# Adds a line to the table at the end: what, value, baseline, ratio, target.
row() {
	table+=("$(printf '%-52s %12s %12s %8s  %s' "$1" "$2" "$3" "$4" "$5")")
	echo "${table[-1]}"
}

# A quotient with two decimals.
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }'
}

# The median of numbers, one a line.
median() {
	sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# Median seconds of a statement after a warm-up, as psql's clock sees them.
timed() {
	{
		printf '%s \\g /dev/null\n' "$1"
		echo '\timing on'
		for _ in $(seq "$RUNS"); do printf '%s \\g /dev/null\n' "$1"; done
	} | sql 2>/dev/null | sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' | median | awk '{ printf "%.4f", $1 / 1000 }'
}

bench_cora() {
	local ours theirs accuracy

	if [ -z "${GNNGP_DATA:-}" ]; then
		echo "cora: skipped, GNNGP_DATA names no folder of graphs"
		return
	fi
	createdb cora
	export PGDATABASE=cora
	sql -c "CREATE EXTENSION gnngp"
	sql -v dir="$GNNGP_DATA" -v name=cora -f "$GNNGP_DATA/load.sql"
	sql -c "CREATE VIEW cora AS SELECT id, features,
	            CASE WHEN split = 'train' THEN label END AS target FROM cora_nodes" \
		-c "DO \$\$ BEGIN PERFORM gp_create_graph('cora', 'cora', 'cora_edges', target => 'target',
		        features => '{features}'),
		    gp_create_graph('sparse', 'cora', 'cora_edges', target => 'target',
		        sparse_features => 'cora_features'); END \$\$"
	ours=$(timed "SELECT FROM gp_fit('cora', strategy => 'exact', kernel => 'gcn')")
	row "Cora, exact, gp_fit to the stored model (s)" "$ours" "" "" ""
	row "  the same from a sparse feature table (s)" \
		"$(timed "SELECT FROM gp_fit('sparse', strategy => 'exact', kernel => 'gcn')")" "" "" ""
	row "  low rank, automatic landmarks (s)" \
		"$(timed "SELECT FROM gp_fit('sparse', strategy => 'nystrom', kernel => 'gcn')")" "" "" ""
	mkdir -p "$WORK/cora"
	sql -c "COPY (SELECT id, label, CASE split WHEN 'train' THEN 1 WHEN 'test' THEN 2 ELSE 0 END
	              FROM cora_nodes ORDER BY id) TO STDOUT CSV" >"$WORK/cora/nodes.csv"
	sql -c "COPY cora_edges TO STDOUT CSV" >"$WORK/cora/edges.csv"
	sql -c "COPY cora_features TO STDOUT CSV" >"$WORK/cora/features.csv"
	accuracy=$(sql -At -c "SELECT avg((p.class = n.label::text)::integer)
		FROM gp_predict('cora') p JOIN cora_nodes n ON n.id = p.node WHERE n.split = 'test'")
	for theirs in "numpy dense|NumPy, N x N" "sklearn sklearn|scikit-learn's GP, matrix included" \
		"torch_geometric gcn|PyTorch Geometric, GCN to our accuracy"; do
		python_baseline "$ours" "$accuracy" "${theirs%% *}" "${theirs#* }"
	done
}

# One baseline in Python, if its package is there: our seconds and accuracy,
# the package, script|name.
python_baseline() {
	local seconds reached

	if ! "$PYTHON" -c "import $3" 2>/dev/null; then
		echo "cora: skipped, $PYTHON has no $3"
		return
	fi
	read -r seconds reached <<<"$(cd "$HERE" && PYTHONDONTWRITEBYTECODE=1 \
		"$PYTHON" "bench_${4%%|*}.py" "$WORK/cora" "$RUNS" "$2")"
	row "  against ${4##*|} (accuracy $(printf %.3f "$reached"))" "$ours" "$(printf %.4f "$seconds")" \
		"$(ratio "$seconds" "$1")" "$([ "${4%%|*}" = dense ] && echo "at least 10 times")"
}

# Compiles the device's benchmark.
build_bench_device() {
	(cd "$ROOT" && gcc -O2 -Isrc/core test/bench/bench_device.c src/core/device/*.c src/core/device/*/*.c src/core/base/*.c \
		-o "$WORK/bench_device" -lm -lpthread -ldl)
}

# The GPU library on a real card.
bench_gpu() {
	make -C "$WORK/src" -s -j "$(nproc)" with_llvm=no gnngp_cuda.so >"$WORK/gpu.log" 2>&1 ||
		{ echo "gpu: skipped, $(tail -n 1 "$WORK/gpu.log")"; return; }
	(cd "$ROOT" && gcc -O2 -Isrc/core test/bench/bench_gpu.c $(find src/core -name "*.c") -o "$WORK/bench_gpu" \
		-lm -lpthread -ldl) && "$WORK/bench_gpu" "$WORK/src/gnngp_cuda.so" 1 "$threads"
}

bench_device() {
	build_bench_device && "$WORK/bench_device" "$threads" | tee "$WORK/device.log"
	while IFS= read -r line; do
		# name in 36 columns, ours, OpenBLAS's, ratio, unit
		set -- ${line:36}
		[ $# -lt 4 ] || row "$(sed 's/ *$//' <<<"${line:0:36}") ($4)" "$1" "$2" "$3" "at least 0.60"
	done < <(tail -n +3 "$WORK/device.log") >/dev/null
}

bench_walks() {
	local kind nodes each first quotient

	(cd "$ROOT" && gcc -O2 -Isrc/core test/bench/bench_walks.c $(find src/core -name "*.c") -o "$WORK/bench_walks" \
		-lm -lpthread -ldl) || return
	"$WORK/bench_walks" | tee "$WORK/walks.log"
	while IFS='|' read -r kind nodes each first quotient; do
		row "walks, $kind, $nodes nodes (us a node)" "$each" "$first" "$quotient" "linear: 1"
	done < <(awk 'NR > 2 { kind = substr($0, 1, 24); sub(/ *$/, "", kind)
		if ($(NF - 4) == 10000) first = $(NF - 2)
		else print kind "|" $(NF - 4) "|" $(NF - 2) "|" first "|" $NF }' "$WORK/walks.log") >/dev/null
}

# One fit of the block graph: seconds, megabytes at most, accuracy on unlabelled nodes.
fit_blocks() {
	psql -XqAt -F ' ' -v ON_ERROR_STOP=1 -c "SET client_min_messages = warning" \
		-c "SELECT FROM gp_fit('blocks'${1:+, kernel => '$1'}, replace => true)" \
		-c "SELECT round(seconds::numeric, 2), round(peak_bytes / 1048576.0), (
		        SELECT round(avg((p.class = n.class::text)::integer), 4)
		        FROM gp_predict('blocks', unlabelled_only => true) AS p JOIN blocks_node AS n ON n.id = p.node)
		    FROM gp_models WHERE model = 'blocks'" | sed '/^$/d'
}

bench_blocks() {
	local reading rounds total memory accuracy kernel spent held right

	if ! "$PYTHON" -c 'import scipy' 2>/dev/null; then
		echo "blocks: skipped, $PYTHON has no scipy (Debian: python3-scipy)"
		return
	fi
	createdb blocks
	export PGDATABASE=blocks
	sql -c "CREATE EXTENSION gnngp"
	sql -v nodes="${NODES:-1000000}" -f "$HERE/bench_blocks.sql" >/dev/null
	sql -c "SELECT gp_create_graph('blocks', 'blocks_node', 'blocks_edge', target => 'target')" >/dev/null
	read -r reading rounds memory accuracy <<<"$(PYTHONDONTWRITEBYTECODE=1 "$PYTHON" "$HERE/bench_blocks.py")"
	total=$(awk -v a="$reading" -v b="$rounds" 'BEGIN { print a + b }')
	row "blocks, SciPy: reading / ten rounds (s)" "$reading" "$rounds" "" ""
	for kernel in "laplacian(sigma2=10, d=1)" "laplacian(sigma2=10, d=2)" "laplacian(sigma2=50, d=2)" ""; do
		read -r spent held right <<<"$(fit_blocks "$kernel")"
		row "blocks, gp_fit, ${kernel:-its defaults} (s)" "$spent" "$total" "$(ratio "$spent" "$total")" \
			"$([ -n "$kernel" ] || echo "at most 2")"
		row "  accuracy" "$right" "$accuracy" "" "at least 0.97"
		row "  memory (MB)" "$held" "$memory" "$(ratio "$held" "$memory")" "under 2,500"
	done
}

bench_plan() {
	local name seconds quotient built

	(cd "$ROOT" && gcc -O2 -Isrc/core test/bench/bench_plan.c $(find src/core -name "*.c") -o "$WORK/bench_plan" \
		-lm -lpthread -ldl) || return
	"$WORK/bench_plan" | tee "$WORK/plan.log"
	built=$(awk 'NR == 1 { print $(NF - 1) }' "$WORK/plan.log")
	while IFS='|' read -r name seconds quotient; do
		row "plan, $name (s; graph built, s)" "$seconds" "$built" "$quotient" "at most 1; powers of A: 3"
	done < <(awk 'NR > 2 { name = substr($0, 1, 36); sub(/ *$/, "", name)
		print name "|" $(NF - 2) "|" $(NF - 1) }' "$WORK/plan.log") >/dev/null
}

# Speed of sgemm, GFLOP/s: the best that OpenBLAS reaches itself on a tall
# product, now.
sgemm_speed() {
	[ -x "$WORK/bench_device" ] || build_bench_device
	for _ in 1 2 3; do "$WORK/bench_device" "$threads" 20000; done |
		awk '/^gemm/ && $(NF - 2) > best { best = $(NF - 2) } END { print best }'
}

# Runs a statement in one session while another notes the phase that
# gp_progress shows, every 5 ms; prints phase and seconds.
phases() {
	sql -c "SET client_min_messages = warning" -c "CREATE TABLE IF NOT EXISTS sample (at timestamptz, phase text)" -c "TRUNCATE sample"
	sql -c "SELECT pg_sleep(0.3)" -c "$1" >/dev/null 2>&1 &
	sql -f "$HERE/sample_phases.sql" >/dev/null
	wait $!
	sql -At -F '	' -c "
		SELECT phase, round(sum(extract(epoch FROM next - at))::numeric, 3)
		FROM (SELECT at, phase, lead(at) OVER (ORDER BY at) AS next FROM sample) AS s
		WHERE next IS NOT NULL GROUP BY phase ORDER BY min(at)"
}

# The package graph in the database packages.
load_packages() {
	export PGDATABASE=packages
	sql -c "SELECT" >/dev/null 2>&1 && return
	createdb packages
	read_package_index
	load_package_tables
	sql -c "CREATE EXTENSION gnngp" -c "DO \$\$ BEGIN PERFORM gp_create_graph('packages', 'packages',
		'depends', target => 'section', sparse_features => 'package_words'); END \$\$"
}

bench_packages() {
	local flops seconds speed arithmetic other

	load_packages
	speed=$(sgemm_speed)
	flops=$(sql -At -c "SELECT flops / 1e9 FROM gp_estimate('packages', kernel => 'gcn', landmarks => 1500)")
	# The first run warms the caches.
	phases "SELECT FROM gp_fit('packages', kernel => 'gcn', landmarks => 1500)" >/dev/null
	phases "SELECT FROM gp_fit('packages', kernel => 'gcn', landmarks => 1500)" | tee "$WORK/phases"
	seconds=$(sql -At -c "SELECT seconds FROM gp_models WHERE model = 'packages'")
	other=$(awk -F'\t' '/reading|planning|storing|starting/ { s += $2 } END { print s + 0 }' "$WORK/phases")
	arithmetic=$(awk -F'\t' '!/reading|planning|storing|starting/ { s += $2 } END { print s + 0 }' "$WORK/phases")
	row "packages, 1,500 landmarks, gp_fit (s)" "$(printf %.2f "$seconds")" "" "" ""
	row "  reading, planning, storing / arithmetic (s)" "$other" "$arithmetic" \
		"$(ratio "$other" "$arithmetic")" "at most 0.33"
	row "  arithmetic against sgemm (GFLOP/s)" "$(ratio "$flops" "$arithmetic")" "$speed" \
		"$(ratio "$(ratio "$flops" "$arithmetic")" "$speed")" "at least 0.35"
}

# The median and the ninth decile of a call for each of 60 packages, in milliseconds; $1 of the call is its id.
asked_of_packages() {
	sql -At -F ' ' -c "
		CREATE TEMP TABLE spent (ms float8);
		DO \$\$
		DECLARE
		    package bigint;
		    started timestamptz;
		BEGIN
		    FOR package IN SELECT id FROM packages ORDER BY hashint8(id) LIMIT 60 LOOP
		        started := clock_timestamp();
		        EXECUTE '$1' USING package;
		        INSERT INTO spent VALUES (extract(epoch FROM clock_timestamp() - started) * 1000);
		    END LOOP;
		END \$\$;
		SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 1),
		       round(percentile_cont(0.9) WITHIN GROUP (ORDER BY ms)::numeric, 1) FROM spent"
}

bench_live() {
	local fit call middle slow

	load_packages
	sql -c "CREATE INDEX ON depends (dst, src)" -c "VACUUM ANALYZE depends" -c "SELECT FROM gp_fit('packages', 'live', kernel => 'gcn', live => true)" >/dev/null
	fit=$(sql -At -c "SELECT seconds * 1000 FROM gp_models WHERE model = 'live'")
	for call in gp_predict_live gp_explain; do
		read -r middle slow <<<"$(asked_of_packages "SELECT FROM $call(''live'', \$1)")"
		row "live, $call, one package, median; a fit (ms)" "$middle" "$(printf %.0f "$fit")" "$(ratio "$fit" "$middle")" ""
		row "  the ninth decile (ms)" "$slow" "" "" ""
	done
	middle=$(timed "SELECT FROM gp_predict_live('live', (SELECT array_agg(id) FROM (
		SELECT id FROM packages ORDER BY hashint8(id) LIMIT 1000) AS q))")
	row "  gp_predict_live, 1,000 packages (s)" "$middle" "" "" "less than 2"
	row "  the live state (MB)" "$(sql -At -c "SELECT round(live_bytes / 1e6, 1) FROM gp_models WHERE model = 'live'")" "" "" "less than 60"
}

bench_edges() {
	local read

	createdb edges
	export PGDATABASE=edges
	sql -c "CREATE EXTENSION gnngp" \
		-c "CREATE TABLE node AS SELECT i AS id, CASE WHEN i <= 100 THEN i % 2 END AS class, 1::real AS x
		    FROM generate_series(1, 1000000) AS i" \
		-c "CREATE TABLE edge AS SELECT 1 + (random() * 999999)::integer AS src, 1 + (random() * 999999)::integer AS dst
		    FROM generate_series(1, 10000000)" -c "VACUUM ANALYZE" \
		-c "DO \$\$ BEGIN PERFORM gp_create_graph('edges', 'node', 'edge', target => 'class',
		    features => '{x}'); END \$\$"
	phases "SET gnngp.threads = 1; SELECT FROM gp_fit('edges', kernel => 'mlp', landmarks => 16)" >/dev/null
	phases "SET gnngp.threads = 1; SELECT FROM gp_fit('edges', kernel => 'mlp', landmarks => 16)" | tee "$WORK/phases"
	read=$(awk -F'\t' '/reading edges/ { s += $2 } END { print s + 0 }' "$WORK/phases")
	row "10 M edges from the table to CSR, one core (s)" "$read" "" "" "less than 2"
}

bench_predict() {
	local seconds

	createdb predict
	export PGDATABASE=predict
	sql -c "CREATE EXTENSION gnngp" \
		-c "CREATE TABLE node AS SELECT i AS id, CASE WHEN i <= 100 THEN i % 5 END AS class,
		        ARRAY[sin(i), cos(i)]::real[] AS x FROM generate_series(1, 1000000) AS i" \
		-c "CREATE TABLE edge AS SELECT i AS src, i + 1 AS dst FROM generate_series(1, 999999) AS i" \
		-c "DO \$\$ BEGIN PERFORM gp_create_graph('predict', 'node', 'edge', target => 'class',
		    features => '{x}'); END \$\$" \
		-c "SELECT FROM gp_fit('predict', landmarks => 32, strategy => 'nystrom')" >/dev/null
	seconds=$(timed "SELECT count(*), sum(score) FROM gp_predict('predict')")
	row "gp_predict, best class of a million nodes (M rows/s)" "$(ratio 1 "$seconds")" "" "" "at least 1"
	seconds=$(timed "SELECT count(*), sum(score) FROM gp_predict('predict', top => NULL)")
	row "  all 5 classes (M rows/s)" "$(ratio 5 "$seconds")" "" "" "at least 1"
	seconds=$(timed "SELECT * FROM gp_predict('predict', nodes => ARRAY[777777])")
	row "  one node (ms)" "$(ratio "$(ratio "$seconds" 0.001)" 1)" "" "" "less than 5"
}

# What one method reached on held-out links, and its seconds.
held_figures() {
	awk -v k="$1" '$1 == k { print $2 "/" $3, $4 }' "$WORK/links/figures"
}

# Held-out links of a data set, the mean of five seeds: ours, plain SQL, Katz, an auto-encoder, logistic regression.
bench_held_links() {
	local set=$1 folder=$WORK/links nodes seed baseline figures hard spent their_figures their_spent

	rm -rf "$folder"
	mkdir -p "$folder"
	[ "$2" != features ] || sql -c "COPY $1_features TO STDOUT CSV" >"$folder/features.csv"
	nodes=$(sql -At -c "SELECT count(*) FROM $1_nodes")
	for seed in 1 2 3 4 5; do
		sql -At -F ' ' -v set="$set" -v seed=$seed -v folder="$folder" -f "$HERE/bench_links.sql"
		[ -z "$katz" ] || PYTHONDONTWRITEBYTECODE=1 "$PYTHON" "$HERE/bench_katz.py" "$folder" "$nodes"
		[ -z "$katz" ] || PYTHONDONTWRITEBYTECODE=1 "$PYTHON" "$HERE/bench_gae.py" "$folder" "$nodes" $seed
		[ -n "$learner" ] || continue
		"$WORK/bench_links" "$nodes" "$folder" >"$folder/seconds"
		PYTHONDONTWRITEBYTECODE=1 "$PYTHON" "$HERE/bench_links.py" "$folder" |
			awk -v s="$(cat "$folder/seconds")" '{ split(s, t, " "); print "logistic", $1, $2, $3 + t[1] + t[2] }'
	done | awk -v set="$set" '
		{ n[$1]++; auc[$1] += $2; ap[$1] += $3; s[$1] += $4 }
		END { for (k in n) printf "%s %.1f %.1f %.3f\n", k, auc[k] / n[k], ap[k] / n[k], s[k] / n[k] }' >"$folder/figures"
	read -r figures spent <<<"$(held_figures gnngp)"
	read -r hard their_spent <<<"$(held_figures gnngp.ranks)"
	for baseline in "common|common neighbours in SQL" "allocation|resource allocation in SQL" \
		"katz|Katz's index in SciPy, its best share" \
		"gae|graph auto-encoder in SciPy, its best epoch" \
		"logistic|scikit-learn, logistic regression on our scores"; do
		read -r their_figures their_spent <<<"$(held_figures "${baseline%%|*}")"
		[ -n "$their_figures" ] || continue
		row "$set, held-out links, AUC/AP (%)" "$figures" "$their_figures" "" "${baseline##*|}"
		row "  seconds" "$spent" "$their_spent" "$(ratio "$their_spent" "$spent")" ""
		read -r their_figures their_spent <<<"$(held_figures "${baseline%%|*}.ranks")"
		[ -z "$their_figures" ] || row "  among 100 candidates, MRR/hits at 20 (%)" "$hard" "$their_figures" "" ""
	done
}

# The same for all data sets.
bench_links_data() {
	local set learner=1 katz=1

	if [ -z "${GNNGP_DATA:-}" ]; then
		echo "links: held-out links skipped, GNNGP_DATA names no folder of graphs"
		return
	fi
	"$PYTHON" -c 'import sklearn' 2>/dev/null || { learner=; echo "links: $PYTHON has no sklearn, no logistic regression"; }
	"$PYTHON" -c 'import scipy' 2>/dev/null || { katz=; echo "links: $PYTHON has no scipy, no Katz's index and no auto-encoder"; }
	(cd "$ROOT" && gcc -O2 -Isrc -Isrc/core test/bench/bench_links.c $(find src/core -name "*.c") -o "$WORK/bench_links" \
		-lm -lpthread -ldl) || learner=
	createdb links
	export PGDATABASE=links
	sql -c "CREATE EXTENSION gnngp" -c "CREATE TABLE link_train (src integer, dst integer)"
	for set in usair yeast cora; do
		sql -v dir="$GNNGP_DATA" -v name=$set -f "$GNNGP_DATA/load.sql"
		sql -c "SELECT gp_create_graph('links_$set', '${set}_nodes', 'link_train'$(
			[ $set = cora ] && echo ", sparse_features => 'cora_features'"))" >/dev/null
		bench_held_links $set "$([ $set = cora ] && echo features)"
	done
}

# Fits the links of a ring of so many nodes, which know those near by and have some far links: the degrees are those of any size.
fit_rings() {
	sql -c "SELECT gp_drop_graph(graph) FROM gp_graphs" -c "DROP TABLE IF EXISTS node, edge" \
		-c "CREATE TABLE node AS SELECT i AS id FROM generate_series(1, $1) AS i" \
		-c "CREATE TABLE edge AS SELECT DISTINCT i AS src, 1 + CASE WHEN k < 5 THEN i + k + i * k % 7
		        ELSE i * 7919::bigint + 104729 * k END % $1 AS dst
		    FROM generate_series(1, $1) AS i, generate_series(1, 6) AS k" -c "VACUUM ANALYZE" \
		-c "SELECT gp_create_graph('pairs', 'node', 'edge')" -c "SELECT FROM gp_fit_links('pairs', kernel => 'gcn')" >/dev/null
}

# The time of a node as graphs grow.
bench_link_growth() {
	local nodes seconds smallest='' PGOPTIONS="$PGOPTIONS -c gnngp.threads=1 -c gnngp.link_cache_size=4GB"

	export PGOPTIONS
	for nodes in ${GNNGP_GROWTH:-10000 100000 1000000}; do
		fit_rings "$nodes"
		seconds=$(RUNS=3 timed "SELECT * FROM gp_predict_links('pairs', (SELECT array_agg(1 + hashint4(i) % $nodes + $nodes * (hashint4(i) < 0)::int)
			FROM generate_series(1, 200) AS i))")
		smallest=${smallest:-$seconds}
		row "gp_predict_links, 200 of $nodes nodes (s)" "$seconds" "$smallest" "$(ratio "$seconds" "$smallest")" "at most 1.5"
	done
}

# Times on larger graphs.
bench_links() {
	local one all PGOPTIONS='-c client_min_messages=warning'

	export PGOPTIONS
	bench_links_data
	load_packages
	row "packages, gp_fit_links, one thread (s)" "$(sql -At -c "SET gnngp.threads = 1" \
		-c "SELECT round(seconds::numeric, 1) FROM gp_fit_links('packages')")" "" "" "less than 120"
	row "  gp_predict_links, ten nodes (ms)" "$(awk -v s="$(RUNS=20 timed "SELECT * FROM gp_predict_links('packages',
		nodes => ARRAY[6001, 12001, 18001, 24001, 30001, 36001, 42001, 48001, 54001, 60001])")" 'BEGIN { print s * 1000 }')" \
		"" "" "less than 50"
	createdb pairs
	export PGDATABASE=pairs
	sql -c "CREATE EXTENSION gnngp"
	fit_rings 20000
	row "gp_predict_links, all of 20,000 nodes (s)" \
		"$(RUNS=1 timed "SELECT count(*) FROM gp_predict_links('pairs')")" "" "" "less than 60"
	export PGOPTIONS="$PGOPTIONS -c gnngp.threads="
	one=$(PGOPTIONS="${PGOPTIONS}1" RUNS=1 timed "SELECT count(*) FROM gp_predict_links('pairs')")
	all=$(PGOPTIONS="$PGOPTIONS$threads" RUNS=1 timed "SELECT count(*) FROM gp_predict_links('pairs')")
	row "  $threads threads against one (s)" "$all" "$one" "$(ratio "$all" "$one")" "$([ "$threads" != 2 ] || echo "at most 0.6")"
	PGOPTIONS='-c client_min_messages=warning' bench_link_growth
}

bench_aggregates() {
	local rows arrays ours PGOPTIONS='-c max_parallel_workers_per_gather=0 -c gnngp.threads=1'

	export PGOPTIONS
	createdb aggregates
	export PGDATABASE=aggregates
	sql -c "CREATE EXTENSION gnngp" \
		-c "CREATE TABLE edge AS SELECT 1 + (random() * 999999)::bigint AS src, 1 + (random() * 999999)::bigint AS dst
		    FROM generate_series(1, 10000000)" \
		-c "CREATE TABLE tenant AS SELECT t AS tenant, (1000 * t + random() * 300)::bigint AS src,
		        (1000 * t + random() * 300)::bigint AS dst
		    FROM generate_series(1, 10000) AS t, generate_series(1, 1000)" -c "VACUUM ANALYZE"
	rows=$(RUNS=3 timed "SELECT count(*) FROM edge")
	arrays=$(RUNS=3 timed "SELECT cardinality(array_agg(src)), cardinality(array_agg(dst)) FROM edge")
	ours=$(RUNS=3 timed "SELECT gp_edges(gp_graph(src, dst)) FROM edge")
	row "gp_graph, 10 M rows, against count(*) (s)" "$ours" "$rows" "$(ratio "$ours" "$rows")" "less than 1 s"
	row "  against array_agg of both columns (s)" "$ours" "$arrays" "$(ratio "$ours" "$arrays")" ""
	row "  bytes an edge, a million of them, 500,000 nodes" "$(sql -At -c "SELECT round(pg_column_size(g)::numeric / gp_edges(g), 2)
		FROM (SELECT gp_graph(src / 2, dst / 2) AS g FROM (SELECT * FROM edge LIMIT 1000000) AS x) AS y")" "" "" "less than 6"
	arrays=$(RUNS=3 timed "SELECT count(s), count(d) FROM (SELECT array_agg(src) AS s, array_agg(dst) AS d
		FROM tenant GROUP BY tenant) AS x")
	ours=$(RUNS=3 timed "SELECT min(gp_rank(q)) FROM (SELECT gp_factor(src, dst, 'gcn', 32) AS q
		FROM tenant GROUP BY tenant) AS x")
	row "gp_factor, 10,000 x 1,000 edges, against array_agg (s)" "$ours" "$arrays" "$(ratio "$ours" "$arrays")" "less than 10 s"
}

prepare
if wanted cora && ! "$PYTHON" -c 'import numpy' 2>/dev/null; then
	need_packages python3-numpy
	"$PYTHON" -c 'import numpy' 2>/dev/null || PYTHON=/usr/bin/python3
fi
private_server
build || { tail "$WORK/build.log"; die "the build failed"; }
start_server "shared_buffers = 1GB" "max_parallel_maintenance_workers = $((threads - 1))"
for part in cora device packages live edges predict links aggregates walks blocks plan gpu; do
	wanted $part && "bench_$part"
done
wanted memory && PGDATABASE=postgres bash "$ROOT/test/memory.sh" 2000 20000 200000
echo
printf '%-52s %12s %12s %8s  %s\n' "$(sed -n 1p "$WORK/device.log" 2>/dev/null | cut -c 1-52)" "gnngp" "baseline" "ratio" "wanted"
printf '%s\n' "${table[@]}"
