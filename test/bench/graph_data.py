"""graph_data.py - a graph that bench.sh wrote as text, as NumPy arrays."""

import numpy as np


def load(folder):
    """Gives features, normalised adjacency matrix (both dense), edges, labels, training and test nodes.

    Large matrices are in single precision, as gnngp's are.
    """
    nodes = np.loadtxt(f"{folder}/nodes.csv", delimiter=",", dtype=int)
    edges = np.loadtxt(f"{folder}/edges.csv", delimiter=",", dtype=int)
    entries = np.loadtxt(f"{folder}/features.csv", delimiter=",")
    n = len(nodes)
    x = np.zeros((n, int(entries[:, 1].max()) + 1), dtype=np.float32)
    x[entries[:, 0].astype(int), entries[:, 1].astype(int)] = entries[:, 2]
    a = np.eye(n, dtype=np.float32)
    a[edges[:, 0], edges[:, 1]] = a[edges[:, 1], edges[:, 0]] = 1
    d = 1 / np.sqrt(a.sum(axis=1))
    return x, a * d[:, None] * d, edges, nodes[:, 1], np.flatnonzero(nodes[:, 2] == 1), np.flatnonzero(nodes[:, 2] == 2)


def arccos(k):
    """The arc-cosine map of degree one of a covariance matrix."""
    d = np.sqrt(np.diag(k))
    dd = np.outer(d, d)
    c = np.clip(np.divide(k, dd, out=np.zeros_like(k), where=dd > 0), -1, 1)
    t = np.arccos(c)
    return dd / (2 * np.pi) * (np.sin(t) + (np.pi - t) * c)


def gcn_kernel(x, a):
    """The kernel of a GCN of two layers, N x N throughout."""
    k = a @ (x @ x.T) @ a
    return a @ arccos(k) @ a
