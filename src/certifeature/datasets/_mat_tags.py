"""The structure of MATLAB files of version 5, checked before SciPy reads them.

SciPy looks up the type of each element in a table without a check of its bounds, so a damaged
file can end the process.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Variable", "check_variable", "split_variables"]

_HEADER_SIZE = 128
_INT32, _MATRIX, _COMPRESSED = 5, 14, 15
# int8 to uint32, single, double, int64, uint64, and text in UTF-8, UTF-16, UTF-32.
_PLAIN = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18})
_CELL, _CHARACTERS, _SPARSE = 1, 4, 5
_READABLE = frozenset({_CELL, _CHARACTERS, _SPARSE, *range(6, 16)})
_COMPLEX = 0x0800


@dataclass(frozen=True)
class Variable:
    """The elements that a variable is made of, as pairs of type and content."""

    elements: list[tuple[int, bytes]]
    byte_order: str

    @property
    def flags(self) -> int:
        """The class of the array in the low byte, and whether it is complex."""
        return int(struct.unpack(self.byte_order + "I", self.elements[0][1][:4])[0])

    @property
    def kind(self) -> int:
        """The class of the array."""
        return self.flags & 0xFF


def split_variables(content: bytes) -> dict[str, Variable]:
    """Return the variables of a file by name; those of classes without a name are left out."""
    byte_order = {b"IM": "<", b"MI": ">"}[content[126:_HEADER_SIZE]]
    variables: dict[str, Variable] = {}
    for kind, part in _elements(content[_HEADER_SIZE:], byte_order):
        if kind == _COMPRESSED:
            [(kind, part)] = _elements(zlib.decompress(part), byte_order)
        if kind != _MATRIX:
            raise ValueError(f"an element of type {kind} where a variable should be")
        variable = Variable(list(_elements(part, byte_order)), byte_order)
        if variable.kind in _READABLE:
            name = variable.elements[2][1].decode("ascii")
            if name in variables:
                raise ValueError(f"two variables are named {name!r}")
            variables[name] = variable
    return variables


def _elements(buffer: bytes, byte_order: str) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place < len(buffer):
        kind, size = struct.unpack_from(byte_order + "II", buffer, place)
        start = place + 8
        if kind >> 16:
            # Up to four bytes of content stand in the tag itself.
            kind, size, start = kind & 0xFFFF, kind >> 16, place + 4
            if size > 4:
                raise ValueError(f"{size} bytes in a short element")
        if start + size > len(buffer):
            raise ValueError("the end is missing")
        yield kind, buffer[start : start + size]
        place = start + size
        if kind != _COMPRESSED:
            place += -place % 8


def check_variable(variable: Variable) -> None:
    """Make sure that SciPy can read a variable of numbers or texts."""
    kinds = [kind for kind, _ in variable.elements]
    body = kinds[3:]
    if kinds[1] != _INT32 or variable.kind not in _READABLE:
        raise ValueError("a variable is damaged, or neither numbers nor texts")
    if variable.kind == _CELL:
        dimensions = variable.elements[1][1]
        sizes = struct.unpack(f"{variable.byte_order}{len(dimensions) // 4}i", dimensions)
        if len(body) != math.prod(sizes) or set(body) - {_MATRIX}:
            raise ValueError("a cell array is damaged")
        for _, part in variable.elements[3:]:
            check_variable(
                Variable(list(_elements(part, variable.byte_order)), variable.byte_order)
            )
        return
    n_expected = 3 if variable.kind == _SPARSE else 1
    if variable.flags & _COMPLEX or len(body) != n_expected or set(body) - _PLAIN:
        raise ValueError("a variable is complex or damaged")
