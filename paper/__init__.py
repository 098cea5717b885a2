"""The experiments of the paper, resumable and reproducible: ``python -m paper --help``."""
