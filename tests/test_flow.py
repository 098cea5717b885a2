"""The size of the package: lines of code, and files and nested calls of a fit, counted right."""

import importlib
import sys

import pytest
from flow import default_fit, follow
from size import code_lines, lines_of_code


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Two rooms; `entrance` reaches `cellar` by a chain of four calls."""
    (tmp_path / "upstairs.py").write_text(
        "import downstairs\n"
        "def entrance(): return [stairs(sort) for sort in (sorted, list)]\n"
        "def stairs(sort): return sort([2, 1], **({} if sort is list else {'key': key}))\n"
        "def key(value): return downstairs.cellar(value)\n"
        "def late():\n"
        "    import attic\n"
        "def broken():\n"
        "    try:\n"
        "        downstairs.trap()\n"
        "    except ValueError:\n"
        "        return key(1)\n"
    )
    (tmp_path / "downstairs.py").write_text(
        "def cellar(value): return value\ndef trap(): raise ValueError\n"
    )
    (tmp_path / "attic.py").write_text("class Box:\n    size = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("upstairs", "downstairs", "attic"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path, importlib.import_module("upstairs")


def test_nested_calls_are_counted_through_foreign_code_and_comprehensions(house):
    folder, upstairs = house
    flow = follow(upstairs.entrance, folder)
    assert [path.name for path in flow.files] == ["upstairs.py", "downstairs.py"]
    names = [step.split(":")[1] for step in flow.deepest]
    assert names == ["entrance", "stairs", "key", "cellar"]


def test_an_import_during_a_call_is_no_call(house):
    folder, upstairs = house
    flow = follow(upstairs.late, folder)
    assert flow.deepest == ("upstairs.py:late",)


def test_an_exception_ends_the_calls_that_it_leaves(house):
    folder, upstairs = house
    assert len(follow(upstairs.broken, folder).deepest) == 3


def test_code_outside_the_folder_does_not_count(house):
    folder, upstairs = house
    flow = follow(upstairs.entrance, folder / "elsewhere")
    assert (flow.files, flow.deepest) == ((), ())


def test_docstrings_comments_and_blank_lines_are_no_code():
    head = '"""Module."""\n\n# Why.\nx = (\n    1,\n)\n\n\n'
    function = 'def f():\n    """Doc.\n\n    More.\n    """\n    return x  # note\n'
    assert code_lines(head + function) == 5


def test_the_package_grows_no_more():
    assert lines_of_code() <= 12_500


def test_a_fit_can_be_read_in_few_files():
    flow = default_fit()
    assert len(flow.files) <= 18
    assert len(flow.deepest) <= 11
