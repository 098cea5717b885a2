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

import pytest
from estimates import comparison, contender, new_data
from hypothesis import given
from hypothesis import strategies as st

import certifeature
from certifeature.certificate import APriori, Certificate, Realised, Regularised
from certifeature.certificate.certificate import as_sentences, number
from certifeature.report import Feature, Report, methods_paragraph, render, write_report
from certifeature.report.sentences import verdict
from certifeature.report.text import decimals, duration, one_line, template, typeset, visible

NEW_DATA = new_data()
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
    new_data=NEW_DATA,
)
COMPARISON = comparison(
    contender("full data", None, 9000.0, (0.02, 0.04), 1e-5, 1.0),
    contender("random", 300, 300.0, (0.3, 0.2), 0.04, math.inf),
    contender("bss", 300, 290.5, (0.03, 0.05), 0.7, 2.5),
)
OWN = contender("bss", 300, 300.0, (0.11, 0.1), 0.1, 2.5, ((1, 2), (2, 3)))
RFE = contender("rfe", 300, 300.0, (0.11, 0.12), 0.1, 9.5, ((1, 2), (3, 4)))
FULL = contender("full data", None, 9000.0, (0.1, 0.08), 0.0, 1.0)
BESIDE = comparison(FULL, OWN, RFE, tuned=True)
# The folds of the estimate have the number of features of the comparison; it was not searched.
OF_ONE_SIZE = replace(CERTIFICATE, new_data=replace(NEW_DATA, n_selected=(2, 2)))
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def report_about(text="plain", **changes):
    """A report with everything in it and one text wherever a text can be."""
    values = {
        "title": text,
        "asked": {text: text},
        "certificate": CERTIFICATE,
        "features": [Feature(1, text, 1.5, 0.25, text, text), Feature(2, text, 0.5)],
        "comparison": COMPARISON,
        "reproduction": {"Command": text, text: text},
        "figures": {text: DRAWING},
        "methods": text,
    }
    return Report(**values | changes)


def shown_layers(certificate):
    """What the page says of realised, measured and promised."""
    report = Report("t", certificate=certificate)
    (table,) = re.findall('<table class="layers">(.*?)</table>', render(report), re.DOTALL)
    note = '<span class="note">(.*?)</span>'
    found = re.findall(f'<th scope="row">.*? {note}</th><td>(.*?)(?: {note})?</td>', table)
    behind = [row[1:] for row in shown_rows(report, "behind")]
    assert [row[0] for row in shown_rows(report, "behind")] == ["Realised", "Measured", "Promised"]
    keys = ("note", "growth", "grade", "margin", "radius")
    return [
        dict(zip(keys, (*map(unescape, layer), *ratios), strict=True))
        for layer, ratios in zip(found, behind, strict=False)
    ]


def plain(html):
    """The text of a piece of a page."""
    return unescape(" ".join(re.sub("<[^>]*>", "", html).replace("\u2212", "-").split()))


def shown_facts(report, kind="facts"):
    """What the page has in one of its lists: names and texts."""
    lists = re.findall(f'<dl class="{kind}">(.*?)</dl>', render(report), re.DOTALL)
    found = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", "".join(lists), re.DOTALL)
    return {plain(name): plain(value) for name, value in found}


def shown_rows(report, kind):
    """The cells of one of the tables of a page."""
    (table,) = re.findall(
        f'<table class="{kind}">.*?<tbody>(.*?)</tbody>', render(report), re.DOTALL
    )
    rows = re.findall("<tr.*?</tr>", table, re.DOTALL)
    return [[plain(cell) for cell in re.findall("<t[hd].*?</t[hd]>", row)] for row in rows]


