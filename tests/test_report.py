"""Reports: complete, harmless whatever the names are, and nothing shown that there is not."""

import csv
import io
import math
import re
import sys
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from estimates import comparison, contender, new_data, of_numbers, performed
from hypothesis import given
from hypothesis import strategies as st

import certifeature
from certifeature import BSSSelector, certify
from certifeature.certificate import APriori, Certificate, Realised
from certifeature.certificate.certificate import number
from certifeature.evaluation import Estimate, Performance
from certifeature.evaluation.engine import SizeSearch
from certifeature.report import Report, features_of
from certifeature.report.contents import Feature, features_csv
from certifeature.report.page import methods_paragraph, render, write_report
from certifeature.report.text import decimals, duration, one_line, samples, template, ticks, visible
from certifeature.sparsify import ColumnChoice

CERTIFICATE = Certificate(
    rows="support",
    n_rows=50,
    rank=50,
    n_features=9000,
    n_selected=300,
    exact=True,
    lambda_min=0.4,
    lambda_max=1.8,
    a_priori=APriori("BSS", 300, 50, 0.35, 1.98, 1.0),
    realised=Realised("hinge", 1.0, 1.0, 0.9, 2.0, 2.1, 1.0, 1.1),
    covers_all_rows=True,
    new_data=new_data(),
)
FULL = contender("full data", None, 9000.0, (0.1, 0.08), 1e-5, 1.0)
OWN = contender("bss", 300, 290.5, (0.12, 0.1), 0.7, 2.5)
COMPARISON = comparison(
    FULL,
    OWN,
    contender("bss", 100, 100.0, (0.2, 0.18), 0.6, 3.5),
    contender("rfe", 300, 300.0, (0.12, 0.13), 0.1, 9.5),
    contender("univariate", 300, 300.0, (0.5, 0.4), 0.04, math.inf),
    tuned=True,
)
SEARCH = SizeSearch((5, 10, 20), np.array([[0.2, 0.3], [0.1, 0.13], [0.1, 0.12]]), np.ones(3))
QUESTIONS = [
    "What was asked",
    "Better than chance?",
    "Compared with others?",
    "Is the list reproducible?",
    "What is proven?",
]


def report_about(text="plain", **changes):
    """A report with everything in it and one text wherever a text can be."""
    values = {
        "title": text,
        "n_rows": 100,
        "classes": {text: 40, "well": 60},
        "preparation": [text],
        "ranking": text,
        "certificate": CERTIFICATE,
        "features": [Feature(1, text, 1.5, 0.25, text, text, 1.0), Feature(2, text, 0.5)],
        "comparison": COMPARISON,
        "search": SEARCH,
        "asked": {text: text},
        "reproduction": {"Command": text, text: text},
    }
    return Report(**values | changes)


def plain(html):
    """The text of a piece of a page."""
    text = re.sub("<[^>]*>", "", html).replace("\u2212", "-").replace("\xa0", " ")
    return unescape(" ".join(text.split()))


def answers(report):
    """The questions of the first page, and what it answers."""
    parts = render(report).split('<dl class="answers">')[1].split("</dl>")[0]
    found = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", parts, re.DOTALL)
    return {plain(question): plain(answer) for question, answer in found}


def shown_rows(report, kind):
    """The cells of one of the tables of a page."""
    (table,) = re.findall(f'<table class="{kind}">(.*?)</table>', render(report), re.DOTALL)
    (body,) = re.findall("<tbody>(.*?)</tbody>", table, re.DOTALL)
    rows = re.findall("<tr.*?</tr>", body, re.DOTALL)
    return [[plain(cell) for cell in re.findall("<t[hd].*?</t[hd]>", row)] for row in rows]


