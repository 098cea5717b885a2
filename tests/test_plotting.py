"""Displays: their data, axes and labels, and what they refuse."""

import sys
from dataclasses import replace
from importlib import import_module

import matplotlib
import numpy as np
import pytest
from estimates import comparison, contender, of_numbers
from scipy import sparse
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, LinearSVC

from certifeature import BSSSelector, LeverageScoreSelector, LPSVMSelector, certify
from certifeature.datasets import make_relevant_features
from certifeature.plotting import CertificateDisplay, ComparisonDisplay, StabilityDisplay

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure


@pytest.fixture(autouse=True)
def _no_traces():
    """Close what a test opened, and see that settings are as they were."""
    settings = dict(matplotlib.rcParams)
    yield
    plt.close("all")
    assert dict(matplotlib.rcParams) == settings


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(60, 300, 20, random_state=0)


@pytest.fixture
def ax():
    """Axes of a user, in a figure that pyplot does not know."""
    return Figure().subplots()


COMPARISON = comparison(
    contender("full data", None, 500, (0.02, 0.04)),
    contender("bss", 10, 10, (0.10, 0.20)),
    contender("bss", 100, 98, (0.01, 0.05)),
    contender("lpsvm", None, 37.5, (0.05, 0.15)),
    contender("random", 10, 10, (0.5, 0.5)),
    contender("random", 100, 100, (0.4, 0.5)),
)


def legend_texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


# Errors


def test_error_curves_are_means_over_folds_at_the_numbers_chosen(ax):
    display = ComparisonDisplay(COMPARISON).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    x, y = display.lines_["bss"].get_data()
    np.testing.assert_allclose(x, [10, 98])
    np.testing.assert_allclose(y, [15, 3])
    assert ax.get_xlabel() == "number of features chosen"
    assert ax.get_ylabel() == "test error (%)"


def test_bands_are_intervals(ax):
    display = ComparisonDisplay(COMPARISON).plot(ax)
    (path,) = display.bands_["bss"].get_paths()
    at_first = path.vertices[path.vertices[:, 0] == 10, 1]
    (error,) = (
        c.performance.error for c in COMPARISON.contenders if (c.method, c.size) == ("bss", 10)
    )
    np.testing.assert_allclose(
        [at_first.min(), at_first.max()], [100 * error.low, 100 * error.high]
    )


def test_floor_full_data_and_methods_with_their_own_number(ax):
    display = ComparisonDisplay(COMPARISON).plot(ax)
    assert display.lines_["random"].get_linestyle() == "--"
    np.testing.assert_allclose(display.lines_["full data"].get_ydata(), 3)
    assert list(display.points_) == ["lpsvm"]
    x, y = display.points_["lpsvm"].lines[0].get_data()
    np.testing.assert_allclose([*x, *y], [37.5, 10])
    assert {"bss", "random features", "all 500 features", "lpsvm (own number)"} == set(
        legend_texts(display)
    )


def test_wide_ranges_have_a_log_axis_with_the_sizes_on_it(ax):
    ComparisonDisplay(COMPARISON).plot(ax)
    assert ax.get_xscale() == "log"
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["10", "100"]


def test_many_methods_differ_in_colour_or_dashes(ax):
    many = comparison(*(contender(f"m{i}", 9, 9, (0.1, 0.2)) for i in range(12)))
    lines = ComparisonDisplay(many).plot(ax).lines_.values()
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 12


@pytest.mark.parametrize("growth", [False, True])
def test_a_comparison_without_methods_is_refused(growth):
    empty = replace(COMPARISON, contenders=COMPARISON.contenders[:1])
    with pytest.raises(ValueError, match="no method but full data"):
        ComparisonDisplay(empty, growth=growth).plot()
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("measure", "label", "shown"),
    [
        ("error", "test error (%)", lambda error: 100 * error),
        ("1 - R2", "R² on test rows", lambda error: 1 - error),
    ],
)
def test_errors_of_numbers_are_drawn_as_what_is_predicted(measure, label, shown, ax):
    compared = COMPARISON if measure == "error" else of_numbers(COMPARISON)
    display = compared.plot(ax)
    assert ax.get_ylabel() == label
    np.testing.assert_allclose(display.lines_["bss"].get_ydata(), shown(np.array([0.15, 0.03])))
    np.testing.assert_allclose(display.lines_["full data"].get_ydata(), shown(0.03))
    np.testing.assert_allclose(display.points_["lpsvm"].lines[0].get_ydata(), shown(0.1))
    ends = sorted(shown(np.array([0.0, 0.25])))
    band = display.bands_["bss"].get_datalim(ax.transData)
    assert ends[0] <= band.y0 <= band.y1 <= ends[1]


