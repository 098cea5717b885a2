"""The selectors as scikit-learn estimators."""

import pickle
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import skops.io
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import f_classif
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version
from threadpoolctl import threadpool_limits

import certifeature
from certifeature import (
    BestSubsetSelector,
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
    SelectorCV,
    certify,
)
from certifeature.basis import exact_basis
from certifeature.basis.span import BasisFacts
from certifeature.models import feature_weights, stable_scores
from certifeature.models.support import fit_model, support_rows
from certifeature.rows import ArrayBlocks

OLD_SKLEARN = parse_version(sklearn.__version__) < parse_version("1.9")
SELECTORS = [BSSSelector, LeverageScoreSelector, RRQRSelector, RandomSelector]


@pytest.fixture
def wide():
    """40 rows and 300 features, so that every selector has something to leave out."""
    return make_classification(40, 300, n_informative=20, random_state=0)


@pytest.fixture
def three_classes():
    return make_classification(
        60, 200, n_informative=12, n_classes=3, n_clusters_per_class=1, random_state=0
    )


@pytest.mark.slow
@parametrize_with_checks(
    [
        *(selector() for selector in SELECTORS),
        BSSSelector(3, supervised=False, order="leverage"),
        BSSSelector(0.5, order="coef", estimator=LinearSVC(), rescale=False),
        BestSubsetSelector(),
    ]
)
@pytest.mark.filterwarnings("ignore:.*all are kept:UserWarning")
@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.filterwarnings("ignore:SCIPY_ARRAY_API")
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("supervised", [True, False])
def test_sparse_and_dense_pick_the_same(selector, supervised, wide):
    X, y = wide
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    # By default dense rows are centred, which sparse ones are not.
    options = {"supervised": supervised, "random_state": 0, "estimator": LinearSVC()}
    reference = selector(80, **options).fit(X, y)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_matrix, np.asfortranarray):
        fitted = selector(80, **options).fit(form(X), y)
        np.testing.assert_array_equal(fitted.indices_, reference.indices_)
        np.testing.assert_allclose(fitted.scales_, reference.scales_, rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("selector", SELECTORS)
def test_sparse_and_dense_pick_the_same_of_duplicated_columns(selector, seed):
    rng = np.random.default_rng(seed)
    few = rng.standard_normal((rng.integers(5, 60), rng.integers(3, 60)))
    if selector is RRQRSelector:
        few *= 10 ** rng.uniform(-3, 3, few.shape[1])
    X = np.hstack([few, few[:, ::-1], -few])
    size = int(rng.integers(1, X.shape[1]))
    chosen = [
        selector(size, supervised=False, random_state=0).fit(form(X)).indices_
        for form in (np.asarray, sparse.csr_array, np.asfortranarray)
    ]
    np.testing.assert_array_equal(chosen[1], chosen[0])
    np.testing.assert_array_equal(chosen[2], chosen[0])


@pytest.mark.parametrize("selector", SELECTORS)
def test_thread_count_does_not_matter(selector, wide):
    X, y = wide
    fits = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fits.append(selector(80, random_state=0).fit(X, y))
    np.testing.assert_array_equal(fits[0].indices_, fits[1].indices_)
    np.testing.assert_allclose(fits[0].scales_, fits[1].scales_, rtol=1e-6)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
@pytest.mark.parametrize("selector", SELECTORS)
def test_unsupervised_selection_does_not_depend_on_the_scale_of_the_data(selector, factor, wide):
    X, _ = wide
    fits = [
        selector(80, supervised=False, rescale="each", random_state=0).fit(X * scale)
        for scale in (1.0, factor)
    ]
    np.testing.assert_array_equal(fits[0].indices_, fits[1].indices_)
    np.testing.assert_allclose(fits[0].scales_, fits[1].scales_, rtol=1e-6)


@pytest.mark.parametrize("order", ["stable", "coef", "leverage"])
def test_guarantee_holds_on_the_support_rows(order, wide):
    X, y = wide
    selector = BSSSelector(120, order=order, trust=0, rescale="each").fit(X, y)
    rows = X[selector.support_rows_]
    # The intercept of the default model is free, so that rows count less their mean.
    basis = exact_basis(rows - rows.mean(axis=0))
    assert selector.basis_ == BasisFacts(
        "exact", len(selector.support_rows_), basis.rank, basis.rank, exact=True
    )
    chosen = basis.vectors[selector.indices_] * selector.scales_[:, None]
    spectrum = np.linalg.eigvalsh(chosen.T @ chosen)
    ratio = np.sqrt(basis.rank / 120)
    assert (1 - ratio) ** 2 <= spectrum[0] <= spectrum[-1] <= (1 + ratio) ** 2


@pytest.mark.parametrize("epsilon", [0.5, 0.8])
@pytest.mark.parametrize("selector", SELECTORS)
def test_automatic_size_keeps_its_promise(selector, epsilon, rng):
    X = rng.standard_normal((5, 3000))
    fitted = selector("certified", epsilon=epsilon, supervised=False, random_state=0).fit(X)
    assert 5 <= fitted.n_features_to_select_ < 3000
    chosen = exact_basis(X).vectors[fitted.indices_] * fitted.scales_[:, None]
    assert np.linalg.eigvalsh(chosen.T @ chosen)[0] >= 1 - epsilon


@pytest.mark.parametrize("order", ["leverage", "cover"])
def test_certified_size_needs_no_more_than_the_proven_bound(order, rng):
    X = rng.standard_normal((5, 3000))
    paper = {"supervised": False, "rescale": "each", "order": order}
    fitted = BSSSelector("certified", epsilon=0.5, **paper).fit(X)
    proven = int(np.ceil(5 / (1 - np.sqrt(0.5)) ** 2))
    assert fitted.n_features_to_select_ <= proven == 59
    fewer = BSSSelector(int(0.9 * fitted.n_features_to_select_), **paper).fit(X)
    assert fewer.certificate_.lambda_min < 0.5 <= fitted.certificate_.lambda_min


def test_rrqr_certified_size_is_about_the_smallest(rng):
    X = rng.standard_normal((5, 300))
    fitted = RRQRSelector("certified", supervised=False, rescale=False).fit(X)
    vectors = exact_basis(X).vectors
    pivots = RRQRSelector(299, supervised=False).fit(X).indices_
    sizes = range(5, 300)
    kept = [np.linalg.eigvalsh(vectors[pivots[:n]].T @ vectors[pivots[:n]])[0] for n in sizes]
    fewest = next(n for n, smallest in zip(sizes, kept, strict=True) if smallest >= 0.5)
    assert fewest <= fitted.n_features_to_select_ <= fewest * 1.1 + 1


@pytest.mark.parametrize("selector", SELECTORS)
def test_size_may_be_a_number_or_a_fraction(selector, wide):
    X, y = wide
    assert selector(60, random_state=0).fit(X, y).n_features_to_select_ == 60
    assert selector(0.25, random_state=0).fit(X, y).n_features_to_select_ == 75
    assert selector(np.int64(60), random_state=0).fit(X, y).n_features_to_select_ == 60


@pytest.mark.parametrize("n_features_to_select", [300, 1000, 1.0])
@pytest.mark.parametrize("selector", SELECTORS)
def test_asking_for_all_keeps_all_with_one_warning(selector, n_features_to_select, wide):
    X, y = wide
    with pytest.warns(UserWarning, match="X has 300: all are kept") as caught:
        fitted = selector(n_features_to_select).fit(X, y)
    # Another warning is about the scales of the columns.
    assert sum("all are kept" in str(warning.message) for warning in caught) == 1
    np.testing.assert_array_equal(fitted.transform(X), X)
    assert fitted.n_features_to_select_ == 300


def test_certified_size_beyond_the_data_says_so(wide):
    X, y = wide
    with pytest.warns(UserWarning, match=r"epsilon=0.001 takes \d+ features and X has 300"):
        BSSSelector("certified", epsilon=0.001, rescale="each").fit(X, y)


def test_few_features_cut_the_basis_and_the_facts_say_so(wide):
    X, y = wide
    svm = SVC(kernel="linear")
    selector = BSSSelector(20, estimator=svm).fit(X, y)
    facts = selector.basis_
    assert (facts.kind, facts.exact) == ("truncated", False)
    assert facts.n_components < 20 <= facts.rank
    with pytest.raises(ValueError, match=rf"n_features_to_select=20 .* {facts.rank}"):
        BSSSelector(20, estimator=svm, basis="exact").fit(X, y)
    assert BSSSelector(20, basis="exact").fit(X, y).basis_.exact


def test_one_feature_is_served(wide):
    X, y = wide
    svm = SVC(kernel="linear")
    selector = BSSSelector(1, estimator=svm, order="coef", trust=0, rescale="each").fit(X, y)
    vectors = exact_basis(X[selector.support_rows_]).vectors
    shares = vectors[:, 0] ** 2 / (vectors**2).sum(axis=1)
    visible = shares >= 0.1 * shares.max()
    assert selector.indices_ == [np.argmax(np.where(visible, selector.scores_, 0))]
    np.testing.assert_allclose(selector.scales_ * np.abs(vectors[selector.indices_, 0]), 1)
    trusted = BSSSelector(1, order="coef").fit(X, y)
    assert trusted.indices_ == [np.argmax(trusted.scores_)]


def test_kinds_of_basis(wide, small_limits):
    X, y = wide
    facts = BSSSelector(60, basis="truncated", n_components=7).fit(X, y).basis_
    assert (facts.kind, facts.n_components, facts.exact) == ("truncated", 7, False)
    facts = BSSSelector(60, basis="sketch", n_components=7, random_state=0).fit(X, y).basis_
    assert (facts.kind, facts.n_components, facts.rank) == ("sketch", 7, None)
    facts = BSSSelector(60, n_components=7).fit(X, y).basis_
    assert (facts.kind, facts.n_components) == ("truncated", 7)
    small_limits(MAX_GRAM_UNASKED=5)
    facts = BSSSelector(60, n_components=7, random_state=0).fit(X, y).basis_
    assert (facts.kind, facts.n_components) == ("sketch", 7)


def test_unsupervised_ignores_labels(wide):
    X, y = wide
    blind = BSSSelector(80, supervised=False).fit(X)
    np.testing.assert_array_equal(
        BSSSelector(80, supervised=False).fit(X, y).indices_, blind.indices_
    )
    assert blind.estimator_ is None
    np.testing.assert_array_equal(blind.support_rows_, np.arange(40))


@pytest.mark.parametrize("svm", [SVC(kernel="linear"), LinearSVC(C=0.01), None])
def test_multiclass_takes_the_support_of_every_problem(svm, three_classes):
    X, y = three_classes
    selector = BSSSelector(150, estimator=svm, random_state=0).fit(X, y)
    assert set(y[selector.support_rows_]) == {0, 1, 2}
    if isinstance(svm, SVC):
        np.testing.assert_array_equal(selector.support_rows_, np.sort(selector.estimator_.support_))


def test_order_may_be_an_array_or_a_callable(wide):
    X, y = wide
    scores = np.nan_to_num(f_classif(X, y)[0])
    by_array = BSSSelector(80, order=scores).fit(X, y)
    np.testing.assert_array_equal(by_array.scores_, scores)
    seen = {}

    def score(rows, labels):
        seen["shape"], seen["labels"] = rows.shape, labels
        return f_classif(rows, labels)

    by_callable = BSSSelector(80, order=score).fit(X, y)
    assert seen["shape"] == (len(by_callable.support_rows_), 300)
    np.testing.assert_array_equal(seen["labels"], y[by_callable.support_rows_])
    unsupervised = BSSSelector(80, order=lambda rows, _: rows.std(axis=0), supervised=False)
    np.testing.assert_allclose(unsupervised.fit(X).scores_, X.std(axis=0))


def test_scale_of_rrqr_keeps_directions_on_average(wide):
    X, _ = wide
    selector = RRQRSelector(60, supervised=False, rescale="each").fit(X)
    chosen = exact_basis(X).vectors[selector.indices_] * selector.scales_[:, None]
    assert np.linalg.eigvalsh(chosen.T @ chosen).mean() == pytest.approx(1)


def test_plain_columns_are_those_of_x(wide):
    X, y = wide
    for selector in SELECTORS:
        fitted = selector(80, rescale=False, random_state=0).fit(X, y)
        assert (fitted.scales_ == 1).all()
        np.testing.assert_array_equal(fitted.transform(X), X[:, fitted.get_support()])
        scaled = selector(80, random_state=0).fit(X, y)
        np.testing.assert_array_equal(scaled.indices_, fitted.indices_)


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("selector", SELECTORS)
def test_plain_columns_keep_their_type(selector, form, kind, rng):
    X = rng.integers(0, 100, size=(20, 30)).astype(kind)
    X[:, ::3] = 0
    data, plain = form(X), {"supervised": False, "rescale": False, "random_state": 0}
    fitted = selector(12, **plain).fit(data)
    reduced = fitted.transform(data)
    restored = fitted.inverse_transform(reduced)
    assert reduced.dtype == restored.dtype == kind
    assert type(reduced) is type(data)
    if sparse.issparse(data):
        reduced, restored = reduced.toarray(), restored.toarray()
    np.testing.assert_array_equal(reduced, X[:, fitted.get_support()])
    np.testing.assert_array_equal(restored, np.where(fitted.get_support(), X, kind(0)))
    fitted.set_params(rescale=True)
    assert fitted.transform(data).dtype in (np.float32, np.float64)


def test_plain_columns_of_a_data_frame_keep_their_types(rng):
    frame = pd.DataFrame(
        {f"c{j}": rng.integers(0, 2, 20).astype(kind) for j, kind in enumerate([bool, "i2", "f4"])}
    )
    selector = RandomSelector(2, supervised=False, rescale=False, random_state=0)
    reduced = selector.set_output(transform="pandas").fit_transform(frame)
    pd.testing.assert_frame_equal(reduced, frame.loc[:, selector.get_support()])
    assert isinstance(selector.set_output(transform="default").transform(frame), np.ndarray)
    with pytest.raises(ValueError, match="NaN"):
        selector.set_output(transform="pandas").transform(frame.assign(c2=np.nan))


def test_plain_columns_are_not_those_of_a_scaled_choice(wide):
    """What was learnt decides: to turn the scales off takes another fit."""
    X, y = wide
    fitted = BSSSelector(80).fit(X, y)
    expected = fitted.transform(X)
    np.testing.assert_array_equal(fitted.set_params(rescale=False).transform(X), expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_transform_scales_and_inverse_transform_undoes_it(form, wide):
    X, y = wide
    data = form(X)
    for selector in SELECTORS:
        fitted = selector(80, random_state=0).fit(data, y)
        reduced = fitted.transform(data)
        restored = fitted.inverse_transform(reduced)
        if sparse.issparse(data):
            assert type(reduced) is type(data)
            reduced, restored = reduced.toarray(), restored.toarray()
        order = np.argsort(fitted.indices_)
        expected = X[:, fitted.indices_[order]] * fitted.scales_[order]
        np.testing.assert_allclose(reduced, expected)
        np.testing.assert_allclose(restored, np.where(fitted.get_support(), X, 0.0))


def test_inverse_transform_wants_what_transform_gave(wide):
    X, y = wide
    with pytest.raises(ValueError, match="300 columns, but"):
        BSSSelector(80).fit(X, y).inverse_transform(X)


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_in_and_out(library, selector, wide):
    X, y = wide
    names = [f"gene {i}" for i in range(300)]
    if library == "pandas":
        frame = pd.DataFrame(X, columns=names)
    else:
        frame = pl.DataFrame(X, schema=names)
        if OLD_SKLEARN and not hasattr(frame, "__dataframe__"):
            pytest.skip("scikit-learn before 1.9 cannot read the names of polars columns")
    fitted = selector(80, random_state=0).set_output(transform=library).fit(frame, y)
    reduced = fitted.transform(frame)
    assert type(reduced) is type(frame)
    assert list(reduced.columns) == list(fitted.get_feature_names_out())
    np.testing.assert_array_equal(
        fitted.get_feature_names_out(), np.array(names)[fitted.get_support()]
    )


def test_pipeline_grid_search_and_clone(wide):
    X, y = wide
    pipeline = make_pipeline(StandardScaler(), BSSSelector(order="coef"), LinearSVC(random_state=0))
    grid = {
        "bssselector__n_features_to_select": [1, 20, 0.3],
        "bssselector__rescale": ["common", "each", False],
    }
    search = GridSearchCV(pipeline, grid, cv=3)
    search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert clone(search.best_estimator_).fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize("selector", SELECTORS)
def test_pickle_and_skops_round_trips(selector, wide):
    X, y = wide
    fitted = selector(80, random_state=0).fit(X, y)
    dumped = skops.io.dumps(fitted)
    trusted = skops.io.get_untrusted_types(data=dumped)
    assert all(name.startswith("certifeature.") for name in trusted)
    for copy in (pickle.loads(pickle.dumps(fitted)), skops.io.loads(dumped, trusted=trusted)):
        np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))
        assert copy.basis_ == fitted.basis_


