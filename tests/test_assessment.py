"""A choice beside others: the same procedure on the same folds as the estimate for new data."""

import numpy as np
import pytest
from joblib import parallel_config

from certifeature.cli.loading import Loaded
from certifeature.cli.options import ModelOptions, Models, SelectOptions
from certifeature.cli.preparing import Scaling
from certifeature.cli.task import Task, assess, choose, folds_of, n_folds_for
from certifeature.models.support import find_support
from certifeature.selectors import fit


def task_of(y, size="8", model=Models.svm, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((len(y), 60))
    X[:, :5] += 0.8 * np.unique(y, return_inverse=True)[1][:, None]
    names = np.array([f"g{i}" for i in range(60)])
    data = Loaded(X, y, names, "noisy.csv", "").scaled(Scaling.standard)
    estimator = ModelOptions(model=model).estimator(y)
    return Task(data, SelectOptions(size, **options), estimator)


CLASSES = np.arange(90) % 2


def own_of(task, choice):
    """The choice as the comparison has it."""
    key = task.options.method, len(choice.features)
    (own,) = (c for c in choice.comparison.contenders if (c.method, c.size) == key)
    return own


@pytest.mark.parametrize(
    "options",
    [{}, {"unsupervised": True}, {"method": "rfe"}, {"method": "rrqr"}, {"keep": ["g1,g2,g50"]}],
    ids=str,
)
@pytest.mark.ci
def test_the_estimate_does_not_depend_on_what_is_beside_it(options):
    task = task_of(CLASSES, **options)
    chosen, folds = choose(task), folds_of(task, 3, 1)
    found = assess(task, chosen, folds, beside=False).certificate.new_data
    assessed = assess(task, chosen, folds, beside=True)
    comparison, own = assessed.comparison, own_of(task, assessed)
    assert assessed.certificate.new_data == found
    assert {c.method for c in comparison.contenders} >= {"bss", "rfe", "univariate", "full data"}
    assert tuple(map(len, own.chosen)) == found.n_selected
    # The one is at the C of the model, the other has C tuned; no size is below what is kept.
    assert comparison.tuned
    sizes = [contender.size for contender in comparison.contenders[1:]]
    assert min(sizes) >= (3 if options.get("keep") else 2)


def test_all_are_compared_in_the_same_folds():
    task = task_of(np.repeat([0, 1], [58, 2]))
    assessed = assess(task, choose(task), folds_of(task, 2, 3), beside=True)
    found, comparison = assessed.certificate.new_data, assessed.comparison
    assert len(found.n_selected) == 6
    assert {len(contender.errors) for contender in comparison.contenders} == {2}
    assert comparison.splits.n_repeats == 1
    once = assess(task, choose(task), folds_of(task, 2, 1), beside=True).comparison
    assert comparison.to_dict().keys() == once.to_dict().keys()
    assert [c.performance for c in comparison.contenders] == [
        c.performance for c in once.contenders
    ]


def test_without_inner_folds_the_errors_are_those_of_the_estimate():
    task = task_of(np.repeat([0, 1], [58, 2]))
    assessed = assess(task, choose(task), folds_of(task, 2, 1), beside=True)
    found, comparison = assessed.certificate.new_data, assessed.comparison
    assert not comparison.tuned
    assert "are all of class 0" in comparison.note
    assert own_of(task, assessed).performance == found.selected
    assert comparison.full.performance == found.full


def test_lots_are_drawn_anew_in_every_fold():
    task = task_of(CLASSES, method="random")
    own = own_of(task, assess(task, choose(task), folds_of(task, 3, 1), beside=True))
    assert len(set(own.chosen)) == 3


def test_nothing_stands_beside_all_features():
    task = task_of(CLASSES, size="60")
    with pytest.warns(UserWarning, match="all are kept"):
        choice = choose(task)
    assessed = assess(task, choice, folds_of(task, 3, 1), beside=True)
    assert assessed.comparison is None
    assert assessed.certificate.new_data.n_selected == (60,) * 3


@pytest.mark.parametrize(
    ("y", "model", "n_folds"),
    [
        (CLASSES, Models.svm, 5),
        (np.repeat([0, 1], [50, 3]), Models.svm, 5),
        (np.repeat([0, 1], [50, 1]), Models.svm, None),
        (np.linspace(0.1, 1, 3), Models.ridge, 3),
        (np.linspace(0.1, 1, 30), Models.ridge, 5),
    ],
)
def test_a_report_has_as_many_folds_as_the_rows_allow(y, model, n_folds):
    assert n_folds_for(task_of(y, model=model)) == n_folds


def test_no_selector_is_fitted_twice_to_the_same_rows(monkeypatch):
    """One cross-validation has the estimate, the comparison and the curves."""
    rows, real = [], find_support

    def counting(given, *args):
        rows.append((given.X.tobytes(), given.y.tobytes()))
        return real(given, *args)

    monkeypatch.setattr(fit, "find_support", counting)
    task = task_of(CLASSES)
    choice = choose(task)
    with parallel_config(backend="sequential"):
        assess(task, choice, folds_of(task, 3, 1), beside=True)
    # All rows; in each fold the true and the shuffled labels, and three inner folds.
    assert len(rows) == len(set(rows)) == 1 + 3 * (2 + 3)
