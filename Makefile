# Everything runs in the project's own .venv; a machine with Python 3.11 and a package registry is enough.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-fast lint types imports bench docs clean

demo: .venv/installed
	$(BIN)/overt demo

test: .venv/tested lint types imports
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-fast: .venv/tested
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

lint: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/tested
	$(BIN)/mypy

imports: .venv/tested
	$(BIN)/lint-imports

bench: .venv/tested
	$(BIN)/python -m bench

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable .
	touch $@

.venv/tested: .venv/installed requirements-dev.txt
	$(BIN)/pip install --quiet --requirement requirements-dev.txt
	touch $@

docs: .venv/tested
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open site/index.html"

clean:
	rm -rf .venv demo-output bench/results site
