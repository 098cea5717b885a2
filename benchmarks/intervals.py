"""Coverage of the confidence intervals of cross-validation, by simulation.

Usage: python benchmarks/intervals.py [--simulations 1000] [--seed 0] [--first 0]

Data are drawn from a known distribution; a pipeline chooses features and trains a ridge model in
the folds that the library makes, and `certifeature.evaluation.performance` turns the predictions
into intervals. The truth is measured on 5,000 new rows: for the models of the folds, on average,
and for the model trained on all rows, which has a quarter more to learn from. The table has the
share of the intervals that contain each; of R², how often the verdict is right for each.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from certifeature.evaluation import Difference
from certifeature.evaluation.performance import performance
from certifeature.evaluation.splits import splits_of

N_FEATURES, N_RELEVANT, N_CHOSEN, N_NEW = 200, 10, 10, 5_000
Array = NDArray[Any]


@dataclass(frozen=True)
class Scenario:
    """A distribution of rows, and how they are validated.

    Attributes
    ----------
    name : str
        What it stands for.
    n_rows : int
        Rows of the sample.
    shares : tuple of float
        Share of each class; none for real-valued targets.
    strength : float
        Distance of the classes in each relevant feature, in standard deviations.
    n_per_group : int
        Rows of each group, which has one label; 1 is no groups.
    """

    name: str
    n_rows: int
    shares: tuple[float, ...] = (0.5, 0.5)
    strength: float = 0.6
    n_per_group: int = 1

    def draw(self, rng: np.random.Generator, n_rows: int) -> tuple[Array, Array, Array]:
        """Return rows, labels or targets, and groups."""
        groups = np.arange(n_rows) // self.n_per_group
        n_groups = groups[-1] + 1
        X = rng.standard_normal((n_groups, N_FEATURES))
        if self.shares:
            y = rng.choice(len(self.shares), n_groups, p=self.shares)
            relevant = np.arange(N_RELEVANT)
            # Each class is high in features of its own.
            X[:, :N_RELEVANT] += self.strength * (relevant % len(self.shares) == y[:, None])
        else:
            y = self.strength * X[:, :N_RELEVANT].sum(axis=1) + rng.standard_normal(n_groups)
        # Rows of a group are alike.
        noise = 0.5 * rng.standard_normal((n_rows, N_FEATURES)) if self.n_per_group > 1 else 0.0
        return X[groups] + noise, y[groups], groups


def scores_of(X: Array, y: Array, unseen: Array, n_classes: int, n_chosen: int) -> Array:
    """Return the scores of unseen rows by ridge regression on the features that correlate most."""
    targets = (y[:, None] == np.arange(n_classes)).astype(float) if n_classes else y[:, None]
    centre, mean = X.mean(axis=0), targets.mean(axis=0)
    known, targets = X - centre, targets - mean
    strengths = np.abs(known.T @ targets).max(axis=1) / np.linalg.norm(known, axis=0)
    chosen = np.argsort(-strengths)[:n_chosen]
    known = known[:, chosen]
    weights = known.T @ np.linalg.solve(known @ known.T + 10 * np.eye(len(y)), targets)
    return np.asarray((unseen - centre)[:, chosen] @ weights + mean)


def truth_of(scenario: Scenario, y: Array, scores: Array) -> dict[str, float]:
    """Return what the intervals are about, measured on new rows."""
    if not scenario.shares:
        return {"1 - R²": float(((scores[:, 0] - y) ** 2).mean() / y.var())}
    wrong, classes = scores.argmax(axis=1) != y, range(len(scenario.shares))
    if len(classes) == 2:
        area = roc_auc_score(y, scores[:, 1])
    else:
        area = np.mean([roc_auc_score(y == c, scores[:, c]) for c in classes])
    recalls = [1 - wrong[y == c].mean() for c in classes]
    found = {"error": wrong.mean(), "balanced error": 1 - np.mean(recalls), "AUC": area}
    return {**found, "recall of the last class": recalls[-1]}


def simulate(scenario: Scenario, rng: np.random.Generator) -> dict[str, tuple[float, ...]]:
    """Return, for each interval, whether it contains the two truths, and its length."""
    X, y, groups = scenario.draw(rng, scenario.n_rows)
    new_X, new_y, _ = scenario.draw(rng, N_NEW)
    n_classes, regression = len(scenario.shares), not scenario.shares
    given = groups if scenario.n_per_group > 1 else None
    options: Any = {"regression": regression, "n_repeats": None, "groups": given}
    splits = splits_of(y, y, 5, int(rng.integers(2**31)), **options)
    found: dict[str, tuple[float, ...]] = {}
    errors, truths = [], []
    for n_chosen in (N_CHOSEN, N_FEATURES):

        def tested(rows: Array, unseen: Array, n_chosen: int = n_chosen) -> Array:
            return scores_of(X[rows], y[rows], unseen, n_classes, n_chosen)

        def truth(rows: Any) -> dict[str, float]:
            return truth_of(scenario, new_y, tested(rows, new_X))

        of_folds = [tested(train, X[test]) for train, test in splits.pairs]
        predicted = [s[:, 0] if regression else s.argmax(axis=1) for s in of_folds]
        result = performance(y, splits, predicted, of_folds, regression=regression)
        parts = [truth(train) for train, _ in splits.pairs[: splits.n_folds]]
        trues = [{name: np.mean([part[name] for part in parts]) for name in parts[0]}]
        trues.append(truth(np.arange(len(y))))
        errors.append(
            [
                np.mean((p - y[test]) ** 2) / y.var() if regression else np.mean(p != y[test])
                for p, (_, test) in zip(predicted, splits.pairs, strict=True)
            ]
        )
        truths.append([next(iter(true.values())) for true in trues])
        if n_chosen == N_FEATURES:
            continue
        if regression:
            # There is no interval, only a verdict, that must not be wrong.
            right = (not result.beats_mean or true["1 - R²"] < 1 for true in trues)
            found["verdict on the mean"] = (*right, float("nan"))
            continue
        estimates = [result.error, result.balanced_error, result.auc]
        estimates.append(result.recalls[str(n_classes - 1)])
        for name, estimate in zip(trues[0], estimates, strict=False):
            assert estimate is not None
            low, high = estimate.ends
            found[name] = (*(low <= true[name] <= high for true in trues), high - low)
    measure = "1 - R2" if regression else "error"
    difference = Difference.of(*errors, splits.test_share, measure, splits.weights)
    if difference.interval is not None:
        low, high = difference.interval
        covered = (low <= one - other <= high for one, other in zip(*truths, strict=True))
        found["difference to all features"] = (*covered, high - low)
    return found


SCENARIOS = [
    Scenario("60 rows, two classes", 60),
    Scenario("100 rows, two classes", 100),
    Scenario("100 rows, classes far apart", 100, strength=1.2),
    Scenario("100 rows, labels at random", 100, strength=0.0),
    Scenario("150 rows, one in five of the second class", 150, (0.8, 0.2), 0.8),
    Scenario("120 rows, three classes", 120, (0.4, 0.3, 0.3), 0.8),
    Scenario("500 rows, two classes", 500, strength=0.4),
    Scenario("102 rows, three for each of 34 patients", 102, n_per_group=3, strength=0.9),
    Scenario("102 rows of 34 patients, labels at random", 102, n_per_group=3, strength=0.0),
    Scenario("100 rows, targets", 100, (), 0.5),
    Scenario("300 rows, targets", 300, (), 0.3),
    Scenario("60 rows, targets at random", 60, (), 0.0),
]


def main() -> None:
    """Print the coverages."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="how many of the data to leave out")
    options = parser.parse_args()
    print(f"{options.simulations} simulations of each, seed {options.seed}\n")
    print("| data | interval of | contains that of the folds | that of all rows | mean length |")
    print("|---|---|---|---|---|")
    for number, scenario in list(enumerate(SCENARIOS))[options.first :]:
        found: dict[str, list[tuple[float, ...]]] = defaultdict(list)
        for simulation in range(options.simulations):
            rng = np.random.default_rng([options.seed, number, simulation])
            for name, value in simulate(scenario, rng).items():
                found[name].append(value)
        for name, values in found.items():
            folds, full, length = np.mean(values, axis=0)
            cells = scenario.name, name, f"{folds:.1%}", f"{full:.1%}", f"{length:.3f}"
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
