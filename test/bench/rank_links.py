"""rank_links.py - how held-out links rank, by rank_links and by plain indices.

    rank_links.py make graph_folder folder seed
        hides a tenth of the links of nodes.csv.gz, edges.csv.gz and features.csv.gz; writes edges.csv,
        queries.csv, features.csv, and what judge needs
    rank_links.py heart graph_folder folder seed
        the same by HeaRT's protocol: it hides a twentieth besides, which nothing asks for
    rank_links.py judge folder [all]
        reads the scores.csv and best.csv that rank_links wrote; prints AUC, the MRRs hard, hop, all, hard by the
        best rank, hop with others and HeaRT's, the expected calibration error of the first 20 of each node, in
        per cent, and the links that the probabilities promise over those that are found; with all, before it,
        a line each of common neighbours, resource allocation and local random walks: its name, AUC and the MRRs

Needs NumPy and SciPy, and memory for dense matrices of all nodes.  AUC is that of held-out links among
as many random pairs.  For each held-out link, asked from one of its ends, other true neighbours left out:
hard: the 100 non-neighbours of the best mean rank by resource allocation, PageRank and cosine of the features
(Li et al. 2023), or of the best rank by any of them; hop: 100 random nodes two or three steps away, with others
where these are fewer, or without; all: all non-neighbours, of graphs below 2,600 nodes and of 150 links.  HeaRT's:
the 250 best of each end, other hidden neighbours among them.
"""

import csv
import gzip
import os
import sys

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg


def read(path):
    with gzip.open(path, "rt") as f:
        next(f)
        return [line for line in csv.reader(f)]


def adjacency(n, e):
    a = sp.csr_matrix((np.ones(len(e)), (e[:, 0], e[:, 1])), (n, n))
    a = a + a.T
    a.data[:] = 1
    return a.tocsr()


def pagerank(a):
    n = a.shape[0]
    walk = (sp.diags(1 / np.maximum(np.asarray(a.sum(1)).ravel(), 1)) @ a).toarray()
    return 0.15 * np.linalg.inv(np.eye(n) - 0.85 * walk)


def indices(a):
    """Common neighbours, resource allocation, and LRW: allocation and the flow of walks of three steps."""
    d = np.maximum(np.asarray(a.sum(1)).ravel(), 1)
    common = (a @ a).toarray()
    allocation = (a @ sp.diags(1 / d) @ a).toarray()
    flow = (a @ sp.diags(1 / d) @ a @ sp.diags(1 / d) @ a).toarray()
    return {"common": common, "allocation": allocation, "lrw": allocation + flow}


def best_of(rng, guides, i, free, n, mean=True):
    """The n of the free nodes that the guides rank first for node i; equal scores have the best of their ranks."""
    ranks = []
    for g in guides:
        score, place, count = np.unique(-g[i, free], return_inverse=True, return_counts=True)
        rank = np.cumsum(count) - count
        ranks.append((rank if mean else np.where(score < 0, rank, len(free)))[place])
    merged = np.mean(ranks, axis=0) if mean else np.min(ranks, axis=0)
    return free[np.lexsort((rng.random(len(free)), merged))[:n]]


