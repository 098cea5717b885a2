"""Every bad input gives the right answer or an error that says what to do."""

from datetime import timedelta

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import DataConversionWarning
from sklearn.svm import SVC, SVR, LinearSVC

from certifeature import (
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
    SelectorCV,
    certify,
    compare,
)
from certifeature.evaluation import new_data_errors
from certifeature.models.support import cascade
from certifeature.rows import ArrayBlocks

SELECTORS = [BSSSelector, LeverageScoreSelector, RRQRSelector, RandomSelector]


@pytest.fixture
def data():
    return make_classification(30, 120, n_informative=10, random_state=0)


@pytest.mark.parametrize("selector", SELECTORS)
class TestErrors:
    def test_values_that_are_not_finite(self, selector, data):
        X, y = data
        for value in (np.nan, np.inf):
            X[3, 4] = value
            for form in (np.asarray, sparse.csr_array):
                with pytest.raises(ValueError, match=r"NaN|infinity"):
                    selector(20).fit(form(X), y)

    def test_one_class(self, selector, data):
        with pytest.raises(ValueError, match=r"one class only.*supervised=False"):
            selector(20).fit(data[0], np.ones(30))

    def test_one_class_after_zero_weights(self, selector, data):
        X, y = data
        with pytest.raises(ValueError, match="one class only"):
            selector(20).fit(X, y, sample_weight=(y == 1).astype(float))

    def test_missing_labels(self, selector, data):
        with pytest.raises(ValueError, match=r"requires y to be passed.*supervised=False"):
            selector(20).fit(data[0])

    def test_labels_that_are_no_classes(self, selector, data):
        with pytest.raises(ValueError, match="continuous"):
            selector(20, estimator=LinearSVC()).fit(data[0], np.linspace(0, 1, 30))

    def test_labels_of_another_length(self, selector, data):
        with pytest.raises(ValueError, match="inconsistent"):
            selector(20).fit(data[0], data[1][:-1])

    @pytest.mark.parametrize("supervised", [True, False])
    def test_data_of_zeros(self, selector, supervised, data):
        with pytest.raises(ValueError, match="zero everywhere"):
            selector(20, supervised=supervised).fit(np.zeros((30, 120)), data[1])

    def test_huge_values_for_an_svm(self, selector, data):
        X, y = data
        for factor in (1e18, 1e152, 1e300):
            for form in (np.asarray, sparse.csr_array):
                with pytest.raises(ValueError, match=r"norm up to \de\+\d+.*MaxAbsScaler"):
                    selector(20).fit(form(X * factor), y)

    @pytest.mark.parametrize("size", [0, -3, 0.0, 1.5, -0.5, "many", None, True, np.nan])
    def test_sizes_that_are_none(self, selector, size, data):
        with pytest.raises(
            ValueError, match=r"n_features_to_select.*(must be an int|counts features)"
        ):
            selector(size).fit(*data)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"epsilon": 0}, r"'epsilon'.*range \(0.0, 1.0\). Got 0"),
            ({"epsilon": 1.0}, r"'epsilon'.*range \(0.0, 1.0\). Got 1.0"),
            ({"epsilon": "half"}, r"'epsilon'.*range \(0.0, 1.0\). Got 'half'"),
            ({"supervised": "yes"}, "'supervised'.*must be an instance of 'bool'"),
            ({"basis": "qr"}, "'basis'.*must be a str among {.*'truncated'.*}"),
            ({"n_components": 0}, r"'n_components'.*range \[1, inf\)"),
            ({"basis": "exact", "n_components": 5}, "use basis='truncated'"),
            ({"basis": "truncated"}, "needs n_components"),
        ],
    )
    def test_parameters(self, selector, parameters, message, data):
        with pytest.raises(ValueError, match=message):
            selector(20, **parameters).fit(*data)

    @pytest.mark.parametrize(
        "weights", [np.ones(29), -np.ones(30), np.full(30, np.nan), np.zeros(30), np.ones((30, 2))]
    )
    def test_weights(self, selector, weights, data):
        with pytest.raises(ValueError, match="sample_weight"):
            selector(20).fit(*data, sample_weight=weights)


