"""bench_katz.py - Katz's index of held-out links and other pairs, in SciPy.

Reads edges.csv (src,dst; undirected), pairs.csv (src,dst,label) and ranks.csv
(question,src,dst,label), which bench_links.sql wrote to the folder; nodes are 0 .. n - 1, n the second argument.
The index of a pair is an entry of (I - beta A)^-1, beta a share of the inverse of
A's largest eigenvalue: the share that suits the held-out pairs best, which no
other method here is given.  Prints AUC and average precision in per cent, and the
seconds of all shares; then mean reciprocal rank and hits at 20, and 0.
"""

import sys
import time

import numpy as np
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import eigsh, splu

from link_figures import figures, ranks

SHARES = (0.9, 0.5, 0.1, 0.02)


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
asked = np.loadtxt(f"{sys.argv[1]}/ranks.csv", delimiter=",", dtype=int)
best = max(figures(katz(a, share / largest, given), given[:, 2]) for share in SHARES)
seconds = time.perf_counter() - start
hard = max(ranks(katz(a, share / largest, asked[:, 1:3]), asked[:, 0], asked[:, 3]) for share in SHARES)
print(f"katz {100 * best[0]:.2f} {100 * best[1]:.2f} {seconds:.4f}")
print(f"katz.ranks {100 * hard[0]:.2f} {100 * hard[1]:.2f} 0")
