"""The bytes of a file, unpacked, and a name for it in messages."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_text", "decoding", "not_found", "read_bytes", "unpacked"]

# By content, not by name: streams have no name, and names of downloads may be wrong.
_UNPACKERS = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
}
_ZSTD = b"\x28\xb5\x2f\xfd"


def read_bytes(path: str | os.PathLike[str] | BinaryIO) -> tuple[bytes, str]:
    """Return the unpacked content of a file or stream, and its name."""
    if isinstance(path, str | os.PathLike):
        source = os.fspath(path)
        if not os.path.exists(source):
            raise not_found(Path(source))
        content = Path(source).read_bytes()
    else:
        name = getattr(path, "name", None)
        source = name if isinstance(name, str) else "<stream>"
        content = path.read()
        if not isinstance(content, bytes):
            raise ValueError(
                f"{source}: the stream gives {type(content).__name__}, and bytes are needed. "
                'Open the file with mode "rb", or give sys.stdin.buffer.'
            )
    return unpacked(content, source), source


def not_found(path: Path) -> FileNotFoundError:
    """Return the error that there is no such file, with the most similar name in its folder."""
    beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    likely = get_close_matches(path.name, sorted(beside), n=1)
    remedy = f"Did you mean {path.with_name(likely[0])}?" if likely else "Check the path."
    return FileNotFoundError(f"{path}: no such file or folder. {remedy}")


def unpacked(content: bytes, source: str) -> bytes:
    """Undo gzip, bzip2, xz or Zstandard compression, if there is any."""
    for signature, unpack in _UNPACKERS.items():
        if content.startswith(signature):
            with decoding(source, "compressed data"):
                return unpack(content)
    if content.startswith(_ZSTD):
        try:
            zstd = importlib.import_module("compression.zstd")
        except ImportError:
            raise ValueError(
                f"{source}: Zstandard compression needs Python 3.14 or newer. Unpack the file "
                "first, with: zstd -d"
            ) from None
        with decoding(source, "compressed data"):
            return bytes(zstd.decompress(content))
    return content


@contextmanager
def decoding(source: str, kind: str) -> Iterator[None]:
    """Turn any error in the block into a ValueError with the name of the file."""
    try:
        with warnings.catch_warnings():
            # What decoders warn about is checked in the result.
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        raise ValueError(
            f"{source}: not {kind} that can be read ({type(error).__name__}: {error}). The file "
            "may be damaged, cut short or of another format: get it again, or name its format."
        ) from error


def check_text(content: bytes, source: str) -> None:
    """Make sure that a text file is in UTF-8 and has no NUL characters."""
    place = content.find(b"\0")
    if place >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise ValueError(
            f"{source}, line {line}: byte 0x00 at offset {place}, "
            "which is not in UTF-8 text. Convert the file, for example with: "
            "iconv -f utf-16 -t utf-8"
        )
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{source}, line {line}: byte {content[error.start]:#04x} at offset {error.start} is "
            "not UTF-8. Convert the file, for example with: iconv -f latin1 -t utf-8"
        ) from None