class Outline(HTMLParser):
    """The elements and attributes of a page, and the texts between them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *(name for name, _ in attrs)))

    def handle_endtag(self, tag):
        self.tags.append(f"/{tag}")

    def handle_data(self, data):
        self.texts.append(data)


# The page


def test_everything_is_shown():
    features = [Feature(i, f"feature number {i};", 1.0) for i in range(1, 501)]
    report = report_about("any", features=features, reproduction={"Command": "do --it"})
    text = plain("".join(Outline(render(report)).texts))
    assert all(feature.name in text for feature in features)
    bare = replace(CERTIFICATE, new_data=None)
    said = [str(bare).split("\n")[0], *bare.details().splitlines()]
    said += [*CERTIFICATE.new_data.sentences(), methods_paragraph(report), "do --it"]
    assert all(plain(sentence) in text for sentence in said)


@pytest.mark.slow
@given(st.text(st.characters(), min_size=1, max_size=50).filter(lambda text: text != "Command"))
def test_any_text_is_text(text):
    html = render(report_about(text))
    outline = Outline(html)
    assert outline.tags == Outline(render(report_about())).tags
    # Title of the page and of its head, name and value asked for, two features, a class and
    # more: an element each, with no neighbour that could be swallowed.
    assert outline.texts.count(one_line(text)) >= 7
    assert visible(text) in outline.texts
    assert html.encode()


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "</script>", "</title></style>", "'\"&quot;", "\u202ex"]
)
def test_evil_text_stands_in_no_tag(text):
    assert render(report_about(text)).count(text) == render(report_about()).count(text)


def test_long_text_gets_a_box_of_its_own():
    html = render(report_about("x" * 10_000))
    assert '<th scope="row"><bdi class="long" tabindex="0">' + "x" * 10_000 in html


def test_nothing_comes_from_elsewhere():
    html = render(report_about())
    links = re.findall(r'(?:src|href|action|data|srcset|poster)="([^"]*)"', html)
    assert links
    assert all(link.startswith(("#", "data:text/csv;base64,")) for link in links)
    assert not re.search(r"@import|url\(|https?:|//[a-z]", html.replace("\n//", ""))


def test_the_policy_allows_the_page_itself_and_no_more():
    html = render(report_about())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;;" in policy
    assert policy.startswith("default-src &#39;none&#39;;")
    assert "unsafe" not in policy
    assert not re.search(r'<[^>]* (style|on\w+)="', html)


def test_an_empty_report_has_no_sections():
    html = render(Report("Nothing"))
    assert not {"section", "table", "nav"} & {tag[0] for tag in Outline(html).tags}


@pytest.mark.parametrize(
    ("missing", "section"),
    [
        ("certificate", "paper"),
        ("features", "features"),
        ("comparison", "comparison"),
        ("n_rows", "paper"),
    ],
)
def test_what_is_missing_has_no_section(missing, section):
    assert f'<section id="{section}"' in render(report_about())
    html = render(report_about(**{missing: () if missing == "features" else None}))
    assert f'<section id="{section}"' not in html
    assert f'href="#{section}"' not in html


# The first page


def test_the_first_page_answers_in_order():
    shares = [1.0] * 100 + [0.5] * 50 + [0.1] * 130 + [0.0] * 20
    features = [Feature(i, str(i), 1.0, frequency=share) for i, share in enumerate(shares, 1)]
    found = answers(report_about(features=features, search=None))
    assert list(found) == QUESTIONS
    asked, chance, others, list_, proven = found.values()
    assert asked.startswith(
        "300 of 9,000 features for linear models with an ℓ2 penalty, from 100 rows (40 plain, "
        "60 well). plain"
    )
    assert chance.startswith(CERTIFICATE.new_data.sentences()[0])
    assert "Found: 86.7 % (75.8 to 93.1 %) of well (sensitivity), 92.5 % (80.1 to 97.4 %)" in chance
    assert others.startswith(CERTIFICATE.new_data.sentences()[1])
    assert (
        "With as many features: no difference is shown to RFE (-1.5 points, -34.5 to +31.5) and "
        "the univariate test (-34.0 points, -100.0 to +54.0)."
    ) in others
    assert list_.startswith(
        "100 of 300 features were chosen again in all 2 folds, 150 in at least half of them, and "
        "20 in none."
    )
    assert proven.startswith("Proven: with these 300 features the training objective of any")
    assert shown_rows(report_about(), "beside") == [
        ["These 300 features", "11.0 % (6.3 to 18.6 %)", ""],
        ["All 9,000 features", "9.0 % (4.8 to 16.2 %)", ""],
        ["RFE", "12.5 % (7.4 to 20.4 %)", ""],
        ["The univariate test", "45.0 % (35.6 to 54.8 %)", ""],
    ]
    html = render(report_about())
    order = ["summary", "features", "sizes", "comparison", "paper", "appendix"]
    assert re.findall('<section id="(.*?)"', html) == order


def test_pictures_are_of_the_same_folds():
    """The verdict has the errors of all folds, whatever is side by side those of the first."""
    repeated = replace(new_data(), n_selected=(290, 300, 295, 299), n_repeats=2)
    own = contender("bss", 300, 300.0, (0.14, 0.12))
    rival = contender("rfe", 300, 300.0, (0.1, 0.1))
    others = comparison(FULL, own, rival, tuned=True)
    certificate = replace(CERTIFICATE, new_data=repeated)
    report = report_about(comparison=others, certificate=certificate, search=None)
    said = answers(report)["Compared with others?"]
    assert "in the first 2 of the 4 folds, in which these features have 13.0 %." in said
    assert "no difference is shown to RFE (+3.0 points" in said
    assert "in the same 2 folds" in said
    shown = [row[1].split(" (")[0] for row in shown_rows(report, "beside")]
    assert shown == [f"{100 * c.error:.1f} %" for c in (own, FULL, rival)]
    assert "first 2 of the 4 folds, in which it was 13.0 % here" in methods_paragraph(report)
    assert "first 2 of" not in render(report_about())


@pytest.mark.parametrize("is_noise", [False, True])
def test_the_verdict_is_right_where_the_truth_is_known(is_noise, rng):
    """Eight columns carry the labels, or none does."""
    y = np.repeat(["sick", "well"], 30)
    X = rng.normal(size=(60, 100))
    X[:, :8] += 0.0 if is_noise else 1.2 * (y == "well")[:, np.newaxis]
    selector = BSSSelector(8).fit(X, y)
    certificate = certify(X, y, selector, cv=3, n_repeats=4)
    features = features_of(selector, new_data=certificate.new_data)
    counts = {"sick": 30, "well": 30}
    report = Report("Genes", 60, counts, certificate=certificate, features=features)
    said = answers(report)["Better than chance?"]
    assert said.startswith("Not shown to be better than chance" if is_noise else "Better than ch")
    always = {f.name for f in features if f.frequency == 1}
    assert always <= {str(i) for i in range(8)}
    assert (len(always) >= 3) == (not is_noise)
    listed = [row[1:3] for row in shown_rows(report, "features sortable")]
    shares = [float(share.removesuffix(" %")) for _, share in listed]
    assert shares == sorted(shares, reverse=True)
    assert {name for name, share in listed if share == "100 %"} == always


def test_intervals_and_chance_are_drawn_where_they_are():
    html = render(report_about()).split('<table class="beside">')[1].split("</table>")[0]
    marks = re.findall(r'<text x="([\d.]+)%"[^>]*>(\d+) %<', html)
    (first, zero), *_, (last, end) = marks
    assert (float(first), zero, float(last)) == (0, "0", 100)
    number = r'="([\d.]+)%"'
    chances = {float(x) for x in re.findall(f'class="chance" x1{number}', html)}
    assert chances == {round(100 * 48 / int(end), 2)}
    strips = re.findall(f"<line x1{number} x2{number} .*?<circle cx{number}", html)
    drawn = [[float(x) * int(end) / 100 for x in strip] for strip in strips]
    assert drawn[0] == pytest.approx([6.3, 18.6, 11.0], abs=0.06)
    assert len(drawn) == 4


def test_one_class_of_many_is_not_called_sensitive():
    part = Estimate(0.5, 0.4, 0.6)
    recalls = dict.fromkeys("abc", part)
    many = performed(0.2, recalls=recalls, n_of_class=dict.fromkeys("abc", 9), balanced_error=part)
    certificate = replace(CERTIFICATE, new_data=replace(new_data(), selected=many, full=many))
    found = answers(report_about(certificate=certificate))["Better than chance?"]
    assert "sensitivity" not in found
    assert "Balanced error, the mean over the classes: 50.0 % (40.0 to 60.0 %)" in found
    rows = shown_rows(report_about(certificate=certificate), "errors")
    assert [row[0] for row in rows[2:5]] == [f"Found of {name} 9 rows" for name in "abc"]


def test_numbers_have_an_r2_without_an_interval():
    numbers = Performance(Estimate(0.3), 100, mae=2.5, beats_mean=True)
    found = replace(new_data(), measure="1 - R2", selected=numbers, full=numbers, chance_error=1.0)
    found = replace(found, against_full=replace(found.against_full, measure="1 - R2"))
    report = report_about(
        certificate=replace(CERTIFICATE, new_data=found),
        comparison=of_numbers(COMPARISON),
        classes={},
    )
    assert "Mean absolute error: 2.5." in answers(report)["Better than chance?"]
    assert shown_rows(report, "beside")[0][1] == "0.89"
    html = render(report).split('<table class="beside">')[1].split("</table>")[0]
    assert re.findall(r'<circle cx="([\d.]+)%', html)[0] == "89.00"
    assert re.findall(r'x="([\d.]+)%" y="1em" text-anchor="middle">([\d.]+)<', html)[0] == (
        "100.00",
        "1",
    )
    curve = render(report).split('<svg class="curve"')[2]
    assert re.findall(r'y="([\d.]+)%">([\d.]+)</text>', curve)[0] == ("0.00", "1")
    assert ["Mean absolute error", "2.5", "2.5"] in shown_rows(report, "errors")
    text = plain(render(report).split("<body>")[1])
    assert "Error" not in text.replace("Generalization Error", "")
    assert not re.search("Wilson|95 %", text.split("Software")[0])
    assert "always the mean" in text


def test_without_cross_validation_nothing_is_said_of_new_data():
    found = answers(report_about(certificate=replace(CERTIFICATE, new_data=None), comparison=None))
    assert list(found) == ["What was asked", "Better than chance?", "What is proven?"]
    assert found["Better than chance?"] == (
        "Nothing was cross-validated, so nothing is said about new data."
    )


def test_of_methods_alone_the_best_is_named():
    found = answers(Report("t", comparison=COMPARISON))
    assert list(found) == ["What was asked", "Which is best?"]
    assert found["Which is best?"].startswith(
        "BSS with 290 features has the lowest error, 11.0 % (6.3 to 18.6 %); all features have "
        "9.0 % (4.8 to 16.2 %). For 3 of the other 3 choices it is not shown that they are worse."
    )


def test_only_what_is_proven_for_useful_bounds_is_on_the_first_page():
    page = render(report_about()).split("<body>")[1]
    first, appendix = page.split('<section id="appendix"')
    for symbol in ("λ", "Λ", "κ", "radius"):
        assert symbol not in first
        assert symbol in appendix
    bare = replace(CERTIFICATE, lambda_min=0.0, realised=None, new_data=None)
    proven = answers(Report("t", certificate=bare))["What is proven?"]
    assert proven.startswith("No useful bound on the training objective of any")


# Features


def test_columns_without_values_are_left_out():
    html = render(Report("t", features=[Feature(1, "a", 1.0)]))
    assert re.findall(r'<th scope="col"[^>]*>(\w+)</th>', html) == ["Rank", "Feature"]
    assert "multiplied" not in html
    html = render(Report("t", features=[Feature(1, "a", 1.5), Feature(2, "b", 1.5)]))
    assert "All columns are multiplied by 1.5" in html
    html = render(Report("t", features=[Feature(1, "a", 1.5), Feature(2, "b", 2.0)]))
    assert re.findall(r'<th scope="col"[^>]*>(\w+)</th>', html) == ["Rank", "Feature", "Scale"]


def test_features_stand_by_frequency_then_by_rank():
    features = [
        Feature(4, "seldom", 1.0, frequency=0.4),
        Feature(3, "third", 1.0, frequency=0.9),
        Feature(2, "second", 1.0, frequency=0.9),
        Feature(1, "half", 1.0, frequency=0.5),
    ]
    report = report_about(features=features)
    names = [row[1] for row in shown_rows(report, "features sortable")]
    assert names == ["second", "third", "half", "seldom"]
    assert render(report).count('<tr class="seldom">') == 1
    without = [replace(feature, frequency=None) for feature in features]
    names = [row[1] for row in shown_rows(Report("t", features=without), "features sortable")]
    assert names == ["half", "second", "third", "seldom"]


def test_features_in_every_best_set_are_marked(rng):
    found = certify(rng.normal(size=(60, 9)), np.arange(60) % 2, [3, 5, 8])
    marks, chosen = np.isin(np.arange(9), [3, 8]), ColumnChoice(np.array([3, 5, 8]), np.ones(3))
    found = replace(found, optimality=replace(found.optimality, always=marks))
    features = features_of(chosen, optimality=found.optimality)
    assert [f.always for f in features] == [True, False, True]
    report = Report("Best", 60, certificate=found, features=features)
    assert [row[-1] for row in shown_rows(report, "features sortable")] == ["yes", "–", "yes"]
    assert "about these rows, not about new samples" in render(report)
    plain = render(replace(report, features=features_of(chosen)))
    assert "In every best set" not in plain


def test_features_as_a_table_to_take_away():
    features = [
        Feature(2, "=1+1", 1.0, 0.5, "-sick", "cover", 0.9, always=True),
        Feature(1, 'a,"b"\n', 2.0, frequency=0.1),
    ]
    html = render(report_about(features=features))
    (table,) = re.findall(r'href="data:text/csv;base64,([^"]*)" download="features.csv"', html)
    assert list(csv.reader(io.StringIO(b64decode(table).decode(), newline=""))) == [
        [
            *(
                [
                    "rank",
                    "feature",
                    "scale",
                    "weight",
                    "points_to",
                    "why",
                    "frequency",
                    "in_every_best_set",
                ]
            )
        ],
        ["1", 'a,"b"\n', "2.0", "", "", "", "0.1", ""],
        ["2", "'=1+1", "1.0", "0.5", "'-sick", "cover", "0.9", "True"],
    ]


def test_groups_are_listed_with_their_columns_folded_below(rng):
    """Two categories and a number, chosen as groups of columns."""
    columns = {f"{name}={value}": None for name in ("site", "stage") for value in "ABC"}
    names = [*columns, "age"]
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 7))
    X[:, :3] += y[:, np.newaxis]
    X[:, 6] += 2 * y
    groups = [name.partition("=")[0] for name in names]
    frame = pd.DataFrame(X, columns=names)
    selector = BSSSelector(2, feature_groups=groups, trust=1.0).fit(frame, y)
    found = certify(frame, y, selector, cv=3, n_repeats=2)
    features = features_of(selector, model=selector.estimator_, new_data=found.new_data)
    report = Report("Mixed", 60, certificate=found, features=features)
    rows = shown_rows(report, "features sortable")
    assert sorted(row[1] for row in rows) == ["age", "site 3 columnssite=A, site=B, site=C"]
    assert sorted(row[0] for row in rows) == ["1", "2"]
    weights = [f.weight for f in features if f.group]
    assert f"{np.linalg.norm(weights):.4f}"[:5] in " ".join(row[3] for row in rows)
    said = answers(report)
    assert said["What was asked"].startswith("4 of 7 features, in 2 groups, for")
    assert "of 2 groups were chosen again in all 6 folds" in said["Is the list reproducible?"]
    assert "4 were chosen in 2 groups for" in methods_paragraph(report)
    table = list(csv.DictReader(io.StringIO(features_csv(features))))
    assert [row["group"] for row in table if row["feature"].startswith("site=")] == ["site"] * 3
    assert len(table) == 4


# Sizes and methods


def test_curves_go_through_the_errors():
    """Both curves: the search for the number, and the methods on new data."""
    html = render(report_about()).split('<section id="sizes"')[1].split("</section>")[0]
    search, compared = html.split("</figure>")[:2]

    def points(figure):
        top = float(re.findall(r">([\d.]+) %</text>", figure)[-1]) / 100
        curve = figure.split('<svg class="curve"')[1]
        found = re.findall(r'<circle cx="([\d.]+)%" cy="([\d.]+)%"', curve)
        return [(float(x), top * (1 - float(y) / 100)) for x, y in found]

    assert "at most one standard error above the lowest: 10 features" in plain(search)
    xs, errors = zip(*points(search), strict=True)
    assert xs == pytest.approx([100 / 6, 50, 500 / 6], abs=0.01)
    assert errors == pytest.approx([0.25, 0.115, 0.11], abs=1e-4)
    (level,) = re.findall(r'class="level" x1="0" x2="100%" y1="([\d.]+)%"', search)
    top = float(re.findall(r">([\d.]+) %</text>", search)[-1]) / 100
    assert top * (1 - float(level) / 100) == pytest.approx(0.12, abs=1e-4)
    # BSS with 100 and with 300 features, then two methods with 300.
    assert [error for _, error in points(compared)] == pytest.approx(
        [0.19, 0.11, 0.125, 0.45], abs=1e-4
    )
    assert plain(compared).count("all features") == 1


def test_one_number_of_features_is_no_curve():
    assert "sizes" not in render(Report("t", comparison=COMPARISON.of_size(300)))


@pytest.mark.parametrize("highest", [0.0, 1e-9, 0.05, 0.051, 0.23, 0.5, 1.0, 7.3, 1e6])
def test_ticks_are_few_and_reach_beyond(highest):
    marks = ticks(highest)
    assert marks[0] == 0
    assert marks[-1] >= highest * (1 - 1e-9)
    assert 2 <= len(marks) <= 6
    assert np.ptp(np.diff(marks)) <= 1e-9 * marks[-1]


def test_methods_have_one_error_each_below_the_reference():
    report = Report("t", comparison=COMPARISON)
    assert shown_rows(report, "methods") == [
        ["All features", "9,000", "9.0 % (4.8 to 16.2 %)", "–"],
        ["BSS", "290 of 300", "11.0 % (6.3 to 18.6 %)", "700 ms"],
        ["RFE", "300", "12.5 % (7.4 to 20.4 %)", "100 ms"],
        ["BSS", "100", "19.0 % (12.5 to 27.8 %)", "600 ms"],
        ["The univariate test", "300", "45.0 % (35.6 to 54.8 %)", "40 ms"],
    ]


def test_errors_at_the_c_of_the_model_are_in_the_appendix():
    at_cost = replace(OWN, error_at_cost=0.2)
    html = render(Report("t", comparison=comparison(FULL, at_cost, tuned=True), asked={"a": "b"}))
    first, appendix = html.split('<section id="appendix"')
    assert "20.0" not in first
    assert [">20.0\xa0%<" in part for part in (first, appendix)] == [False, True]


# The paragraph


def test_the_paragraph_says_what_was_done_and_found():
    shares = [1.0] * 100 + [0.5] * 50 + [0.0] * 150
    report = Report(
        "Genes",
        n_rows=400,
        classes={"sick": 150, "well": 250},
        preparation=["Missing values were replaced by medians.", "Columns were centred."],
        ranking="by their weights",
        certificate=replace(
            CERTIFICATE,
            n_trusted=150,
            new_data=new_data(n_repeats=5, n_groups=80),
            model="LinearSVC(C=1)",
        ),
        features=[Feature(i, str(i), 1.0, frequency=share) for i, share in enumerate(shares)],
        comparison=COMPARISON,
        search=SEARCH,
    )
    text = methods_paragraph(report)
    for part in (
        "Missing values were replaced by medians. Columns were centred. Of 9,000 features of 400 "
        "samples (150 sick, 250 well), 300 were chosen for a linear support vector machine "
        "(LinearSVC, C=1): 150 that came first in a ranking of all features by their weights, 150 "
        "by single-set spectral sparsification (BSS [1, 2]).",
        "Their number is the smallest of 5, 10, 20 whose mean error over 2 folds was within one "
        "standard error of the lowest.",
        "at most 2.5 times",
        "5 × 2-fold cross-validation of 80 groups of rows, in which the rows of a group stay "
        "together, with all of this done anew on the training samples of each fold, as was the "
        "choice of C.",
        *report.new_data.sentences(),
        "With as many features, the error was 12.5 % with RFE and 45.0 % with the univariate test.",
        "Of the 300 features, 100 were chosen in all 2 folds and 150 in at least half of them "
        "(stability",
        "With shuffled labels, at the C of the model, the error was 51.0 %.",
        "Provable Guarantees",
        "Stability of Feature Selection",
        f"certifeature {certifeature.__version__}",
    ):
        assert part in text


def test_the_paragraph_claims_nothing_that_is_not_known():
    bare = replace(CERTIFICATE, lambda_min=0.0, realised=None, new_data=None)
    text = methods_paragraph(Report("t", 400, method="rfe", certificate=bare))
    assert " times" not in text
    assert "cross-validation" not in text
    assert "by recursive feature elimination" in text
    # Nothing is listed that is not cited.
    assert "[1]" not in text
    trusted = replace(bare, n_trusted=300)
    alone = methods_paragraph(Report("t", 400, supervised=False, certificate=trusted))
    assert "300 were chosen without labels: 300 that came first in a ranking of all" in alone
    assert "sparsification" not in alone


def test_many_classes_are_not_listed():
    few, many = ({str(i): i + 1 for i in range(n)} for n in (6, 7))
    assert samples(40, few) == "40 rows (1 0, 2 1, 3 2, 4 3, 5 4, 6 5)"
    assert samples(40, many, "samples") == "40 samples (7 classes)"
    assert samples(40, {}) == "40 rows"


# Texts and files


def test_numbers():
    assert decimals([]) == []
    assert decimals([0.0, math.nan, None]) == ["0", "–", "–"]
    assert decimals([12345.0, 0.25]) == ["12345", "2.5e-01"]
    assert number(math.inf) == "∞"
    times = [duration(seconds) for seconds in (1e-5, 0.25, 3.0, 600.0)]
    assert times == ["< 1 ms", "250 ms", "3.0 s", "10 min"]


def test_the_file_is_written_whole(tmp_path):
    path = tmp_path / "new" / "report.html"
    write_report(report_about(), path)
    write_report(report_about("again \ud800"), str(path))
    assert path.read_text(encoding="utf-8") == render(report_about("again \ud800"))
    assert list(path.parent.iterdir()) == [path]


def test_a_missing_jinja2_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    template.cache_clear()
    with pytest.raises(ImportError, match=r"certifeature\[report\]"):
        render(Report("t"))
