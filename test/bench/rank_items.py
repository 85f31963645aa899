"""rank_items.py - what users are suggested: gnngp's method ease beside EASE in NumPy.

    rank_items.py make folder seed [ratings]
        writes edges.csv, nodes.csv and queries.csv of users and items into a folder that exists, and what judge
        needs; prints the number of nodes
    rank_items.py judge folder
        reads the best.csv that rank_links wrote; prints recall@20 and NDCG@20, in per cent, of gnngp, of EASE in NumPy
        and of the most popular items; then the suggestions that are links already, the expected
        calibration error, and the links that the probabilities promise over those that are found; fails
        where a suggestion is a link already, or where recall is .3 per cent away from NumPy's

Needs NumPy.  A fifth of each user's links is held out.  ratings is the file u.data of MovieLens 100k, of
which ratings of 4 and more are links; without it 943 users choose from 1,682 items by taste and by how
popular an item is.
"""

import sys

import numpy as np

BEST = 20


def generate(rng, users=943, items=1682, dims=12, mean=58):
    """Links of users and items: taste is an inner product, popularity falls with the rank."""
    taste = rng.normal(size=(users, dims)) + 1.5 * rng.normal(size=(8, dims))[rng.integers(0, 8, users)]
    kind = rng.normal(size=(items, dims)) + 1.5 * rng.normal(size=(18, dims))[rng.integers(0, 18, items)]
    popular = -0.9 * np.log(5 + rng.permutation(items))
    appeal = popular + 1.6 * taste @ kind.T / np.sqrt(dims) / 1.8
    appeal += rng.gumbel(size=appeal.shape)
    count = np.clip(rng.lognormal(np.log(mean) - 0.5, 1.0, users), 5, items // 4).astype(int)
    best = np.argsort(-appeal, axis=1)
    return np.array([(u, i) for u in range(users) for i in best[u, : count[u]]])


def read(path):
    rows = np.loadtxt(path, dtype=int)
    rows = rows[rows[:, 2] >= 4, :2]
    return np.stack([np.unique(rows[:, k], return_inverse=True)[1] for k in (0, 1)], axis=1)


def make(folder, seed, path=None):
    rng = np.random.default_rng(seed)
    e = read(path) if path else generate(rng)
    users, items = e.max(axis=0) + 1
    order = rng.permutation(len(e))
    e = e[order[np.argsort(e[order, 0], kind="stable")]]
    first = np.searchsorted(e[:, 0], e[:, 0])
    last = np.searchsorted(e[:, 0], e[:, 0], side="right")
    held = np.arange(len(e)) - first < (last - first) // 5
    train, held = e[~held], e[held]
    np.savetxt(f"{folder}/edges.csv", train + [0, users], "%d", ",")
    np.savetxt(f"{folder}/nodes.csv", np.unique(held[:, 0]), "%d", ",")
    np.savetxt(f"{folder}/queries.csv", held[:100] + [0, users], "%d", ",")
    np.savez(f"{folder}/truth.npz", train=train, held=held, users=users, items=items)
    print(users + items)


def ease(r):
    """Columns scaled d^-1/4, lambda = 6 times the mean diagonal, scores scaled back."""
    d = np.maximum(r.sum(0), 1)
    x = r * d**-0.25
    g = x.T @ x
    p = np.linalg.inv(g + 6 * np.diag(g)[r.sum(0) > 0].mean() * np.eye(len(g)))
    b = -p / np.diag(p)
    np.fill_diagonal(b, 0)
    return (x @ b) * d**0.25


def figures(users, best, held):
    """recall@20 and NDCG@20, per cent, the mean of the users that have something held out."""
    weight = 1 / np.log2(2 + np.arange(BEST))
    recall, gain = [], []
    for u in users:
        hit = np.isin(best[u], list(held[u]))
        recall.append(hit.sum() / min(len(held[u]), BEST))
        gain.append((hit * weight[: len(hit)]).sum() / weight[: min(len(held[u]), BEST)].sum())
    return 100 * np.mean(recall), 100 * np.mean(gain)


def judge(folder):
    t = np.load(f"{folder}/truth.npz")
    users, items = int(t["users"]), int(t["items"])
    r = np.zeros((users, items))
    r[t["train"][:, 0], t["train"][:, 1]] = 1
    held = {}
    for u, i in t["held"]:
        held.setdefault(u, set()).add(i)
    rows = np.loadtxt(f"{folder}/best.csv", delimiter=",")
    own = {u: [] for u in held}
    for u, i in rows[:, :2].astype(int):
        own[u].append(i - users)
    repeats = sum(r[u, i] > 0 if 0 <= i < items else 1 for u in held for i in own[u])
    score = np.where(r > 0, -np.inf, ease(r))
    numpy = {u: np.argsort(-score[u])[:BEST] for u in held}
    popular = np.where(r > 0, -np.inf, r.sum(0))
    most = {u: np.argsort(-popular[u])[:BEST] for u in held}
    hit = np.array([i - users in held[u] for u, i in rows[:, :2].astype(int)], dtype=float)
    p = rows[:, 2]
    ece = sum(abs(p[k].mean() - hit[k].mean()) * len(k) for k in np.array_split(np.argsort(p), 10)) / len(p)
    print("gnngp %.2f %.2f  EASE in NumPy %.2f %.2f  popular %.2f %.2f  repeated %d  ece %.2f  said/found %.3f"
          % (*figures(held, own, held), *figures(held, numpy, held), *figures(held, most, held), repeats,
             100 * ece, p.sum() / max(hit.sum(), 1)))
    assert repeats == 0 and abs(figures(held, own, held)[0] - figures(held, numpy, held)[0]) <= 0.3


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
else:
    judge(sys.argv[2])