def test_html_representation_shows_the_parameters(wide):
    X, y = wide
    html = BSSSelector(80, estimator=SVC(kernel="linear")).fit(X, y)._repr_html_()
    assert "n_features_to_select" in html
    assert "SVC" in html


def test_a_pipeline_shows_the_progress_of_its_selector(wide, capsys):
    callback = pytest.importorskip("sklearn.callback", reason="new in scikit-learn 1.9")
    X, y = wide
    pipeline = make_pipeline(BSSSelector(80), SVC(kernel="linear"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SVC itself supports no callbacks.
        pipeline.set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "BSSSelector - fit" in capsys.readouterr().out


def test_rows_of_weight_zero_do_not_exist(wide):
    X, y = wide
    weights = np.ones(40)
    weights[:10] = 0
    weighted = BSSSelector(80).fit(X, y, sample_weight=weights)
    without = BSSSelector(80).fit(X[10:], y[10:])
    np.testing.assert_array_equal(weighted.indices_, without.indices_)
    np.testing.assert_array_equal(weighted.support_rows_, without.support_rows_ + 10)


def test_a_row_of_tiny_weight_still_counts(rng):
    X = np.zeros((20, 200))
    X[:10, :100] = rng.standard_normal((10, 100))
    X[10:, 100:] = rng.standard_normal((10, 100))
    weights = np.repeat([1e-32, 1.0], 10)
    selector = BSSSelector(60, supervised=False).fit(X, sample_weight=weights)
    assert selector.basis_.rank == 20
    assert selector.certificate_.lambda_min > 0


@pytest.mark.parametrize("order", ["coef", "stable"])
def test_sample_weight_reaches_every_svm(order, rng):
    X, y = make_classification(100, 120, n_informative=10, flip_y=0.1, random_state=0)
    weights = rng.exponential(size=100)
    svm = SVC(kernel="linear", C=0.01)
    selector = BSSSelector(110, order=order, estimator=svm).fit(X, y, sample_weight=weights)
    direct = fit_model(clone(svm), X, y, weights)
    np.testing.assert_allclose(selector.estimator_.coef_, direct.coef_)
    rows = selector.support_rows_
    expected = (
        feature_weights(direct)
        if order == "coef"
        else stable_scores(
            direct, X[rows], y[rows], weights[rows], seed=selector._checked(X, y).seed
        )
    )
    np.testing.assert_allclose(selector.scores_, expected)
    unweighted = BSSSelector(110, order=order, estimator=svm).fit(X, y)
    assert (unweighted.scores_ != selector.scores_).any()


def test_columns_outside_a_cut_basis_get_no_enormous_scale(rng):
    X, y = make_classification(60, 500, n_informative=20, random_state=0)
    for size in (3, 10, 30):
        selector = BSSSelector(size, trust=0, rescale="each").fit(X, y)
        whole = exact_basis(X[selector.support_rows_]).vectors
        leading = whole[:, : selector.basis_.n_components]
        shares = (leading**2).sum(axis=1) / (whole**2).sum(axis=1)
        faint = shares < 0.1 * shares.max() - 1e-9
        assert not faint[selector.indices_].any()


def test_support_of_one_class_only_is_ranked_by_all_rows():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 30)) + 1, -rng.normal(size=(60, 30)) * 0.1 - 100])
    y = np.repeat([1, 0], 60)
    svm = LinearSVC(dual=True, random_state=0, max_iter=100_000)
    for order in ("stable", f_classif):
        selector = BSSSelector(25, order=order, estimator=svm).fit(X, y)
        assert set(y[selector.support_rows_]) == {1}
        assert np.isfinite(selector.scores_).sum() > 1


