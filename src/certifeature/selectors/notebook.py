"""How a selector looks in a notebook: scikit-learn's diagram, a link, the certificate."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib import metadata
from typing import Any

from sklearn.base import BaseEstimator

from certifeature.certificate.wording import as_sentences

__all__ = ["ShownInNotebooks"]


class ShownInNotebooks(BaseEstimator):
    """A diagram that links to the documentation and ends with what the certificate says first."""

    _doc_link_module = "certifeature"

    @property
    def _doc_link_template(self) -> str:
        """Address of the page of an estimator; empty, and so without a link, if there is none."""
        site = _documentation()
        return f"{site}/api/generated/certifeature.{{estimator_name}}.html" if site else ""

    def _html_repr(self) -> str:
        diagram: str = super()._html_repr()
        certificate: Any = getattr(self, "certificate_", None)
        if certificate is None:
            return diagram
        return f"{diagram}<p>{escape(as_sentences(certificate)[0])}</p>"


@cache
def _documentation() -> str:
    """Return the address that the package's metadata give for its documentation, or nothing."""
    try:
        addresses = metadata.metadata("certifeature").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    named = dict(address.split(", ", 1) for address in addresses)
    return named.get("Documentation", "").rstrip("/")
