"""``python -m certifeature`` is the ``certifeature`` command."""

from certifeature.cli import main

if __name__ == "__main__":
    main()
