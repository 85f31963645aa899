#!/usr/bin/env bash
# links.sh - how held-out links rank: test/bench/links.sh FOLDER [SEEDS]
#
# FOLDER has a folder for each graph (nodes.csv.gz, edges.csv.gz, features.csv.gz).  Prints, of each graph and
# seed: seconds, megabytes | plain indices, then ours: AUC, MRR among hard rivals, near ones and all, expected
# calibration error, and what is said over what is found, of the first 20.  Then users and items, generated,
# beside EASE in NumPy.  Needs Python's numpy and scipy, and the objects of a build.
set -eu
data=$1
seeds=${2:-"0 1 2 3 4"}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -c 'import numpy, scipy' 2>/dev/null || { echo "skipped: numpy or scipy is missing"; exit 0; }
cd "$root"
gcc -O2 -std=gnu11 -Isrc -Isrc/core test/bench/rank_links.c $(git ls-files 'src/core/*.c') -o "$work/rank_links" \
	-ldl -lm -lpthread
for graph in usair yeast cora; do
	[ -d "$data/$graph" ] || continue
	nodes=$(($(zcat "$data/$graph/nodes.csv.gz" | wc -l) - 1))
	for seed in $seeds; do
		folder=$work/$graph.$seed
		python3 "$here/rank_links.py" make "$data/$graph" "$folder" "$seed"
		echo "$graph $seed $("$work/rank_links" "$nodes" "$folder" 1) | $(python3 "$here/rank_links.py" judge "$folder" all | tr '\n' ' ')"
		rm -rf "$folder"
	done
done
for seed in $seeds; do
	mkdir "$work/items"
	nodes=$(python3 "$here/rank_items.py" make "$work/items" "$seed" $( [ -f "$data/ml-100k/u.data" ] && echo "$data/ml-100k/u.data"))
	echo "items $seed $("$work/rank_links" "$nodes" "$work/items" 1 ease 0.2) | $(python3 "$here/rank_items.py" judge "$work/items")"
	rm -rf "$work/items"
done