def test_a_comparison_draws_its_errors(ax):
    display = COMPARISON.plot(ax, linewidth=3)
    assert isinstance(display, ComparisonDisplay)
    assert display.comparison is COMPARISON
    assert display.lines_["bss"].get_linewidth() == 3
    assert COMPARISON.plot().figure_.number in plt.get_fignums()


# Growth


def with_growth(*growth):
    grown = zip(COMPARISON.contenders, growth, strict=True)
    return replace(COMPARISON, contenders=tuple(replace(c, growth=g) for c, g in grown))


def test_growth_is_drawn_as_it_is_and_what_is_infinite_is_told(ax):
    display = ComparisonDisplay(
        with_growth(1.0, 30.0, 2.5, np.inf, np.inf, 40.0), growth=True
    ).plot(ax)
    assert display.ax_ is ax
    np.testing.assert_array_equal(display.lines_["bss"].get_data(), [[10, 98], [30.0, 2.5]])
    np.testing.assert_array_equal(display.lines_["random"].get_ydata(), [np.nan, 40.0])
    assert np.isnan(display.lines_["lpsvm"].get_ydata()).all()
    assert legend_texts(display) == [
        "bss",
        "lpsvm (own number)\n(none: infinite)",
        "random features\n(none for 1 of 2: infinite)",
    ]
    assert display.legend_.get_title().get_text() == "bound, median of 2 folds"
    assert ax.get_yscale() == "log"
    assert ax.get_xlabel() == "number of features chosen"
    assert ax.get_ylabel() == "growth for any labels, at most (times)"
    # Nothing lost is in view.
    assert ax.get_ylim()[0] < 1


def test_methods_look_the_same_in_both_plots(ax):
    many = comparison(
        *COMPARISON.contenders, *(contender(f"m{i}", 9, 9, (0.1, 0.2)) for i in range(8))
    )
    errors = ComparisonDisplay(many).plot(ax)
    growth = ComparisonDisplay(many, growth=True).plot(Figure().subplots())
    points = {name: container.lines[0] for name, container in errors.points_.items()}
    drawn = (errors.lines_ | points).items() - {("full data", errors.lines_["full data"])}
    assert {name for name, _ in drawn} == set(growth.lines_)
    for name, line in drawn:
        for look in ("color", "marker", "linestyle", "markersize"):
            assert plt.getp(line, look) == plt.getp(growth.lines_[name], look)


def test_growth_of_nothing_proven_can_be_drawn(ax):
    display = ComparisonDisplay(with_growth(1.0, *[np.inf] * 5), growth=True).plot(ax)
    ax.figure.draw_without_rendering()
    assert all("none: infinite" in text for text in legend_texts(display))


# Certificates


def test_layers_nest_and_are_drawn_as_they_are(data, ax):
    X, y = data
    hard = SVC(kernel="linear")
    selector = BSSSelector(estimator=hard, order="cover", rescale="each")
    display = CertificateDisplay.from_estimator(selector, X, y, [100, 160, 240], ax=ax)
    layers = display.layers
    assert list(layers) == ["realised", "measured", "promised"]
    assert (layers["promised"] >= layers["measured"]).all()
    assert (layers["measured"] >= layers["realised"]).all()
    for name, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_data(), [display.n_features, layers[name]])
    assert legend_texts(display) == [
        "realised, for these labels",
        "measured, for any labels",
        "promised, beforehand",
    ]
    assert ax.get_yscale() == "log"
    assert ax.get_xlabel() == "number of features chosen"
    assert ax.get_ylabel() == "growth of the training objective (times)"


@pytest.mark.parametrize(
    "options",
    [{}, {"basis": "sketch", "n_components": 8}, {"guarantee": "full"}, {"supervised": False}],
)
def test_what_the_selector_knows_is_what_certify_finds(data, options, ax):
    X, y = data
    display = CertificateDisplay.from_estimator(BSSSelector(**options), X, y, [80], ax=ax)
    selector = BSSSelector(80, **options).fit(X, y)
    if options.get("guarantee") == "full":
        certificate = certify(selector)
    else:
        rows = "support" if options.get("supervised", True) else "all"
        certificate = certify(X, y, selector, rows=rows)
    for name, (value,) in display.layers.items():
        assert value == pytest.approx(getattr(certificate, f"{name}_growth"), rel=1e-6)


def test_a_selector_that_knows_enough_trains_nothing_again(data, ax, monkeypatch):
    # The module, which has the name of the function in it.
    module = import_module("certifeature.certificate.certify")
    monkeypatch.setattr(module, "find_support", None)
    with pytest.raises(TypeError):
        certify(*data, [0, 1])
    CertificateDisplay.from_estimator(BSSSelector(), *data, [40], ax=ax)


