"""Sphinx configuration."""

import sys
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

import certifeature

sys.path.insert(0, str(Path(__file__).parent))  # for gallery_look and how_it_works
import how_it_works

# Address of the source code: adds a link to the header.
SOURCE = ""

# The matrices of the examples are small; on a busy machine threads would wait for each other.
threadpool_limits(1)

project = "certifeature"
author = "the certifeature developers"
copyright = "2026, the certifeature developers"
release = version = certifeature.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "paper/*.md",
    "_build",
    "benchmark/table.md",
    "benchmark/selection.md",
    "benchmark/groups.md",
]
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL06", "GL07", "PR01", "PR02", "PR03", "RT03", "YD01"}
# Results of functions: their docstrings list attributes, not parameters.
numpydoc_validation_exclude = {
    r"\.(Enclosure(\.\w+)?|Loss(\.\w+)?|Problem(\.\w+)?|Basis(\.\w+)?|BasisFacts|ColumnChoice(\.\w+)?|Ball|Certificate|APriori|Realised|Regularised"
    r"|NewData|Performance|Estimate|Difference(\.\w+)?|SelectionMethod|FitResult|Steps|Dataset|LPSVMSolution|Support|Comparison|Contender"
    r"|Report|Feature)$"
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib", "gallery_look.set_style"),
    "remove_config_comments": True,
    "within_subsection_order": "gallery_look.ByTask",
    "show_memory": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"certifeature {version}"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_theme_options = {
    "logo": {"text": "certifeature"},
    "navbar_start": ["navbar-logo", "version"],
    "header_links_before_dropdown": 5,
    "icon_links": [{"name": "Source", "url": SOURCE, "icon": "fa-solid fa-code"}] if SOURCE else [],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_show_sourcelink = False
# Only the pages of the API, of the gallery and of the theory have others below them to list at the
# left; the others need the room.
html_sidebars = {
    page: []
    for page in (
        "user_guide",
        "how_it_works",
        "numbers",
        "validation",
        "groups",
        "command_line",
        "large_data",
        "results",
        "benchmark/*",
        "paper",
        "performance",
        "changelog",
    )
}


def setup(app: Any) -> None:
    """Draw the pictures of "How it works" before its page is read."""
    app.connect("builder-inited", lambda app: how_it_works.draw_all())
