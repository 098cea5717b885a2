# Every target sets up what it needs in .venv; a machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := $(VENV)/.extra-

DATA ?= $(wildcard ../shared/data)

.PHONY: demo test test-fast test-all test-oldest soak mutants lint format hooks bench paper docs release-check clean

demo: $(EXTRAS)cli
	$(BIN)/certifeature demo

# The paper's experiments are not installed with the package; test-all tests them too.
NO_PAPER := --ignore=paper --ignore-glob="*/test_paper*"

test: $(EXTRAS)test
	$(BIN)/python -m pytest -n auto $(NO_PAPER) -m "not ci"

# Without the tests that take longest.
test-fast: $(EXTRAS)test
	$(BIN)/python -m pytest -n auto $(NO_PAPER) -m "not ci and not slow"

# All tests, with coverage and more random examples.
test-all: $(EXTRAS)test
	$(BIN)/python -m pytest -n auto --cov --cov-report=term --hypothesis-profile=thorough

# The oldest version of everything that pyproject.toml lets in, in an environment of its own. Old
# libraries use functions of each other that are deprecated by now; those warnings are ignored.
OLDEST := .venv-oldest
test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -n auto -W ignore::DeprecationWarning $(NO_PAPER)

$(OLDEST)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet uv
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable ".[test]"
	touch $@

# Laws on hostile data, against independent truth. LAW=name runs one of them only, and CASE=number
# repeats a violation.
SECONDS ?= 120
soak: $(EXTRAS)soak
	PYTHONPATH=tests:benchmarks $(BIN)/python -m soak --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(LAW),--law $(LAW)) $(if $(CASE),--case $(CASE))

# One-line bugs, each planted in a copy of the package, that the tests have to notice. BUG="part of a
# name" plants only those.
mutants: $(EXTRAS)test
	PYTHONPATH=tests $(BIN)/python -m mutants $(if $(BUG),--bug "$(BUG)")

lint: $(EXTRAS)lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(EXTRAS)lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

hooks: $(EXTRAS)lint
	$(BIN)/pre-commit install

# The data that some cases need are named with DATA=folder.
bench: $(EXTRAS)bench
	$(BIN)/python benchmarks/bench.py $(if $(DATA),--data $(DATA))

# The paper's experiments, hours of work; stopped and started again it goes on where it was.
REPEATS ?= 10
EXPERIMENT := $(BIN)/python -m paper
paper: $(EXTRAS)cli
	$(EXPERIMENT) table1 --out results/paper
	$(EXPERIMENT) table4 --out results/paper $(if $(DATA),--data $(DATA))
	$(EXPERIMENT) figures --out results/paper --data $(DATA) --repeats $(REPEATS)
	$(EXPERIMENT) table2-3 --out results/paper --data $(DATA) --repeats $(REPEATS)
	cp results/paper/*.md results/paper/*.svg docs/paper/

docs: $(EXTRAS)docs
	rm -rf docs/api/generated
	$(BIN)/certifeature demo --report docs/_static/example-report.html
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html README.md CONTRIBUTING.md CHANGELOG.md benchmarks/README.md

# The wheel is built from the source archive, so that both are known to be whole.
release-check: $(EXTRAS)release
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/check_release.py dist

clean:
	rm -rf $(VENV) $(OLDEST) .venv-docs dist docs/_build docs/gallery docs/api/generated docs/_static/example-report.html .coverage .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "certifeature needs Python 3.11 or newer; name one with: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(EXTRAS)%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@