class Outline(HTMLParser):
    """The elements and attributes of a page, the texts between them, and alternatives of images."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.alternatives = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        self.tags.append((tag, *names))
        self.alternatives += [value for name, value in attrs if name == "alt"]

    def handle_endtag(self, tag):
        self.tags.append(f"/{tag}")

    def handle_data(self, data):
        self.texts.append(data)


def test_everything_is_shown():
    features = [Feature(i, f"feature number {i};", 1.0) for i in range(1, 501)]
    html = render(report_about("any", features=features, reproduction={"Command": "do --it"}))
    text = "".join(Outline(html).texts)
    assert all(feature.name in text for feature in features)
    proven = as_sentences(replace(CERTIFICATE, new_data=None))
    assert proven[0] in text
    assert all(sentence in text for sentence in proven[2:])
    assert all(typeset(sentence) in text for sentence in NEW_DATA.sentences())
    assert all(contender.method in text for contender in COMPARISON.contenders)
    assert "do --it" in text


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
    assert outline.alternatives == [one_line(text)]
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
    inside = ("#", "data:image/svg+xml;base64,", "data:text/csv;base64,")
    assert all(link.startswith(inside) for link in links)
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


def test_drawings_are_images():
    html = render(Report("t", figures={"A curve": DRAWING}))
    (source,) = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]*)" alt="A curve">', html)
    assert b64decode(source).decode() == DRAWING
    assert "alert" not in html


def test_an_empty_report_has_no_sections():
    html = render(Report("Nothing"))
    assert not {"section", "table", "nav"} & {tag[0] for tag in Outline(html).tags}


@pytest.mark.parametrize("name", ["asked", "certificate", "features", "comparison", "figures"])
def test_what_is_missing_has_no_section(name):
    empty = None if name in ("certificate", "comparison") else {}
    assert f'<section id="{name}"' in render(report_about())
    html = render(report_about(**{name: empty}))
    assert f'<section id="{name}"' not in html
    assert f'href="#{name}"' not in html


def test_columns_without_values_are_left_out():
    html = render(Report("t", features=[Feature(1, "a", 1.0)]))
    assert re.findall(r'<th scope="col"[^>]*>(\w+)</th>', html) == ["Rank", "Feature"]
    html = render(Report("t", features=[Feature(1, "a", 1.5), Feature(2, "b", 1.5)]))
    assert "all columns are multiplied by 1.5" in html
    html = render(Report("t", features=[Feature(1, "a", 1.5), Feature(2, "b", 2.0)]))
    assert re.findall(r'<th scope="col"[^>]*>(\w+)</th>', html) == ["Rank", "Feature", "Scale"]


def test_features_stand_by_rank():
    html = render(Report("t", features=[Feature(2, "second", 1.0), Feature(1, "first", 1.0)]))
    assert html.index("first") < html.index("second")


def test_methods_stand_by_error_below_the_reference():
    report = Report("t", comparison=COMPARISON)
    assert shown_rows(report, "methods") == [
        ["full data reference", "9,000", "3.0 % (1.0 to 8.5 %)", "", "–", "1"],
        ["bss lowest error", "290 of 300", "4.0 % (1.6 to 9.8 %)", "", "700 ms", "2.5"],
        ["random", "300", "25.0 % (17.5 to 34.3 %)", "", "40 ms", "> 10"],
    ]
    chart = r'<line x1="([\d.]+)%" x2="([\d.]+)%" .*?<circle cx="([\d.]+)%"'
    strips = re.findall(chart, render(report))
    assert len(strips) == 3
    assert all(0 <= float(low) <= float(mid) <= float(high) <= 100 for low, high, mid in strips)


def test_what_is_left_of_the_variance_is_no_percentage():
    report = Report("t", comparison=replace(COMPARISON, measure="1 - R2"))
    shown = [row[2].split()[0] for row in shown_rows(report, "methods")]
    assert shown == ["0.03", "0.04", "0.25"]
    html = render(report)
    assert "1 − R²</th>" in html
    assert "Error (95 % interval)" not in html
    assert "Error (95 % interval)" in render(Report("t", comparison=COMPARISON))


def test_what_is_estimated_is_not_among_what_is_proven():
    html = render(report_about())
    proven, rest = html.split('<section id="certificate"')[1].split('<section id="new_data"')
    estimated, _ = rest.split("</section>", 1)
    for text in ("11.0 %", "9.5 %", "+1.5 points", "95 % interval -9.5 to +12.5", "51.0 %"):
        assert typeset(text) not in proven
        assert typeset(text) in estimated
    assert [row[1:] for row in shown_rows(report_about(), "errors")] == [
        ["11.0 % (6.3 to 18.6 %)", "290 to 300 features"],
        ["9.5 % (5.2 to 16.8 %)", "9000 features"],
        ["+1.5 points", "95 % interval -9.5 to +12.5"],
        ["51.0 %", "chance: 48.0 %"],
    ]


def test_nothing_is_said_of_new_data_unless_it_was_estimated():
    html = render(report_about(certificate=replace(CERTIFICATE, new_data=None)))
    assert "new_data" not in html
    first, said, word = re.findall("[^.>]*new data[^<]*", html)
    assert first == "Nothing was cross-validated, so nothing is said about new data."
    assert word == "Error on new data"
    assert said.endswith("cv=5) estimates the error on new data.")


def test_layers_say_what_the_certificate_says():
    realised, measured, promised = shown_layers(CERTIFICATE)
    growths = [layer["growth"] for layer in (realised, measured, promised)]
    assert growths == ["1.05 times", "at most 2.5 times", "at most 2.86 times"]
    assert (promised["margin"], promised["radius"]) == ("at least 0.35 times", "at most 1.98 times")
    assert (measured["margin"], measured["radius"]) == ("at least 0.4 times", "at most 1.8 times")
    assert (realised["margin"], realised["radius"]) == ("0.81 times", "1.21 times")
    assert [measured["grade"], promised["grade"]] == ["a fair bound"] * 2
    assert measured["note"] == "measured: a bound for 50 support vectors"
    constants = shown_facts(Report("t", certificate=CERTIFICATE), "constants")
    assert constants == {"λ": "0.4", "Λ": "1.8", "κ": "4.5"}


def test_layers_of_a_soft_model_need_no_full_rank():
    certificate = replace(
        CERTIFICATE,
        rows="all",
        lambda_min=0.0,
        regularised=Regularised(0.5, 0.25, 2.0, 0.99),
        a_priori=APriori("BSS", 300, 12.5, 0.0, math.inf, 1.0, 0.2),
    )
    _, measured, promised = shown_layers(certificate)
    assert (promised["growth"], measured["growth"]) == ("at most 5 times", "at most 4 times")
    assert (promised["margin"], promised["radius"]) == ("no bound", "no bound")
    assert promised["note"] == "promised: a bound for any choice by the method"
    assert measured["note"] == "measured: a bound for 50 rows, with probability 0.99"
    constants = shown_facts(Report("t", certificate=certificate), "constants")
    assert constants["λ with the ridge μ"] == "0.25"
    assert constants["κ"] == "∞"


def test_layers_claim_nothing_that_is_not_proven():
    bare = replace(CERTIFICATE, a_priori=None, realised=None, lambda_min=0.0)
    layers_of_bare = shown_layers(bare)
    assert [layer["growth"] for layer in layers_of_bare] == ["–", "no useful bound"]
    assert [layer["margin"] for layer in layers_of_bare] == ["–", "no bound"]
    # The appendix says why, in the words of the certificate.
    text = "".join(Outline(render(report_about(certificate=bare))).texts)
    assert all(text.count(line) == 1 for line in bare.details().splitlines())
    overlap = Realised("hinge", 1.0, None, None, 2.0, 2.1, 1.0, 1.1)
    realised = shown_layers(replace(CERTIFICATE, realised=overlap))[0]
    assert (realised["growth"], realised["margin"]) == ("1.05 times", "–")


def test_only_growth_is_in_sight():
    html = render(report_about())
    section = html.split('<section id="certificate"')[1].split("</section>")[0]
    sight, more = section.split("<details>")
    assert "at most 2.5 times" in sight
    assert "All this is about the training rows" in sight
    for word in ("λ", "Λ", "κ", "margin", "radius"):
        assert word in more
    for symbol in ("λ", "Λ", "κ", "radius", " %"):
        assert symbol not in sight


class TestVerdict:
    LOW, HIGH = (0.05, 0.06, 0.04, 0.05, 0.055), (0.2, 0.21, 0.18, 0.2, 0.19)

    def said(self, errors, full, **changes):
        certificate = replace(CERTIFICATE, new_data=new_data(errors, full))
        return verdict(Report("t", certificate=certificate, **changes))

    def test_two_paragraphs(self):
        first, second = self.said(self.LOW, self.LOW[::-1])
        assert first == str(new_data(self.LOW, self.LOW[::-1]))
        assert second == (
            "Proven: with these 300 features the training objective of any ℓ2-regularised linear "
            "model (for a hard margin, 1/margin²) is 1.05 times what it is with all 9,000. For any "
            "other labels of these support vectors, at most 2.5 times (a fair bound). Promised "
            "beforehand: at most 2.86 times (a fair bound)."
        )

    def test_a_proof_for_some_rows_is_none_for_all(self):
        part = replace(CERTIFICATE, covers_all_rows=False, new_data=None)
        first, _ = verdict(Report("t", certificate=part))
        assert "on the 50 support vectors is 1.05 times" in first

    @pytest.mark.parametrize(
        ("errors", "how"),
        [
            (LOW[::-1], "RFE did not do better by more than 2 points. Proven"),
            (HIGH, "RFE did worse. Proven"),
        ],
    )
    def test_others_of_the_same_size_are_judged(self, errors, how):
        own, rfe = replace(OWN, errors=self.LOW), replace(RFE, errors=errors)
        elsewhere = replace(rfe, size=10, method="univariate")
        beside = comparison(FULL, own, rfe, elsewhere, n_folds=5)
        second = self.said(self.LOW, self.LOW, comparison=beside, own=own)[1]
        assert second.startswith(f"With as many features, {how}")
        assert "univariate" not in second

    def test_of_methods_alone(self):
        (said,) = verdict(Report("t", comparison=COMPARISON))
        assert said == (
            "The lowest error of 2 choices is 4.0 %, by BSS with 290 features (3.0 % with all), "
            "at the C of the model; 1 of the others did not differ significantly from it."
        )

    def test_nothing_is_claimed_that_is_not_proven(self):
        bare = replace(CERTIFICATE, lambda_min=0.0, realised=None, new_data=None)
        first, _ = verdict(Report("t", certificate=bare))
        assert first.startswith("No useful bound on the training objective of any")
        proven = shown_facts(Report("t", certificate=bare))["Proven"]
        assert proven.startswith("no useful bound on the training objective of any")


def test_the_first_screen_has_the_answers():
    features = [Feature(i, str(i), 1.0, times_chosen=i % 3) for i in range(1, 301)]
    report = report_about(
        certificate=OF_ONE_SIZE, comparison=BESIDE, own=OWN, features=features, data="100 rows"
    )
    found = shown_facts(report)
    assert found["Data"] == "100 rows"
    assert found["Features"].startswith("300 of 9,000 for any linear model")
    assert found["Error on new data"] == (
        "11.0 % (6.3 to 18.6 %), with all features 9.5 % (5.2 to 16.8 %) with C tuned by inner "
        "folds; difference +1.5 points (95 % interval -9.5 to +12.5): not shown. "
        "Wrong: 3 of 40 sick, 8 of 60 well"
    )
    stability = "100 of 300 chosen again in all 2 folds 100 in none; stability 0.98 (0 is random"
    assert found["Stability"].startswith(stability)
    assert found["Proven"] == (
        "1.05 times the training objective with all features For any other labels of these support "
        "vectors, at most 2.5 times (a fair bound)."
    )
    assert found["With shuffled labels"].startswith(
        "51.0 % a control at the C of the model: far from 11.0 % with"
    )
    assert shown_rows(report, "beside") == [
        ["This choice (BSS)", "10.5 %", ""],
        ["RFE", "11.5 %", "not shown -1.0 (-23.0 to +21.0)"],
        ["All 9,000 features", "9.0 %", "not shown +1.5 (-9.5 to +12.5)"],
    ]
    html = render(report)
    assert html.index('id="summary"') < html.index('id="features"')


def test_nothing_is_counted_over_folds_that_is_not_known():
    report = report_about(comparison=BESIDE, own=OWN, features=[Feature(1, "a", 1.0)])
    assert shown_facts(report)["Stability"] == "0.98 (0 is random, 1 always the same)"


def test_many_classes_are_not_listed():
    few, many = ({str(i): i + 1 for i in range(n)} for n in (6, 7))
    given = {"n_rows": 40}
    assert "40 samples (1 0, 2 1," in methods_paragraph(CERTIFICATE, classes=few, **given)
    assert "40 samples, 300" in methods_paragraph(CERTIFICATE, classes=many, **given)


def test_features_as_a_table_to_take_away():
    features = [Feature(2, "=1+1", 1.0, 0.5, "-sick", "cover", 1), Feature(1, 'a,"b"\n', 2.0)]
    html = render(Report("t", features=features, certificate=CERTIFICATE))
    (table,) = re.findall(r'href="data:text/csv;base64,([^"]*)" download="features.csv"', html)
    assert list(csv.reader(io.StringIO(b64decode(table).decode(), newline=""))) == [
        ["rank", "feature", "scale", "weight", "points_to", "why", "times_chosen"],
        ["1", 'a,"b"\n', "2.0", "", "", "", ""],
        ["2", "'=1+1", "1.0", "0.5", "'-sick", "cover", "1"],
    ]
    assert ">1 of 2</td>" in html


def test_the_paragraph_says_what_was_done_and_found():
    text = methods_paragraph(
        replace(OF_ONE_SIZE, n_trusted=150),
        n_rows=400,
        classes={"sick": 150, "well": 250},
        scaling="standard",
        own=OWN,
        comparison=BESIDE,
    )
    for part in (
        "Columns were scaled to unit variance",
        "Of 9,000 features of 400 samples (150 sick, 250 well), 300 were chosen for linear models",
        "150 that came first in a ranking of all features, 150 by single-set",
        "single-set spectral sparsification",
        "at most 2.5 times",
        "2-fold cross-validation, in which columns were scaled and features chosen anew",
        "of every fold, with C tuned by inner folds, the error was 11.0 % (6.3 to 18.6 %) with the "
        "chosen features and 9.5 % (5.2 to 16.8 %) with all (difference +1.5 points, 95 % interval",
        "no difference that these samples can show",
        "On the same folds, with C tuned by inner folds, errors were 10.5 % here, and with RFE "
        "11.5 % and all features 9.0 %",
        "With shuffled labels, at the C of the model, the error was 51.0 % (chance: 48.0 %)",
        "Provable Guarantees",
        f"certifeature {certifeature.__version__}",
    ):
        assert part in text


def test_the_paragraph_claims_nothing_that_is_not_known():
    bare = replace(CERTIFICATE, lambda_min=0.0, realised=None, new_data=None)
    text = methods_paragraph(bare, n_rows=400, method="rfe")
    assert " times" not in text
    assert "cross-validation" not in text
    assert "by recursive feature elimination" in text
    # Nothing is listed that is not cited.
    assert "[1]" not in text
    alone = methods_paragraph(replace(bare, n_trusted=300), n_rows=400, supervised=False)
    assert "300 were chosen without labels: 300 that came first in a ranking of all" in alone
    assert "sparsification" not in alone


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