def test_default_svm_finds_the_support_of_many_rows():
    X, y = make_classification(1100, 300, n_informative=20, class_sep=2, random_state=1)
    selector = BSSSelector(200, random_state=0).fit(X, y)
    tight = selector.estimator_.set_params(tol=1e-9).fit(X, y)
    assert np.isin(support_rows(tight, X, y), selector.support_rows_).mean() > 0.99


def test_metadata_routing_inside_a_pipeline(wide):
    X, y = wide
    weights = np.where(np.arange(40) < 10, 0.0, 1.0)
    direct = BSSSelector(80).fit(X, y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False),
            BSSSelector(80).set_fit_request(sample_weight=True),
            SVC(kernel="linear").set_fit_request(sample_weight=False),
        ).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(routed[1].indices_, direct.indices_)
    plain = make_pipeline(BSSSelector(80), SVC(kernel="linear"))
    plain.fit(X, y, bssselector__sample_weight=weights)
    np.testing.assert_array_equal(plain[0].indices_, direct.indices_)


def test_selection_is_useful(wide):
    """A sanity check that errors of sign or alignment cannot pass."""
    X, y = make_classification(200, 400, n_informative=15, class_sep=2, random_state=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good = cross_val_score(make_pipeline(BSSSelector(60), SVC(kernel="linear")), X, y).mean()
        floor = cross_val_score(
            make_pipeline(RandomSelector(60, random_state=0), SVC(kernel="linear")), X, y
        ).mean()
    assert good > floor + 0.05


def test_a_fitted_selector_keeps_the_rows_that_matter_and_no_others():
    X, y = make_classification(1500, 40, n_informative=10, class_sep=2.0, random_state=0)
    selector = BSSSelector(20, random_state=0).fit(X, y)
    share = len(selector.support_rows_) / 1500
    assert share < 0.9
    assert len(pickle.dumps(selector)) < X.nbytes * (share + 0.1)


ESTIMATORS = {
    **{selector.__name__: selector(20) for selector in SELECTORS},
    "BSSSelector of groups": BSSSelector(20, feature_groups=lambda name: name[:3]),
    "BSSSelector for all rows": BSSSelector(20, guarantee="full"),
    "SelectorCV": SelectorCV(sizes=[5, 20], cv=2),
    "BestSubsetSelector": BestSubsetSelector(20),
    "LPSVMSelector": LPSVMSelector(),
}


class TestFailedFits:
    """A fit that fails or is interrupted leaves the earlier one whole."""

    def test_every_public_estimator_is_looked_at(self):
        public = [getattr(certifeature, name) for name in certifeature.__all__]
        estimators = {each for each in public if hasattr(each, "fit")}
        assert estimators == {type(estimator) for estimator in ESTIMATORS.values()}

    @pytest.mark.slow
    @pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_in_the_middle(self, name, error, wide):
        X, y = wide
        first = pd.DataFrame(X[:, :60], columns=[f"f{j:02}" for j in range(60)])
        other = pd.DataFrame(X, columns=[f"g{j:03}" for j in range(300)])
        selector = clone(ESTIMATORS[name]).fit(first, y)
        before, expected = dict(vars(selector)), selector.transform(first)
        # The first fit of a process also calls what is called once only, such as imports.
        _interrupted(clone(selector), (other, y), None, error)
        n_calls = _interrupted(clone(selector), (other, y), None, error)
        n_kept = 0
        for share in (0.0, 0.02, 0.2, 0.6, 0.95, 1.0):
            with suppress(error):
                _interrupted(selector, (other, y), int(share * (n_calls - 1)), error)
            if selector.n_features_in_ == 60:
                n_kept += 1
                assert vars(selector).keys() == before.keys()
                assert all(value is before[key] for key, value in vars(selector).items())
            else:
                # Everything was done, or the library knows what the error means there.
                assert share == 1 or error is ValueError
                assert selector.transform(other).shape == (40, selector.indices_.size)
                selector.__dict__ = dict(before)
        assert n_kept >= 4
        np.testing.assert_array_equal(selector.transform(first), expected)
        certify(first, y, selector)

    @pytest.mark.parametrize("supervised", [True, False])
    def test_in_blocks(self, supervised, wide):
        X, y = wide
        selector = BSSSelector(20, supervised=supervised).fit(ArrayBlocks(X[:, :60], y))
        before = dict(vars(selector))
        damaged = X.copy()
        damaged[30, 7] = np.nan
        with pytest.raises(ValueError, match="block 3 contains NaN"):
            selector.fit(ArrayBlocks(damaged, y, n_rows=10))
        assert vars(selector) == before

    def test_nothing_is_left_of_the_earlier_one(self, wide):
        X, y = wide
        frame = pd.DataFrame(X, columns=[f"g{j:03}" for j in range(300)])
        selector = BSSSelector(20, feature_groups=lambda name: name[:3]).fit(frame, y)
        selector.set_params(feature_groups=None, order="leverage").fit(ArrayBlocks(X, y))
        fresh = BSSSelector(20, order="leverage").fit(ArrayBlocks(X, y))
        assert vars(selector).keys() == vars(fresh).keys()


def _interrupted(selector, data, moment, error):
    """Fit, raise an error at one of the calls of functions of the library, and count these."""
    home, n_calls = str(Path(certifeature.__file__).parent), 0

    def profile(frame, event, _):
        nonlocal n_calls
        if event == "call" and frame.f_code.co_filename.startswith(home):
            n_calls += 1
            if n_calls - 1 == moment:
                raise error

    sys.setprofile(profile)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            selector.fit(*data)
    finally:
        sys.setprofile(None)
    return n_calls