def make(source, folder, seed, heart):
    rng = np.random.default_rng(seed)
    n = len(read(f"{source}/nodes.csv.gz"))
    e = np.array([r[:2] for r in read(f"{source}/edges.csv.gz")], dtype=int)
    e = np.unique(np.sort(e, axis=1), axis=0)
    e = rng.permutation(e[e[:, 0] != e[:, 1]])
    held, known = e[: len(e) // 10], e[len(e) // 10:]
    train = known[len(e) // 20:] if heart else known
    a = adjacency(n, train)
    linked = adjacency(n, known if heart else e).toarray() > 0
    np.fill_diagonal(linked, True)
    os.makedirs(folder, exist_ok=True)
    np.savetxt(f"{folder}/edges.csv", train, "%d", ",")
    page = pagerank(a)
    guides = [indices(a)["allocation"], np.where(page < 5e-5, 0, page)]
    if os.path.exists(f"{source}/features.csv.gz"):
        x = np.array(read(f"{source}/features.csv.gz"), dtype=float)
        np.savetxt(f"{folder}/features.csv", x, "%d,%d,%g")
        x = sp.csr_matrix((x[:, 2], (x[:, 0].astype(int), x[:, 1].astype(int))), (n, int(x[:, 1].max()) + 1))
        x = sp.diags(1 / np.maximum(np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel()), 1e-9)) @ x
        guides.append((x @ x.T).toarray())
    near = (a @ a).toarray()
    near = (near + (a @ a @ a).toarray()) > 0
    rows = []  # kind, query, src, dst, hit

    def add(kind, query, src, dst, others):
        rows.append((kind, query, src, dst, 1))
        rows.extend((kind, query, src, o, 0) for o in others)

    for q, (i, j) in enumerate(held):
        if q % 2:
            i, j = j, i
        free = np.flatnonzero(~linked[i])
        add(0, q, i, j, [])
        if heart:
            add(6, q, i, j, best_of(rng, guides, i, free[free != j], 250))
            free = np.flatnonzero(~linked[j])
            rows.extend((6, q, o, j, 0) for o in best_of(rng, guides, j, free[free != i], 250))
            continue
        add(1, q, i, j, best_of(rng, guides, i, free, 100))
        add(4, q, i, j, best_of(rng, guides, i, free, 100, False))
        around = rng.permutation(free[near[i, free]])[:100]
        if len(around) > 0:
            add(2, q, i, j, around)
        rest = np.setdiff1d(free, around)
        add(5, q, i, j, np.concatenate([around, rng.permutation(rest)[: 100 - len(around)]]))
        if n < 2600 and q < 150:
            add(3, q, i, j, free)
    for _ in held:
        i, j = rng.integers(0, n, 2)
        while linked[i, j]:
            i, j = rng.integers(0, n, 2)
        rows.append((0, 0, i, j, 0))
    rows = np.array(rows)
    np.savetxt(f"{folder}/queries.csv", rows[:, 2:4], "%d", ",")
    np.savez(f"{folder}/truth.npz", rows=rows, held=held, n=n)
    for name, m in indices(a).items():
        np.save(f"{folder}/{name}.npy", m[rows[:, 2], rows[:, 3]])


def figures(rows, score):
    out = []
    kind = rows[:, 0]
    s, hit = score[kind == 0], rows[kind == 0, 4]
    values, inverse, count = np.unique(s, return_inverse=True, return_counts=True)
    place = (np.cumsum(count) - (count - 1) / 2)[inverse]
    links = hit.sum()
    out.append((place[hit == 1].sum() - links * (links + 1) / 2) / (links * (len(s) - links)))
    for k in range(1, 7):
        pick = kind == k
        if not pick.any():
            out.append(np.nan)
            continue
        q, s, hit = rows[pick, 1], score[pick], rows[pick, 4]
        own = np.zeros(q.max() + 1)
        own[q[hit == 1]] = s[hit == 1]
        rank = np.ones(q.max() + 1)
        np.add.at(rank, q, (hit == 0) * ((s > own[q]) + 0.5 * (s == own[q])))
        out.append((1 / rank[np.unique(q)]).mean())
    return out


def judge(folder):
    truth = np.load(f"{folder}/truth.npz")
    rows, held, n = truth["rows"], truth["held"], int(truth["n"])
    for name in ["common", "allocation", "lrw"] if len(sys.argv) > 3 else []:
        print(name, *(f"{100 * v:.1f}" for v in figures(rows, np.load(f"{folder}/{name}.npy"))))
    score = np.loadtxt(f"{folder}/scores.csv")
    best = np.loadtxt(f"{folder}/best.csv", delimiter=",")
    # a pair that both of its ends list counts once, as where all nodes are asked together
    best = best[np.unique(np.sort(best[:, :2], axis=1), axis=0, return_index=True)[1]]
    hits = set(map(tuple, held)) | set(map(tuple, held[:, ::-1]))
    hit = np.array([(int(s), int(d)) in hits for s, d in best[:, :2]], dtype=float)
    p = best[:, 2]
    order = np.argsort(p)
    ece = sum(abs(p[part].mean() - hit[part].mean()) * len(part) for part in np.array_split(order, 10)) / len(p)
    print(*(f"{100 * v:.2f}" for v in figures(rows, score)), f"{100 * ece:.2f} {p.sum() / max(hit.sum(), 1):.3f}")


if sys.argv[1] == "judge":
    judge(sys.argv[2])
else:
    make(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[1] == "heart")
