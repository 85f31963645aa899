"""bench_nodes.py - what anybody would try first on nodes, on the splits of a graph.

Logistic (for values: ridge) regression and LightGBM on own columns, the neighbours' means, the two
hops' means and the degree, and ten rounds of label propagation.  Arguments: the folder of a graph,
accuracy, auc or r2, and splits; prints the three means, a dash for what Python does not have.
"""

import csv
import gzip
import sys

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import r2_score, roc_auc_score

try:
    import lightgbm
except ImportError:
    lightgbm = None

# LightGBM's: with all of 3,001 columns 58 classes take ten times as long, and without the ridge they diverge.
TREE_COLUMNS = 300
BOOSTING = {"n_estimators": 100, "reg_lambda": 1, "verbose": -1, "n_jobs": 2}


def rows(name):
    with gzip.open(f"{folder}/{name}.csv.gz", "rt") as f:
        yield from csv.DictReader(f)


def score(truth, said):
    """said: the score of each class, or the value."""
    if figure == "r2":
        return r2_score(truth, said)
    if figure == "auc":
        return roc_auc_score(truth, said[:, 1])
    return np.mean(said.argmax(axis=1) == truth)


def regression(train, test):
    if figure == "r2":
        return RidgeCV(10.0 ** np.arange(-2, 5)).fit(z[train], y[train]).predict(z[test])
    model = LogisticRegression(max_iter=1000).fit(z[train], y[train])
    return model.predict_proba(z[test])


def boosting(train, test):
    if lightgbm is None:
        return None
    kind = lightgbm.LGBMRegressor if figure == "r2" else lightgbm.LGBMClassifier
    model = kind(colsample_bytree=min(1, TREE_COLUMNS / z.shape[1]), **BOOSTING).fit(z[train], y[train])
    return model.predict(z[test]) if figure == "r2" else model.predict_proba(z[test])


def propagation(train, test):
    known = np.eye(int(y.max()) + 1)[y[train].astype(int)] if figure != "r2" else y[train, None] - y[train].mean()
    f = np.zeros((n, known.shape[1]))
    for _ in range(10):
        f[train] = known
        f = p @ f
    return f[test] if figure != "r2" else f[test, 0] + y[train].mean()


folder, figure, splits = sys.argv[1], sys.argv[2], sys.argv[3:]
nodes = list(rows("nodes"))
n = len(nodes)
y = np.array([float(r["label"] or "nan") for r in nodes])
edges = np.array([(int(r["src"]), int(r["dst"])) for r in rows("edges")])
a = sp.coo_matrix((np.ones(2 * len(edges)), (edges.ravel(), edges[:, ::-1].ravel())), (n, n)).tocsr()
degree = np.asarray(a.sum(axis=1)).ravel()
p = sp.diags(1 / np.maximum(degree, 1)) @ a
entries = np.array([(int(r["node_id"]), int(r["feature_id"]), float(r["value"])) for r in rows("features")])
x = sp.coo_matrix((entries[:, 2], (entries[:, 0].astype(int), entries[:, 1].astype(int))), (n, int(entries[:, 1].max()) + 1)).tocsr()
if x.shape[1] < 64:
    x = x.toarray()
    x = sp.csr_matrix((x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9))
z = sp.hstack([x, p @ x, p @ p @ x, np.log1p(degree)[:, None]]).tocsr()
roles = {s: {} for s in splits}
if splits == ["default"]:
    roles["default"] = {i: r["split"] for i, r in enumerate(nodes)}
else:
    for r in rows("splits"):
        if r["split_no"] in roles:
            roles[r["split_no"]][int(r["node_id"])] = r["role"]
found = {}
for s in splits:
    train = np.array([i for i, role in roles[s].items() if role == "train"])
    test = np.array([i for i, role in roles[s].items() if role == "test"])
    for method in (regression, boosting, propagation):
        said = method(train, test)
        found.setdefault(method.__name__, []).append(np.nan if said is None else score(y[test], said))
print(*("-" if np.isnan(v := np.mean(found[m])) else f"{v:.4f}" for m in ("regression", "boosting", "propagation")))
