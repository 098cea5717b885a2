"""The link check finds what a reader would run into, and nothing else."""

import check_links
import pytest

PAGE = """
<a href="other.html#there">a</a> <a href="other.html">b</a> <a href="#here">c</a>
<a href="folder/">d</a> <a href="a%20name.html">e</a> <img src="picture.png">
<a href="https://example.org/page#part">f</a> <a href="mailto:somebody@example.org">g</a>
<h1 id="here">h</h1>
"""


@pytest.fixture
def site(tmp_path):
    check_links._anchors.cache_clear()
    for name in ("other.html", "folder/index.html", "a name.html", "picture.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('<a id="there">')
    (tmp_path / "index.html").write_text(PAGE)
    return tmp_path


def test_good_links_are_found_good(site):
    assert len(check_links.links(site / "index.html")) == 8
    assert list(check_links.faults([site / "index.html"])) == []


@pytest.mark.parametrize(
    ("link", "wrong"),
    [
        ("missing.html", "no such file"),
        ("folder/missing.png", "no such file"),
        ("other.html#elsewhere", "no such anchor"),
        ("#elsewhere", "no such anchor"),
        ("https://", "no such address"),
        ("http:// example.org", "no such address"),
        ("http://[", "Invalid IPv6 URL"),
        ("file:///home/page.html", "unknown scheme file"),
    ],
)
@pytest.mark.parametrize("tag", ['<a href="{}">', '<img src="{}">'])
def test_a_dead_link_is_named(site, link, wrong, tag):
    page = site / "page.html"
    page.write_text(tag.format(link))
    assert list(check_links.faults([page])) == [f"{page}: {link}: {wrong}"]


def test_markdown_links_to_headings_of_markdown(site):
    (site / "guide.md").write_text("# The `fit`, and more\n\n```\n# no heading\n```\n")
    readme = site / "README.md"
    readme.write_text(
        "[good](guide.md#the-fit-and-more) [bad](guide.md#no-heading) [gone](gone.md)\n"
        "`[code](gone.md)`\n\n```\n[code](gone.md)\n```\n"
    )
    assert list(check_links.faults([readme])) == [
        f"{readme}: guide.md#no-heading: no such anchor",
        f"{readme}: gone.md: no such file",
    ]


@pytest.mark.parametrize(("text", "code"), [("", 0), ('<a href="gone.html">', 1)])
def test_the_exit_code_tells(site, monkeypatch, capsys, text, code):
    (site / "page.html").write_text(text)
    (site / "_static").mkdir()
    (site / "_static" / "template.html").write_text('<a href="{{ later }}">')
    monkeypatch.setattr("sys.argv", ["check_links.py", str(site)])
    assert check_links.main() == code
    assert f"5 files, {code} dead links" in capsys.readouterr().out
