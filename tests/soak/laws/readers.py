"""Readers on files that were damaged: data that fit together, or a clean error."""

import bz2
import gzip
import io
import lzma

import numpy as np
import pandas as pd
from scipy import sparse

from certifeature.io import read_data
from soak.verdict import Violation

_WORDS = (
    *(b"nan", b"inf", b"1e999", b"-1", b"0", b"99999999999999999999", b"\xef\xbb\xbf", b"\x00"),
    *(b",", b"\t", b":", b" ", b"\n", b"\r", b'"', b"#", b"y", b"\xff\xfe", b"1:1", b"qid:3"),
)


def readers_survive(rng):
    """A mutated file is read as rows, labels and names that fit together, or refused."""
    kind = _KINDS[rng.integers(len(_KINDS))]
    content = bytearray(_written(rng, kind))
    for _ in range(rng.integers(0, 3)):
        content = _mutated(rng, content)
    if rng.random() < 0.1:
        content = (gzip.compress, bz2.compress, lzma.compress)[rng.integers(3)](bytes(content))
        content = _mutated(rng, bytearray(content)) if rng.random() < 0.5 else content
    target = [None, "y", "f0", 0, -1, 7][rng.choice(6, p=[0.7, 0.1, 0.05, 0.05, 0.05, 0.05])]
    data = read_data(io.BytesIO(bytes(content)), format=kind.split()[-1], target=target)
    n_rows, n_features = data.X.shape
    values = data.X.data if sparse.issparse(data.X) else data.X
    if values.dtype != np.float64 or not np.isfinite(values).all():
        raise Violation(f"{kind}: values of type {values.dtype}, not all finite")
    if n_rows < 1 or n_features < 1:
        raise Violation(f"{kind}: data of shape {data.X.shape}")
    if data.y is not None and data.y.shape != (n_rows,):
        raise Violation(f"{kind}: {n_rows} rows and labels of shape {data.y.shape}")
    if data.feature_names is not None and data.feature_names.shape != (n_features,):
        raise Violation(f"{kind}: {n_features} columns, names {data.feature_names.shape}")
    if sparse.issparse(data.X):
        # Indices out of range would take whoever reads them next with them.
        data.X.check_format(full_check=True)


def _written(rng, kind):
    n, d = (int(size) for size in rng.integers(1, 8, size=2))
    X = rng.standard_normal((n, d)).round(3) * (rng.random((n, d)) < 0.7)
    y = rng.integers(3, size=n)
    buffer = io.BytesIO()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(d)]).assign(y=y)
    if kind in ("csv", "tsv"):
        return frame.to_csv(index=False, sep={"csv": ",", "tsv": "\t"}[kind]).encode()
    if kind == "semicolon csv":
        return frame.to_csv(index=False, sep=";", decimal=",").encode()
    if kind == "excel":
        frame.to_excel(buffer, index=False)
        return buffer.getvalue()
    if kind == "parquet":
        frame.to_parquet(buffer)
    elif kind == "svmlight":
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            pairs = [f"{j}:{value!r}" for j, value in enumerate(row, start=1) if value]
            buffer.write(" ".join([str(label), *pairs]).encode() + b"\n")
    elif kind == "npz":
        np.savez(buffer, X=X, y=y, feature_names=np.array([f"f{j}" for j in range(d)]))
    else:
        sparse.save_npz(buffer, sparse.csr_array(X), compressed=bool(rng.random() < 0.5))
    return buffer.getvalue()


_KINDS = ("csv", "semicolon csv", "tsv", "svmlight", "npz", "sparse npz", "parquet", "excel")


def _mutated(rng, content):
    """Return the bytes with one damage: flipped, cut, doubled, or with a word put in."""
    place, end = sorted(int(p) for p in rng.integers(0, len(content) + 1, size=2))
    kind = rng.integers(6)
    if kind == 0 and place < len(content):
        content[place] = int(rng.integers(256))
        return content
    if kind == 1 and place < len(content):
        content[place] ^= 1 << int(rng.integers(8))
        return content
    if kind == 2:
        return content[:place]
    if kind == 3:
        return content[:place] + content[min(end, place + 8) :]
    if kind == 4:
        return content[:end] + content[place:]
    return content[:place] + _WORDS[rng.integers(len(_WORDS))] + content[place:]
