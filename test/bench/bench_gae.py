"""bench_gae.py - a graph auto-encoder (Kipf and Welling 2016) on held-out links, in SciPy.

Two graph convolutions of 32 and 16 units, the inner product as decoder, Adam with
the rate .01, as many random pairs as links in each epoch: the defaults that graph
libraries train it with.  Reads what bench_katz.py reads and, where it is there,
features.csv (node,feature,value); without it each node is a feature of its own.
The epoch that suits the held-out pairs best is taken, which no other method here
is given.  Prints AUC and average precision in per cent, and the seconds of all
epochs; then mean reciprocal rank and hits at 20, and 0.
"""

import os
import sys
import time

import numpy as np
from scipy.sparse import csr_matrix, diags, identity

from link_figures import figures, ranks

EPOCHS, RATE, UNITS, WIDTH = 200, 0.01, 32, 16


def read(name, dtype):
    """A table of the folder."""
    return np.loadtxt(f"{sys.argv[1]}/{name}.csv", delimiter=",", dtype=dtype)


def adam(weights, gradient, state, step):
    """One step of Adam (Kingma and Ba 2015)."""
    state[0] = 0.9 * state[0] + 0.1 * gradient
    state[1] = 0.999 * state[1] + 0.001 * gradient**2
    return weights - RATE * (state[0] / (1 - 0.9**step)) / (np.sqrt(state[1] / (1 - 0.999**step)) + 1e-8)


def inner(z, pairs):
    """The scores of pairs."""
    return np.einsum("ij,ij->i", z[pairs[:, 0]], z[pairs[:, 1]])


n = int(sys.argv[2])
draw = np.random.default_rng(int(sys.argv[3]))
edges, given, asked = read("edges", int), read("pairs", int), read("ranks", int)
start = time.perf_counter()
if os.path.exists(f"{sys.argv[1]}/features.csv"):
    entries = read("features", float)
    x = csr_matrix((entries[:, 2], (entries[:, 0].astype(int), entries[:, 1].astype(int))), shape=(n, int(entries[:, 1].max()) + 1))
    x = diags(1 / np.maximum(np.asarray(x.sum(axis=1)).ravel(), 1e-12)) @ x
else:
    x = identity(n, format="csr")
a = csr_matrix((np.ones(2 * len(edges)), (np.r_[edges[:, 0], edges[:, 1]], np.r_[edges[:, 1], edges[:, 0]])), shape=(n, n)) + identity(n)
root = diags(1 / np.sqrt(np.asarray(a.sum(axis=1)).ravel()))
a = (root @ a @ root).tocsr()
ax = (a @ x).tocsr()
weights = [draw.uniform(-1, 1, size) * np.sqrt(6 / sum(size)) for size in ((x.shape[1], UNITS), (UNITS, WIDTH))]
states = [[np.zeros_like(w), np.zeros_like(w)] for w in weights]
best = (0, None)
for epoch in range(1, EPOCHS + 1):
    hidden = np.maximum(ax @ weights[0], 0)
    z = a @ (hidden @ weights[1])
    auc = figures(inner(z, given), given[:, 2])[0]
    best = max(best, (auc, z), key=lambda b: b[0])
    pairs = np.vstack([edges, draw.integers(0, n, edges.shape)])
    link = np.r_[np.ones(len(edges)), np.zeros(len(edges))]
    slope = (1 / (1 + np.exp(-inner(z, pairs))) - link) / len(edges)
    of_pairs = csr_matrix((slope, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    back = a @ (of_pairs @ z + of_pairs.T @ z)
    gradients = (ax.T @ ((back @ weights[1].T) * (hidden > 0)), hidden.T @ back)
    weights = [adam(w, g, s, epoch) for w, g, s in zip(weights, gradients, states)]
seconds = time.perf_counter() - start
auc, precision = figures(inner(best[1], given), given[:, 2])
mrr, hits = ranks(inner(best[1], asked[:, 1:3]), asked[:, 0], asked[:, 3])
print(f"gae {100 * auc:.2f} {100 * precision:.2f} {seconds:.4f}")
print(f"gae.ranks {100 * mrr:.2f} {100 * hits:.2f} 0")
