"""What the tests of readers share: damaged files, and what holds for whatever is read."""

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from certifeature.datasets import Dataset


def assert_sound(data):
    """What holds for any result, whatever the file was."""
    assert isinstance(data, Dataset)
    assert data.X.dtype == np.float64
    assert data.X.ndim == 2
    assert min(data.X.shape) > 0
    assert np.isfinite(data.X.data if sparse.issparse(data.X) else data.X).all()
    if sparse.issparse(data.X):
        assert data.X.format == "csr"
        assert data.X.has_canonical_format
        data.X.check_format(full_check=True)
    assert data.y is None or data.y.shape == data.X.shape[:1]
    assert data.y is None or data.y.dtype in (np.int64, np.float64) or data.y.dtype.kind == "U"
    assert data.feature_names is None or data.feature_names.shape == data.X.shape[1:]


def attempt(call, name):
    """Return what a call gives, or None if it refuses the file of this name as it should."""
    try:
        return call()
    except (ValueError, OSError) as error:
        message = str(error)
    assert name in message
    return None


@st.composite
def damaged(draw, content):
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(content) - 1))
        # Bytes that mean something in the formats are likelier to get through.
        byte = draw(st.sampled_from(b"0123456789.,:-+e\n\r\t \"#\x00\xff_q'") | st.integers(0, 255))
        how = draw(st.sampled_from(["change", "insert", "delete"]))
        content[place : place + (how != "insert")] = b"" if how == "delete" else bytes([byte])
    return bytes(content)
