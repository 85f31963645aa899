#!/usr/bin/env bash
# links.sh - how held-out links rank: test/bench/links.sh FOLDER [SEEDS]
#
# FOLDER has a folder for each graph, usair, yeast and cora, those that are missing left out: nodes.csv.gz,
# edges.csv.gz and, where nodes have features, features.csv.gz.  Needs gcc, OpenBLAS, a git checkout (it compiles
# src/core itself, and needs no server), and Python's NumPy and SciPy, without which it says "skipped".
#
# Prints a line of each graph and seed, of Cora by HeaRT's protocol besides: what rank_links prints | what
# rank_links.py judge prints, in per cent, of
# common neighbours, resource allocation and local random walks, and then of gnngp.  Then a line of each seed of
# users and items: what rank_links prints | what rank_items.py judge prints.  The ratings are those of
# FOLDER/ml-100k/u.data (MovieLens 100k) if it is there, else generated.
set -eu
data=$1
seeds=${2:-"0 1 2 3 4"}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -c 'import numpy, scipy' 2>/dev/null || { echo "skipped: numpy or scipy is missing"; exit 0; }
cd "$root"
# One file is compiled for vectors, as the Makefile does; a fit takes a quarter longer otherwise.
elementwise=src/core/device/cpu/cpu_elementwise.c
gcc -O3 -fno-math-errno -fno-trapping-math -std=gnu11 -Isrc -Isrc/core -c $elementwise -o "$work/elementwise.o"
gcc -O2 -std=gnu11 -Isrc -Isrc/core test/bench/rank_links.c $(git ls-files 'src/core/*.c' | grep -v $elementwise) \
	"$work/elementwise.o" -o "$work/rank_links" -ldl -lm -lpthread
for graph in usair yeast cora; do
	[ -d "$data/$graph" ] || continue
	nodes=$(($(zcat "$data/$graph/nodes.csv.gz" | wc -l) - 1))
	protocols=make
	[ $graph = cora ] && protocols="make heart"
	for seed in $seeds; do for protocol in $protocols; do
		folder=$work/$graph.$seed
		python3 "$here/rank_links.py" $protocol "$data/$graph" "$folder" "$seed"
		echo "$graph $protocol $seed $("$work/rank_links" "$nodes" "$folder" 1) | $(python3 "$here/rank_links.py" judge "$folder" all | tr '\n' ' ')"
		rm -rf "$folder"
	done; done
done
for seed in $seeds; do
	mkdir "$work/items"
	nodes=$(python3 "$here/rank_items.py" make "$work/items" "$seed" $( [ -f "$data/ml-100k/u.data" ] && echo "$data/ml-100k/u.data"))
	echo "items $seed $("$work/rank_links" "$nodes" "$work/items" 1 ease 0.2) | $(python3 "$here/rank_items.py" judge "$work/items")"
	rm -rf "$work/items"
done