# For a model that needs all directions alike.
HARD = {"estimator": SVC(kernel="linear"), "trust": 0}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": "alphabet"}, "'order'.*among {.*'coef'.*}"),
        ({"order": "stable", "supervised": False}, "needs supervised=True"),
        ({"order": "coef", "supervised": False}, "needs supervised=True"),
        ({"order": np.ones(7)}, "order must have one value for each of the 120 features"),
        ({"order": np.full(120, np.nan)}, "order gives no usable scores"),
        ({"order": lambda X, y: np.full(120, np.nan)}, "order gives no usable scores"),
        ({"order": lambda X, y: np.ones(3)}, "each of the 120 features"),
        ({"rescale": 2}, "'rescale'.*must be"),
        (HARD | {"n_components": 20}, "20"),
        (HARD | {"basis": "sketch", "n_components": 25}, "n_features_to_select=20"),
    ],
)
def test_parameters_of_bss(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        BSSSelector(20, **parameters).fit(*data)


@pytest.mark.parametrize("selector", SELECTORS)
class TestRightAnswers:
    def test_rank_one(self, selector, rng):
        X = np.outer(rng.standard_normal(20), rng.standard_normal(50))
        fitted = selector(10, supervised=False, random_state=0).fit(X)
        assert fitted.basis_.rank == 1
        assert 1 <= len(fitted.indices_) <= 10

    def test_one_row(self, selector, rng):
        X = rng.standard_normal((1, 50))
        fitted = selector(10, supervised=False, random_state=0).fit(X)
        assert fitted.basis_.rank == 1
        assert fitted.transform(X).shape[1] == len(fitted.indices_)

    def test_constant_and_duplicate_columns_and_rows(self, selector, data):
        X, y = data
        X[:, 0] = 1.0
        X[:, 1] = 0.0
        X[:, 2] = X[:, 3]
        X[4] = X[5]
        y[4] = y[5]
        fitted = selector(60, random_state=0).fit(X, y)
        if selector in (BSSSelector, LeverageScoreSelector):
            assert 1 not in fitted.indices_
        assert len(fitted.indices_) == len(set(fitted.indices_.tolist()))

    def test_columns_of_extreme_scales(self, selector, data):
        """A huge column is chosen where nothing is left to chance, and does not hide the others."""
        X, _ = data
        X[:, 7] *= 1e150
        X[:, 8] *= 1e-150
        fitted = selector(20, supervised=False, random_state=0).fit(X)
        assert np.isfinite(fitted.scales_).all()
        assert len(fitted.indices_) > 1
        if selector in (BSSSelector, RRQRSelector):
            assert 7 in fitted.indices_

    def test_tiny_values_are_no_problem_for_an_svm(self, selector, data):
        X, y = data
        fitted = selector(60, random_state=0).fit(X * 1e-150, y)
        assert np.isfinite(fitted.transform(X)).all()

    @pytest.mark.parametrize("factor", [1e-300, 1e300])
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_weights_of_rows_do_not_lead_out_of_range(self, selector, factor, form, data):
        X, weights = data[0], np.geomspace(1e-8, 1e20, 30)
        options = {"supervised": False, "random_state": 0}
        fitted = selector(60, **options).fit(form(X * factor), sample_weight=weights)
        expected = selector(60, **options).fit(form(X), sample_weight=weights)
        np.testing.assert_array_equal(fitted.indices_, expected.indices_)

    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    @pytest.mark.parametrize("basis", ["exact", "sketch"])
    @pytest.mark.parametrize("in_blocks", [False, True])
    # Scikit-learn sums the values up to see whether they are finite.
    @pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
    def test_values_near_the_largest_number(self, selector, form, basis, in_blocks, data):
        """The right answer, or the true reason why there is none; never talk of missing values."""
        X = data[0] / np.abs(data[0]).max()
        options = {"supervised": False, "random_state": 0, "basis": basis}
        options["n_components"] = 9 if basis == "sketch" else None
        expected = selector(60, **options).fit(X)

        def fitted(largest):
            rows = form(X * largest)
            return selector(60, **options).fit(ArrayBlocks(rows, n_rows=7) if in_blocks else rows)

        for largest in (1e300, 1e305):
            np.testing.assert_array_equal(fitted(largest).indices_, expected.indices_)
        with pytest.raises(ValueError, match=r"overflow\. Scale X first"):
            fitted(1.7e308)

    def test_small_integers_do_not_overflow(self, selector, rng):
        X = rng.integers(-127, 128, size=(20, 80)).astype(np.int8)
        y = np.arange(20) % 2
        fits = [
            selector(40, random_state=0).fit(form, y)
            for form in (X, X.astype(float), sparse.csr_array(X))
        ]
        for fitted in fits[1:]:
            np.testing.assert_array_equal(fitted.indices_, fits[0].indices_)
        np.testing.assert_allclose(fits[0].transform(X), fits[1].transform(X.astype(float)))

    def test_memory_maps_are_read_and_left_alone(self, selector, data, tmp_path):
        X, y = data
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        fitted = selector(20, random_state=0).fit(mapped, y)
        np.testing.assert_array_equal(
            fitted.indices_, selector(20, random_state=0).fit(X, y).indices_
        )

    def test_untidy_sparse_data(self, selector, data):
        """Halves of entries in reverse order, explicit zeros, 64-bit indices, an empty row."""
        X, y = data
        X = np.where(np.abs(X) > 0.7, X, 0.0)
        X[6] = 0.0
        rows, columns = np.nonzero(X)
        values = X[rows, columns]
        order = np.argsort(-(rows * 1000 + columns))
        rows, columns, values = rows[order], columns[order], values[order]
        sorter = np.argsort(np.r_[rows, rows, [0]], kind="stable")
        untidy = sparse.csr_array(
            (
                np.r_[values / 2, values / 2, [0.0]][sorter],
                np.r_[columns, columns, [5]][sorter].astype(np.int64),
                np.r_[0, np.cumsum(np.bincount(np.r_[rows, rows, [0]], minlength=30))].astype(
                    np.int64
                ),
            ),
            shape=X.shape,
        )
        untidy.indices, untidy.indptr = (
            untidy.indices.astype(np.int64),
            untidy.indptr.astype(np.int64),
        )
        before = [a.copy() for a in (untidy.data, untidy.indices, untidy.indptr)]
        np.testing.assert_allclose(untidy.toarray(), X)
        fitted = selector(60, random_state=0).fit(untidy, y)
        np.testing.assert_array_equal(
            fitted.indices_, selector(60, random_state=0).fit(sparse.csr_array(X), y).indices_
        )
        for array, copy in zip((untidy.data, untidy.indices, untidy.indptr), before, strict=True):
            np.testing.assert_array_equal(array, copy)
            assert array.dtype == copy.dtype


@pytest.fixture
def untrainable(monkeypatch):
    """An SVM that must not be trained, since something else is wrong."""

    def fit(*_, **__):
        raise AssertionError("trained in vain")

    monkeypatch.setattr(SVC, "fit", fit)
    return SVC(kernel="linear")


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features_to_select": -3}, "'n_features_to_select'.*must be an int"),
        ({"epsilon": 2}, "epsilon"),
        ({"supervised": "yes"}, "'supervised'.*must be an instance of 'bool'"),
        ({"basis": "qr"}, "'basis'.*must be a str among"),
        ({"n_components": -1}, r"'n_components'.*range \[1, inf\) or None. Got -1"),
        ({"rescale": 2}, "'rescale'.*must be"),
        ({"estimator": SVC()}, "got SVC with kernel='rbf'. Use kernel='linear'"),
        ({"estimator": SVR(kernel="linear")}, "cannot be chosen or certified for SVR"),
        ({"estimator": LinearSVC(C=0)}, "C of LinearSVC must be a finite positive number; got 0"),
        ({"estimator": LinearSVC(class_weight={1: 0})}, r"class_weight .* class 1 the weight 0"),
        ({"estimator": SVC(kernel="linear", class_weight={0: np.nan})}, r"class 0 the weight nan"),
    ],
)
def test_bad_parameters_are_found_before_any_work(selector, parameters, message, untrainable):
    """The data, no less wrong, are not even looked at."""
    with pytest.raises(ValueError, match=message):
        selector(**{"estimator": untrainable, **parameters}).fit("no data", None)


