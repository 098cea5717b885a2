"""A certificate leads with what is proven for the labels at hand, and shows no useless number."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from certifeature.certificate import APriori, Certificate, Realised, Regularised
from certifeature.certificate.certificate import beyond_labels, rounded_up
from certifeature.certificate.optimality import Optimality
from certifeature.cli.output import certificate_values
from certifeature.report import Report
from certifeature.report.page import methods_paragraph, render

CERTIFICATE = Certificate(
    rows="all",
    n_rows=100,
    rank=76,
    n_features=12_600,
    n_selected=100,
    exact=True,
    lambda_min=0.0,
    lambda_max=2.0,
    realised=Realised("squared_hinge", 1.0, None, None, 10.0, 10.77, 1.0, 1.0),
    regularised=Regularised(0.5, 1 / 1.4, 2.0),
    a_priori=APriori("BSS", 50, 12, 1 / 3.3, 3.0, 1.0),
    model="LinearSVC(C=1)",
)
LOOSE = replace(
    CERTIFICATE,
    regularised=Regularised(0.5, 1 / 655, 2.0),
    a_priori=APriori("BSS", 50, 12, 1 / 2590, 3.0, 1.0),
)


def headline(certificate):
    return str(certificate).splitlines()[0]


def test_these_labels_come_first_then_the_best_then_any_labels_then_the_promise():
    none = np.zeros(12_600, dtype=bool)
    close = Optimality(10.77, 10.0, none, none, 90, "LinearSVC(C=1)", 100, 100)
    proven, best, others, *_ = str(replace(CERTIFICATE, optimality=close)).splitlines()
    assert proven == (
        "Proven: with these 100 features the training objective of LinearSVC(C=1) is 1.08 times "
        "what it is with all 12,600."
    )
    assert best == str(close)
    assert others == (
        "For any other labels of these rows, at most 1.4 times. Promised beforehand: at most 3.3 "
        "times."
    )


@pytest.mark.parametrize(
    ("growth", "words"), [(1.2, "1.2 times"), (11, "no useful bound"), (np.inf, "no useful bound")]
)
def test_random_columns_stand_beside_the_bound_for_other_labels(growth, words):
    beside = f"as many random columns: {words})."
    for certificate, start in ((CERTIFICATE, "at most 1.4 times ("), (LOOSE, "76 directions; ")):
        certificate = replace(certificate, random_growth=growth)
        assert f"{start}{beside}" in beyond_labels(certificate)
        assert headline(replace(certificate, realised=None)).endswith(beside)


def test_bounds_beyond_ten_are_not_numbers_in_the_headline():
    assert beyond_labels(LOOSE) == (
        "No useful bound for other labels (100 features, 76 directions)."
    )
    # They are at the end, and apart.
    realised, measured, promised = LOOSE.details().splitlines()
    assert str(LOOSE).endswith(LOOSE.details())
    assert realised.startswith("Realised, for these labels: 1.08 times")
    assert "any labels of the 100 rows of rank 76: at most 655 times" in measured
    assert "at most 2,590 times (BSS made 50 picks for 12 directions)" in promised


def test_without_labels_the_bound_for_any_comes_first():
    for realised in (None, Realised(radius_full=1.0, radius_selected=1.0)):
        assert str(replace(CERTIFICATE, realised=realised)).splitlines()[:2] == [
            "Proven for any labels: with these 100 features the training objective of "
            "LinearSVC(C=1) is at most 1.4 times what it is with all 12,600.",
            "Promised beforehand: at most 3.3 times.",
        ]
    assert headline(replace(LOOSE, realised=None)) == (
        "No useful bound on the training objective of LinearSVC(C=1) with these 100 features of "
        "12,600 (100 features, 76 directions)."
    )


def test_an_enclosure_that_failed_is_no_proof():
    failed = replace(CERTIFICATE.realised, objective_selected=np.inf)
    assert headline(replace(CERTIFICATE, realised=failed)).startswith("Proven for any labels: ")
    loose = replace(CERTIFICATE.realised, objective_gap=0.01)
    assert "is at most 1.08 times" in headline(replace(CERTIFICATE, realised=loose))


def test_numbers_are_rounded_to_the_safe_side():
    realised = replace(
        CERTIFICATE.realised,
        objective_selected=10.1001,
        margin_full=1.0,
        margin_selected=0.99,
        radius_selected=1.01,
    )
    line = replace(CERTIFICATE, realised=realised).details().splitlines()[0]
    assert "1.02 times the objective with all features, 0.98 times the squared hard" in line
    assert "1.03 times the squared radius" in line
    assert rounded_up(1.4) == pytest.approx(1.4)


def test_a_ratio_below_one_is_explained_once():
    below = replace(CERTIFICATE, realised=replace(CERTIFICATE.realised, objective_selected=1.7))
    assert "is 0.17 times" in headline(below)
    assert str(below).count("below 1 is no gain") == 1
    assert "no gain" not in str(CERTIFICATE)


def test_support_vectors_are_named():
    some = replace(CERTIFICATE, rows="support", covers_all_rows=False)
    assert "of LinearSVC(C=1) on its 100 support vectors is 1.08" in headline(some)
    assert "For any other labels of these support vectors" in beyond_labels(some)
    # For these labels, the reduced model is the same on all rows; for others it need not be.
    covered = replace(some, covers_all_rows=True)
    assert "of LinearSVC(C=1) is 1.08" in headline(covered)
    assert "For any other labels of these support vectors" in beyond_labels(covered)


def test_targets_are_no_labels():
    ridge = replace(CERTIFICATE, model="Ridge(alpha=1)")
    assert "any other targets of these rows" in beyond_labels(ridge)


def test_repr_has_the_same_order():
    assert repr(CERTIFICATE) == (
        "<Certificate: 100 of 12600 features, objective 1.08 times, for other labels at most 1.4 "
        "times>"
    )
    assert repr(LOOSE).endswith("objective 1.08 times, no useful bound for other labels>")
    assert repr(replace(LOOSE, realised=None)).endswith("objective without a useful bound>")


def test_json_has_the_same_order_and_comes_back():
    values = certificate_values(LOOSE)
    assert list(values)[:3] == ["realised_growth", "measured_growth", "promised_growth"]
    names = list(LOOSE.to_dict())
    assert names.index("realised") < names.index("regularised") < names.index("a_priori")
    realised = replace(LOOSE.realised, radius_growth=2.0, objective_gap=0.1)
    given = replace(LOOSE, realised=realised)
    assert Certificate.from_dict(json.loads(json.dumps(given.to_dict()))) == given


def test_no_first_page_has_a_number_beyond_ten():
    report = Report("t", 100, certificate=LOOSE)
    summary, appendix = render(report).split('<section id="appendix"')
    for page in (summary, methods_paragraph(report), LOOSE._repr_html_().split("<det")[0]):
        assert "1.08 times" in page
        assert not re.search("655|2,590", page)
    assert "at most 655 times" in appendix
    assert "at most 2,590 times" in appendix
