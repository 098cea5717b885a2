"""Count the lines of code of a package, without docstrings, comments and blank lines.

Usage: python tools/size.py [FOLDER]
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "certifeature"
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


def code_lines(text: str) -> int:
    """Return the number of lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.difference_update(range(first.lineno, (first.end_lineno or 0) + 1))
    return len(lines)


def lines_of_code(folder: Path = SOURCE) -> int:
    """Return the number of lines of code of a package."""
    return sum(code_lines(path.read_text(encoding="utf-8")) for path in folder.rglob("*.py"))


def main() -> None:
    """Print files, lines and lines of code of each subpackage."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    code: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        part = inside.parts[0] + "/" if len(inside.parts) > 1 else "(top)"
        text = path.read_text(encoding="utf-8")
        for name in (part, "total"):
            files[name] += 1
            lines[name] += text.count("\n")
            code[name] += code_lines(text)
    print(f"{'':16}{'files':>7}{'lines':>8}{'code':>8}")
    for name in sorted(files, key=lambda name: (name == "total", name)):
        print(f"{name:16}{files[name]:>7}{lines[name]:>8,}{code[name]:>8,}")


if __name__ == "__main__":
    main()