def test_a_bad_guarantee_is_found_before_any_work():
    with pytest.raises(ValueError, match=r"'guarantee'.*must be a str among"):
        BSSSelector(guarantee="all").fit("no data", None)


@pytest.mark.parametrize("order", [np.ones(7), np.full(120, np.nan), np.full(120, np.inf)])
def test_a_bad_order_is_found_before_the_svm_is_trained(order, data, untrainable):
    X, y = data
    with pytest.raises(ValueError, match=r"order .*(each of the 120 features|no usable scores)"):
        BSSSelector(20, order=order, estimator=untrainable).fit(X, y)
    for rows in (X, ArrayBlocks(X, n_rows=10)):
        with pytest.raises(ValueError, match="order"):
            BSSSelector(20, order=order, supervised=False).fit(rows)


def test_bad_parameters_of_lpsvm_are_found_before_any_work():
    with pytest.raises(ValueError, match=r"'C' parameter of LPSVMSelector must be .* Got -1"):
        LPSVMSelector(-1).fit("no data", None)


@pytest.mark.parametrize("rows", ["support", "all"])
@pytest.mark.parametrize(
    ("svm", "message"),
    [
        (SVC(), "got SVC with kernel='rbf'. Use kernel='linear'"),
        (SVR(kernel="linear"), "cannot be chosen or certified for SVR"),
        (LinearSVC(C=-1), "C of LinearSVC must be a finite positive number; got -1"),
        (LinearSVC(class_weight={0: 0.0}), r"class_weight .* class 0 the weight 0\.0"),
    ],
)
def test_certify_refuses_an_estimator_before_any_work(rows, svm, message):
    with pytest.raises(ValueError, match=message):
        certify("no data", None, [0], estimator=svm, rows=rows)
    selector = RandomSelector(3, supervised=False).fit(np.eye(5)).set_params(estimator=svm)
    with pytest.raises(ValueError, match=message):
        certify("no data", None, selector, rows=rows)


