"""bench_katz.py - Katz's index of held-out links and other pairs, in SciPy.

Reads edges.csv (src,dst; undirected) and pairs.csv (src,dst,label), which
bench_links.sql wrote to the folder; nodes are 0 .. n - 1, n the second argument.
The index of a pair is an entry of (I - beta A)^-1, beta a share of the inverse of
A's largest eigenvalue: the share that suits the held-out pairs best, which no
other method here is given.  Prints AUC and average precision in per cent, and the
seconds of all shares.
"""

import sys
import time

import numpy as np
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import eigsh, splu

SHARES = (0.9, 0.5, 0.1, 0.02)


def figures(score, hit):
    """AUC and average precision; pairs of equal score are one step of the curves."""
    steps, place = np.unique(-score, return_inverse=True)
    hits = np.bincount(place, hit, len(steps))
    pairs = np.bincount(place, minlength=len(steps))
    so_far, seen = np.cumsum(hits), np.cumsum(pairs)
    links, others = hits.sum(), len(hit) - hits.sum()
    auc = ((pairs - hits) * (so_far - hits / 2)).sum() / (links * others)
    return auc, (hits * so_far / seen).sum() / links


def katz(a, beta, pairs):
    """Entries of the inverse, source by source."""
    lu = splu(identity(a.shape[0], format="csc") - beta * a)
    out = np.empty(len(pairs))
    for source in np.unique(pairs[:, 0]):
        unit = np.zeros(a.shape[0])
        unit[source] = 1
        of = pairs[:, 0] == source
        out[of] = lu.solve(unit)[pairs[of, 1]]
    return out


edges = np.loadtxt(f"{sys.argv[1]}/edges.csv", delimiter=",", dtype=int)
given = np.loadtxt(f"{sys.argv[1]}/pairs.csv", delimiter=",", dtype=int)
n = int(sys.argv[2])
start = time.perf_counter()
one = np.ones(2 * len(edges))
a = csc_matrix((one, (np.r_[edges[:, 0], edges[:, 1]], np.r_[edges[:, 1], edges[:, 0]])), shape=(n, n))
largest = eigsh(a, k=1, which="LA", return_eigenvectors=False)[0]
best = max(figures(katz(a, share / largest, given), given[:, 2]) for share in SHARES)
print(f"{100 * best[0]:.2f} {100 * best[1]:.2f} {time.perf_counter() - start:.4f}")
