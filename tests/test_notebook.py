"""What a notebook shows of a selector."""

from dataclasses import replace
from html import escape, unescape
from pathlib import Path

import pytest
import sklearn

import certifeature
from certifeature import BSSSelector, LPSVMSelector, SelectorCV
from certifeature.datasets import make_relevant_features

ROOT = Path(__file__).resolve().parents[1]
SELECTORS = [getattr(certifeature, name) for name in certifeature.__all__ if "Selector" in name]


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(60, 200, 20, random_state=0)


def shown(selector):
    """Return the HTML that a notebook shows."""
    return selector._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    "selector", [BSSSelector(30), SelectorCV(BSSSelector(), sizes=[20, 30], cv=2)]
)
def test_the_certificate_stands_below_the_diagram(selector, data):
    assert "training objective" not in shown(selector)
    selector.fit(*data)
    headline = str(selector.certificate_).splitlines()[0]
    assert shown(selector).endswith(f"><p>{escape(headline)}</p>")
    assert selector._repr_mimebundle_()["text/plain"] == repr(selector)


def test_what_the_certificate_says_is_escaped(data):
    selector = BSSSelector(30).fit(*data)
    selector.certificate_ = replace(selector.certificate_, model="<b>Odd</b> & co")
    _, start, below = shown(selector).rpartition("<p>")
    assert below.count("<") == 1
    assert unescape(start + below) == f"<p>{str(selector.certificate_).splitlines()[0]}</p>"


def test_a_selector_without_a_certificate_shows_its_diagram(data):
    html = shown(LPSVMSelector().fit(*data))
    assert "LPSVMSelector" in html
    assert "training objective" not in html


def test_text_stays_text(data):
    selector = BSSSelector(30).fit(*data)
    with sklearn.config_context(display="text"):
        assert set(selector._repr_mimebundle_()) == {"text/plain"}


@pytest.mark.parametrize("selector", SELECTORS)
def test_no_diagram_links_to_a_page_that_does_not_exist(selector):
    assert f"{selector.__name__}.html" not in shown(selector())


def test_the_documentation_has_a_page_of_every_selector():
    text = (ROOT / "docs" / "api" / "selectors.md").read_text(encoding="utf-8")
    assert all(f"   {selector.__name__}\n" in text for selector in SELECTORS)