@pytest.mark.parametrize("weight", [0, 0.0, -1.0, np.nan, np.inf, None])
def test_weights_of_classes_are_positive(weight, data):
    X, y = data
    svm = LinearSVC(class_weight={1: weight})
    with pytest.raises(ValueError, match=r"class 1 the weight .* leave them out"):
        cascade(ArrayBlocks(X, y, n_rows=10), svm)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame])
class TestAColumnOfLabels:
    """They are taken for what they are, with scikit-learn's warning."""

    @pytest.mark.parametrize("selector", [*SELECTORS, LPSVMSelector])
    def test_selectors(self, selector, form, data):
        X, y = data
        options = {} if selector is LPSVMSelector else {"n_features_to_select": 20}
        if "random_state" in selector().get_params():
            options["random_state"] = 0
        with pytest.warns(DataConversionWarning, match="column-vector y"):
            fitted = selector(**options).fit(X, form(y[:, None]))
        expected = selector(**options).fit(X, y)
        np.testing.assert_array_equal(fitted.indices_, expected.indices_)

    @pytest.mark.parametrize("rows", ["support", "all"])
    def test_certify(self, rows, form, data):
        X, y = data
        with pytest.warns(DataConversionWarning, match="column-vector y"):
            certificate = certify(X, form(y[:, None]), [0, 1, 2], rows=rows)
        assert certificate == certify(X, y, [0, 1, 2], rows=rows)

    def test_two_columns_are_refused(self, form, data):
        X, y = data
        labels = form(np.column_stack([y, y]))
        for call in (lambda: BSSSelector(20).fit(X, labels), lambda: certify(X, labels, [0])):
            with pytest.raises(ValueError, match="y should be a 1d array"):
                call()


