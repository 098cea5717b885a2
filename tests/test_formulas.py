"""Text that looks like a formula is guarded, and what was guarded comes back."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certifeature._files import guarded, is_number, unguarded

SIGNS = "=+-@＝＋－＠"
# White space, control characters, a soft hyphen, a zero-width space and a byte-order mark.
UNSEEN = " \t\r\n\v\f\x00\x1f\x7f\x85\xa0\xad\u2003\u2028\u200b\u2060\u3000\ufeff"
TEXT = st.text(alphabet=f"'{SIGNS}{UNSEEN}1.e a") | st.text()


def opens_as_formula(text):
    """Tell whether a sign comes first, however much that cannot be seen is before it."""
    seen = (c for c in text if not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf"))
    return unicodedata.normalize("NFKC", next(seen, " ")) in "=+-@"


@given(TEXT)
def test_guarding_can_be_undone_and_leaves_no_formula(text):
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(tuple("=+-@\t\r")) or is_number(guarded(text))


@given(st.text(alphabet=UNSEEN, max_size=3), st.sampled_from(SIGNS), st.text())
def test_nothing_unseen_hides_a_formula(unseen, sign, rest):
    text = unseen + sign + rest
    assert opens_as_formula(text)
    assert guarded(text) == (text if is_number(text) else f"'{text}")


@given(TEXT)
def test_names_stay_as_they_are(text):
    if not opens_as_formula(text.lstrip("'")) and not text.lstrip("'").startswith(tuple("\t\r\n")):
        assert guarded(text) == text


@pytest.mark.parametrize("text", ["\n", "\t", "\r", "\r\nTP53"])
def test_no_cell_begins_with_a_tab_or_a_new_line(text):
    assert guarded(text) == f"'{text}"


@given(TEXT, TEXT)
def test_no_two_texts_become_one(first, second):
    assert (guarded(first) == guarded(second)) == (first == second)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_stay_numbers(value):
    assert guarded(repr(value)) == repr(value)
