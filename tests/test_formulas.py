"""Text that looks like a formula is guarded, and what was guarded comes back."""

from hypothesis import given
from hypothesis import strategies as st

from certifeature._formulas import guarded, is_number, unguarded

TEXT = st.text(alphabet="'=+-@\t\r1.e a") | st.text()


@given(TEXT)
def test_guarding_can_be_undone_and_leaves_no_formula(text):
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(tuple("=+-@\t\r")) or is_number(guarded(text))


@given(TEXT, TEXT)
def test_no_two_texts_become_one(first, second):
    assert (guarded(first) == guarded(second)) == (first == second)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_stay_numbers(value):
    assert guarded(repr(value)) == repr(value)