DATES = pd.date_range("2020-02-27", periods=30)
AGES = DATES - DATES[0]
TABLE = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 3)), columns=list("abc"))
LABELS = np.arange(30) % 2
ALL_DATES = np.column_stack([DATES.values] * 7)
ONE, BOTH = r"in column 'when', and", r"in columns 'when', 'age', and"
# What has such columns, and which of them are named.
TEMPORAL = {
    "array of dates": (ALL_DATES, "in columns 0, 1, 2, 3, 4 and 2 more, and"),
    "array of durations": (ALL_DATES[:, :2] - ALL_DATES[0, 0], "in columns 0, 1, and"),
    "array of objects": (TABLE.assign(when=list(DATES)).to_numpy(object), "in column 3, and"),
    "NumPy's objects": (TABLE.astype(object).assign(when=list(DATES.values)).values, "in column 3"),
    "pandas dates": (TABLE.assign(when=DATES), ONE),
    "pandas time zone": (TABLE.assign(when=DATES.tz_localize("UTC")), ONE),
    "pandas durations": (TABLE.assign(when=AGES), ONE),
    "pandas both": (TABLE.assign(when=DATES, age=AGES), BOTH),
    "pandas objects": (TABLE.assign(when=DATES.date), ONE),
    "pandas Arrow": (TABLE.assign(when=pd.array(DATES.date, dtype="date32[pyarrow]")), ONE),
    "pandas nothing else": (pd.DataFrame({"when": DATES, "age": AGES}), BOTH),
    "pandas same name": (pd.concat([TABLE, DATES.to_frame(name="a")], axis=1), "in column 'a'"),
    "polars dates": (pl.DataFrame({"a": LABELS, "when": DATES.date.tolist()}), ONE),
    "polars both": (
        pl.DataFrame(
            {
                "when": DATES.to_pydatetime().tolist(),
                "a": LABELS,
                "age": [timedelta(days=day) for day in range(30)],
            }
        ),
        BOTH,
    ),
}


@pytest.mark.parametrize("form", TEMPORAL)
@pytest.mark.parametrize(
    "call",
    [
        lambda X: BSSSelector(1).fit(X, LABELS),
        lambda X: BSSSelector(1, supervised=False).fit(X),
        lambda X: LPSVMSelector().fit(X, LABELS),
        lambda X: SelectorCV(sizes=[1], cv=2).fit(X, LABELS),
        lambda X: certify(X, LABELS, [0]),
        lambda X: new_data_errors(X, LABELS, BSSSelector(1)),
        lambda X: compare(X, LABELS, [1], n_jobs=1),
    ],
    ids=["fit", "unsupervised", "lpsvm", "cv", "certify", "new data", "compare"],
)
def test_dates_are_refused_by_name(call, form):
    X, named = TEMPORAL[form]
    with pytest.raises(ValueError, match=rf"dates, times or durations {named}.* days since a date"):
        call(X)


def test_dates_are_refused_when_they_come_later():
    selector = BSSSelector(2).fit(TABLE, LABELS)
    with pytest.raises(ValueError, match="durations in column 'b', and"):
        selector.transform(TABLE.assign(b=DATES))


@pytest.mark.parametrize(
    ("blocks", "named"),
    [
        (ArrayBlocks(ALL_DATES[:, :2], LABELS), "in columns 0, 1, and"),
        (dd.from_pandas(TABLE.assign(when=DATES), npartitions=2), ONE),
    ],
)
def test_dates_in_blocks_are_refused(blocks, named):
    with pytest.raises(ValueError, match=named):
        BSSSelector(1, supervised=False).fit(blocks)


def test_numbers_among_python_objects_are_numbers():
    plain = BSSSelector(2).fit(TABLE, LABELS).indices_
    for X in (TABLE.astype(object), TABLE.astype(object).to_numpy()):
        np.testing.assert_array_equal(BSSSelector(2).fit(X, LABELS).indices_, plain)
