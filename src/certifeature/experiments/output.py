"""Tables as Markdown and CSV, written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["csv_text", "markdown_table", "write_text"]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(map(_cell, line)) + " |\n" for line in lines)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as comma-separated values."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def write_text(path: Path, text: str) -> None:
    """Write a file, and replace the one that is there only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
