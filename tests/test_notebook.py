"""What a notebook shows of a selector."""

from dataclasses import replace
from email.message import Message
from html import escape, unescape
from importlib import metadata
from pathlib import Path

import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import certifeature
from certifeature import BSSSelector, BSSSelectorCV, LPSVMSelector
from certifeature.datasets import make_relevant_features
from certifeature.selectors import base as notebook

ROOT = Path(__file__).resolve().parents[1]
needs_own_diagram = pytest.mark.skipif(
    not hasattr(BaseEstimator, "_html_repr"),
    reason="estimators cannot add to their diagram before scikit-learn 1.7",
)
SELECTORS = [getattr(certifeature, name) for name in certifeature.__all__ if "Selector" in name]


@pytest.fixture(scope="module")
def data():
    return make_relevant_features(60, 200, 20, random_state=0)


@pytest.fixture
def addresses(monkeypatch):
    """Return the package's metadata, to which a test adds addresses."""
    values = Message()
    monkeypatch.setattr(metadata, "metadata", lambda name: values)
    notebook._documentation.cache_clear()
    yield values
    notebook._documentation.cache_clear()


@needs_own_diagram
@pytest.mark.parametrize(
    "selector", [BSSSelector(30), BSSSelectorCV(BSSSelector(), sizes=[20, 30], cv=2)]
)
def test_the_certificate_stands_below_the_diagram(selector, data):
    before = selector._repr_html_()
    assert "training objective" not in before
    selector.fit(*data)
    headline = str(selector.certificate_).splitlines()[0]
    bundle = selector._repr_mimebundle_()
    for html in (selector._repr_html_(), bundle["text/html"]):
        assert html.endswith(f"><p>{escape(headline)}</p>")
    assert bundle["text/plain"] == repr(selector)


@needs_own_diagram
def test_what_the_certificate_says_is_escaped(data):
    selector = BSSSelector(30).fit(*data)
    selector.certificate_ = replace(selector.certificate_, model="<b>Odd</b> & co")
    _, start, shown = selector._repr_html_().rpartition("<p>")
    assert shown.count("<") == 1
    assert unescape(start + shown) == f"<p>{str(selector.certificate_).splitlines()[0]}</p>"


def test_a_selector_without_a_certificate_shows_its_diagram(data):
    html = LPSVMSelector().fit(*data)._repr_html_()
    assert "LPSVMSelector" in html
    assert "training objective" not in html


def test_text_stays_text(data):
    selector = BSSSelector(30).fit(*data)
    with sklearn.config_context(display="text"):
        assert not hasattr(selector, "_repr_html_")
        assert set(selector._repr_mimebundle_()) == {"text/plain"}


@pytest.mark.parametrize("selector", SELECTORS)
def test_the_diagram_links_to_the_page_of_the_selector(selector, addresses):
    addresses["Project-URL"] = "Source, https://example.org/code"
    addresses["Project-URL"] = "Documentation, https://example.org/docs/"
    page = f"https://example.org/docs/api/generated/certifeature.{selector.__name__}.html"
    assert selector()._get_doc_link() == page
    assert f'href="{page}"' in selector()._repr_html_()
    assert f'href="{page}"' in make_pipeline(selector(), LinearSVC())._repr_html_()


def test_no_link_leads_nowhere(addresses):
    assert BSSSelector()._get_doc_link() == ""
    assert "certifeature.BSSSelector.html" not in BSSSelector()._repr_html_()


def test_a_checkout_that_is_not_installed_has_no_link(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "metadata", missing)
    notebook._documentation.cache_clear()
    assert BSSSelector()._get_doc_link() == ""
    notebook._documentation.cache_clear()


def test_the_documentation_has_a_page_of_every_selector():
    text = (ROOT / "docs" / "api" / "selectors.md").read_text(encoding="utf-8")
    assert all(f"   {selector.__name__}\n" in text for selector in SELECTORS)
