"""Settings of all tests."""

# Doctests of a module see the one that the library uses, not a second copy, if it is there first.
import paper  # noqa: F401
