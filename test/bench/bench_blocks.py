"""Ten rounds of label propagation in SciPy, from the tables of bench_blocks.sql to classes.

    python3 bench_blocks.py

Prints the seconds of reading and of the rounds, the megabytes held at most, and the accuracy
on unlabelled nodes.  The server is found by PGHOST and PGDATABASE.
"""
import resource
import subprocess
import time

import numpy as np
import scipy.sparse as sp

ROUNDS = 10


def read(query, columns):
    """The rows of a query of integers, by COPY through psql."""
    command = ["psql", "-XqAt", "-c", f"COPY ({query}) TO STDOUT (DELIMITER ' ')"]
    text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return np.fromstring(text, dtype=np.int64, sep=" ").reshape(-1, columns)


started = time.monotonic()
nodes = read("SELECT id, class, coalesce(target, -1) FROM blocks_node", 3)
edges = read("SELECT src, dst FROM blocks_edge", 2)
nodes = nodes[nodes[:, 0].argsort()]
n = len(nodes)
one = np.ones(len(edges), dtype=np.float32)
w = sp.csr_matrix((one, (edges[:, 0], edges[:, 1])), shape=(n, n))
w = (w + w.T).tocsr()
degree = np.maximum(np.asarray(w.sum(axis=1)).ravel(), 1).astype(np.float32)
w = (sp.diags(1 / degree) @ w).tocsr()
reading = time.monotonic() - started

labelled = np.flatnonzero(nodes[:, 2] >= 0)
f = np.zeros((n, 5), dtype=np.float32)
known = np.eye(5, dtype=np.float32)[nodes[labelled, 2]]
f[labelled] = known
for _ in range(ROUNDS):
    f = w @ f
    f[labelled] = known
best = f.argmax(axis=1)
rounds = time.monotonic() - started - reading

others = nodes[:, 2] < 0
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{reading:.2f} {rounds:.2f} {peak:.0f} {np.mean(best[others] == nodes[others, 1]):.4f}")