def test_nothing_lost_is_at_the_bottom(data, ax):
    """A growth of 1 is in view, even if no layer comes near to it."""
    svm = LinearSVC(dual=True, random_state=0)
    certificate = certify(*data, np.arange(100), estimator=svm, realised=False)
    assert certificate.measured_growth > 1.5
    CertificateDisplay([certificate]).plot(ax)
    assert 0.5 < ax.get_ylim()[0] < 1


def test_what_is_infinite_or_not_computed_is_not_drawn_but_told(data, ax):
    """Of a loss that is not known all directions may count, which five features do not span."""
    fits = (BSSSelector(k, supervised=False, rescale="each").fit(data[0]) for k in (5, 80))
    display = CertificateDisplay([fit.certificate_ for fit in fits]).plot(ax)
    for name, of in {"measured": "for any labels", "promised": "beforehand"}.items():
        assert np.isinf(display.layers[name]).tolist() == [True, False]
        assert np.isnan(display.lines_[name].get_ydata()).tolist() == [True, False]
        assert f"{name}, {of}\n(none for 1 of 2: infinite)" in legend_texts(display)
    assert "realised, for these labels\n(none: not computed)" in legend_texts(display)


def test_a_log_scale_with_nothing_on_it_can_be_drawn(data, ax):
    certificates = [
        replace(certify(*data, np.arange(size), realised=False), lambda_min=0.0, regularised=None)
        for size in (1, 10)
    ]
    display = CertificateDisplay(certificates).plot(ax)
    ax.figure.draw_without_rendering()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "10"]
    assert legend_texts(display) == [
        "realised, for these labels\n(none: not computed)",
        "measured, for any labels\n(none: infinite)",
    ]


def test_random_promises_say_with_which_probability(ax):
    X, y = make_relevant_features(20, 2000, 10, random_state=0)
    selector = LeverageScoreSelector(estimator=SVC(kernel="linear"), random_state=0)
    display = CertificateDisplay.from_estimator(selector, X, y, [20, 1500], realised=False, ax=ax)
    label = "promised, beforehand\n(probability 0.99)\n(none for 1 of 2: infinite)"
    assert label in legend_texts(display)
    assert "realised, for these labels\n(none: not computed)" in legend_texts(display)


def test_bounds_from_a_random_start_say_with_which_probability(data, ax):
    certificate = certify(*data, np.arange(4), realised=False)
    assert certificate.lambda_min == 0
    random = replace(certificate.regularised, probability=0.99)
    pair = [certificate, replace(certificate, regularised=random)]
    label = "measured, for any labels\n(probability 0.99)"
    assert label in legend_texts(CertificateDisplay(pair).plot(ax))


def test_selectors_of_scikit_learn_are_certified(data, ax):
    rfe = RFE(SVC(kernel="linear"), step=0.5)
    display = CertificateDisplay.from_estimator(rfe, *data, [50, 100], realised=False, ax=ax)
    assert display.n_features.tolist() == [50, 100]
    assert "promised" not in display.layers
    assert np.isfinite(display.layers["measured"]).all()


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([], "at least one"),
        ([20, 10], "increase"),
        ([10, 10], "increase"),
        ([0, 5], "positive"),
        ([2.5], "positive"),
        ([True], "positive"),
    ],
)
def test_sizes_are_checked_before_anything_is_computed(data, sizes, message):
    with pytest.raises(ValueError, match=message):
        CertificateDisplay.from_estimator(BSSSelector(), *data, sizes)
    assert plt.get_fignums() == []


def test_certificates_need_a_selector_that_can_be_asked_for_a_size(data):
    with pytest.raises(ValueError, match="LPSVMSelector has no parameter n_features_to_select"):
        CertificateDisplay.from_estimator(LPSVMSelector(), *data, [10])
    with pytest.raises(ValueError, match="no certificates"):
        CertificateDisplay([])


# Stability


def test_stability_of_equal_and_of_disjoint_selections(ax):
    same = StabilityDisplay([[0, 1], [1, 0], [0, 1]], 10).plot(ax)
    assert same.jaccard == same.nogueira == 1
    apart = StabilityDisplay([[0, 1], [2, 3]], 10).plot(ax)
    assert apart.jaccard == 0
    assert apart.nogueira < 0
    assert np.isnan(StabilityDisplay([np.ones(3, bool)] * 2, 3).nogueira)


def test_nogueira_is_kuncheva_for_selections_of_one_size(rng):
    """Its authors show that: the mean overlap of pairs, corrected for chance."""
    selections = [rng.choice(30, 8, replace=False) for _ in range(4)]
    overlaps = [len(np.intersect1d(a, b)) for i, a in enumerate(selections) for b in selections[:i]]
    chance = 8 * 8 / 30
    expected = (np.mean(overlaps) - chance) / (8 - chance)
    assert StabilityDisplay(selections, 30).nogueira == pytest.approx(expected)


