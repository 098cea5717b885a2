"""Find dead links: targets and anchors that are not there.

``python tools/check_links.py SITE FILE.md …`` looks at every page below the folder SITE, and at
Markdown files as they stand in the repository. Nothing is fetched: of addresses elsewhere only the
form is checked.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)[^)]*\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


class _Page(HTMLParser):
    """The links of a page, and the anchors that others can link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") or (tag, name) == ("object", "data"):
                self.links.append(value or "")
            elif value and (name == "id" or (tag, name) == ("a", "name")):
                self.anchors.add(value)


@cache
def _anchors(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return _Page(text).anchors
    headings = _HEADING.findall(re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in headings}


def links(path: Path) -> list[str]:
    """Return where the links of an HTML or Markdown file point to, as they stand there."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return _Page(text).links
    return _LINK.findall(_CODE.sub("", text))


def fault(link: str, path: Path) -> str | None:
    """Return what is wrong with a link of a file, or None."""
    try:
        parts = urlsplit(link)
    except ValueError as error:
        return str(error)
    if parts.scheme in ("http", "https") or parts.netloc:
        return None if re.fullmatch(r"[\w.-]+(:\d+)?", parts.netloc) else "no such address"
    if parts.scheme:
        return None if parts.scheme in ("mailto", "data") else f"unknown scheme {parts.scheme}"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
    if target.is_dir() and path.suffix == ".html":
        target /= "index.html"
    if not target.exists():
        return "no such file"
    if parts.fragment and target.suffix in (".html", ".md"):
        return None if unquote(parts.fragment) in _anchors(target) else "no such anchor"
    return None


def faults(paths: list[Path]) -> Iterator[str]:
    """Yield a line for every dead link of some files."""
    for path in paths:
        for link in dict.fromkeys(links(path)):
            if wrong := fault(link, path):
                yield f"{path}: {link}: {wrong}"


def main() -> int:
    """Check a site and files, and return the exit code."""
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: check_links.py SITE [FILE.md …], where SITE is a folder of HTML pages")
    site = Path(sys.argv[1])
    theme = site / "_static"  # has templates of pages, whose links are not links yet
    pages = sorted(path for path in site.rglob("*.html") if theme not in path.parents)
    paths = [*pages, *map(Path, sys.argv[2:])]
    dead = list(faults(paths))
    print(*dead, f"{len(paths)} files, {len(dead)} dead links", sep="\n")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
