"""link_figures.py - how well scores of pairs tell links from other pairs."""

import numpy as np


def figures(score, hit):
    """AUC and average precision; pairs of equal score are one step of the curves."""
    steps, place = np.unique(-score, return_inverse=True)
    hits = np.bincount(place, hit, len(steps))
    pairs = np.bincount(place, minlength=len(steps))
    so_far, seen = np.cumsum(hits), np.cumsum(pairs)
    links, others = hits.sum(), len(hit) - hits.sum()
    auc = ((pairs - hits) * (so_far - hits / 2)).sum() / (links * others)
    return auc, (hits * so_far / seen).sum() / links


def ranks(score, question, hit):
    """Mean reciprocal rank, and the share at the first twenty places, of the link of each question; ties count half."""
    places = []
    for q in np.unique(question):
        own = score[(question == q) & (hit == 1)][0]
        others = score[(question == q) & (hit == 0)]
        places.append(1 + (others > own).sum() + (others == own).sum() / 2)
    places = np.array(places)
    return (1 / places).mean(), (places <= 20).mean()