def test_frequencies_are_sorted_and_end_at_zero(ax):
    display = StabilityDisplay([[0, 1, 2], [0, 1, 3]], 10).plot(ax)
    np.testing.assert_array_equal(display.frequencies, [1, 1, 0.5, 0.5] + 6 * [0])
    x, heights = display.line_.get_data()
    assert x.tolist() == [0, 1, 2, 3, 4, 4]
    assert heights.tolist() == [100, 100, 100, 50, 50, 0]
    assert ax.get_xlabel() == "features, most often chosen first"
    assert ax.get_ylabel() == "share of selections (%)"
    assert "Jaccard 0.50" in legend_texts(display)[0]


def test_the_floor_is_what_random_selections_give(rng, ax):
    selections = [rng.choice(5000, 1500, replace=False) for _ in range(4)]
    display = StabilityDisplay(selections, 5000).plot(ax)
    assert abs(display.nogueira) < 0.02
    floor, heights = display.baseline_.get_data()
    for end, height in zip(floor[1:-1], heights[1:-1], strict=True):
        found = (100 * display.frequencies >= height - 1e-9).sum()
        assert found == pytest.approx(end, abs=100)


@pytest.mark.parametrize("convert", [np.asarray, sparse.coo_array, "frame"])
def test_stability_over_folds(data, convert, ax):
    X, y = data
    if convert == "frame":
        X = pytest.importorskip("pandas").DataFrame(X, columns=[f"f{i}" for i in range(300)])
    else:
        X = convert(X)
    # More than are relevant, so that folds differ.
    selector = BSSSelector(60)
    display = StabilityDisplay.from_estimator(selector, X, y, cv=3, ax=ax)
    assert len(display.selections) == 3
    assert 0 < display.nogueira < 1
    assert not hasattr(selector, "indices_")


def test_stability_without_labels(data, ax):
    selector = BSSSelector(80, supervised=False)
    assert len(StabilityDisplay.from_estimator(selector, data[0], cv=2, ax=ax).selections) == 2


def test_one_selection_has_no_stability():
    with pytest.raises(ValueError, match="got 1, give two"):
        StabilityDisplay([[0]], 5)
    with pytest.raises(ValueError, match="columns 0 to 4"):
        StabilityDisplay([[0], [5]], 5)


# All


def displays():
    return [
        ComparisonDisplay(COMPARISON),
        ComparisonDisplay(with_growth(1.0, 30.0, 2.5, np.inf, np.inf, 40.0), growth=True),
        CertificateDisplay([certify(*make_relevant_features(20, 50, 5, random_state=0), [3, 4])]),
        StabilityDisplay([[0], [1]], 5),
    ]


@pytest.mark.parametrize("place", range(4))
def test_displays_make_a_figure_or_use_the_axes_given(place):
    display = displays()[place]
    assert plt.get_fignums() == []
    assert display.plot() is display
    assert plt.get_fignums() == [display.figure_.number]
    _, axes = plt.subplots(1, 2)
    assert display.plot(axes[1]).ax_ is axes[1]
    assert not axes[0].has_data()
    assert len(plt.get_fignums()) == 2
    with pytest.raises(TypeError, match="one matplotlib Axes"):
        display.plot(axes)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("size", [(6.4, 4.8), (3.4, 2.6)])
def test_legends_hide_nothing_and_stay_in_the_figure(place, size):
    figure = Figure(figsize=size, layout="constrained")
    display = displays()[place].plot(figure.subplots())
    figure.draw_without_rendering()
    legend, inner = display.legend_.get_window_extent(), display.ax_.get_window_extent()
    assert legend.x0 >= inner.x1 or legend.y0 >= inner.y1
    assert legend.x1 <= figure.bbox.x1 + 1
    assert legend.y1 <= figure.bbox.y1 + 1


def test_style_is_for_the_user_to_change():
    for growth in (False, True):
        lines = ComparisonDisplay(COMPARISON, growth=growth).plot(linewidth=5).lines_
        assert lines["bss"].get_linewidth() == 5


def test_without_matplotlib_the_remedy_is_named(monkeypatch, data):
    display = StabilityDisplay([[0], [1]], 5)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'certifeature\[plot\]'"):
        display.plot()
    with pytest.raises(ImportError, match=r"pip install 'certifeature\[plot\]'"):
        CertificateDisplay.from_estimator(BSSSelector(), *data, [10])


def test_the_legend_says_which_c_the_errors_are_for(ax):
    for tuned, text in ((True, "with C tuned by inner folds"), (False, "at the C of the model")):
        display = ComparisonDisplay(replace(COMPARISON, tuned=tuned)).plot(ax)
        assert display.legend_.get_title().get_text().endswith(text)
