"""bench_links.py - scikit-learn's logistic regression on gnngp's scores of pairs.

Reads train.csv and held.csv (label, then scores), which bench_links.c wrote to
the folder.  Prints AUC and average precision in per cent, and the seconds to
learn and to predict.
"""

import sys
import time

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

train = np.loadtxt(f"{sys.argv[1]}/train.csv", delimiter=",")
held = np.loadtxt(f"{sys.argv[1]}/held.csv", delimiter=",")
start = time.perf_counter()
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=10000))
model.fit(train[:, 1:], train[:, 0])
score = model.decision_function(held[:, 1:])
seconds = time.perf_counter() - start
print(f"{100 * roc_auc_score(held[:, 0], score):.2f} {100 * average_precision_score(held[:, 0], score):.2f} {seconds:.4f}")
