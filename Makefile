# The recipes. CI calls the same ones.
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help setup parts demo test lint quick fix bench soak docs lock

help:  ## Show the recipes
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(BIN)/python: requirements-dev.lock pyproject.toml demo/pyproject.toml
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Yardmaster needs Python 3.11 or newer; this is $$(python3 --version). On Debian 12: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(VENV) || { echo "python3 cannot make a virtual environment. On Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . --editable demo
	@touch $(BIN)/python

setup: $(BIN)/python  ## Make the virtual environment, from the lock file

parts: $(BIN)/python  ## Install and build the real servers that the tests run against
	$(BIN)/python tests/real/parts/install.py

demo: $(BIN)/python  ## Run Yardmaster on a simulated cluster; prints an address to open
	$(BIN)/python tests/real/parts/install.py --demo
	$(BIN)/yardmaster demo

test: $(BIN)/python parts  ## Everything: format, lint, types, layers, every test, real parts included
	$(MAKE) --no-print-directory lint
	$(BIN)/yardmaster demo --once
	CI=$${CI:-local} $(BIN)/python -m pytest -q

lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

quick: $(BIN)/python lint  ## The loop of about a minute: format, lint, types, layers, unit tests
	$(BIN)/python -m pytest -q -n 2 -m "not real" --ignore tests/contract --ignore tests/stories --ignore tests/demo

fix: $(BIN)/python  ## Format, and mend what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(BIN)/python  ## Measure, with the peer or the limit beside us
	$(BIN)/python -m benchmarks

soak: $(BIN)/python  ## The long proofs; prints its seed
	$(BIN)/python -m tests.soak

docs: $(BIN)/python  ## Generate the tables of the docs and the chart
	$(BIN)/python -m docs.generate
	$(BIN)/python -m helm.generate

lock:  ## Lock the dependencies anew; the files hold hashes, and no address of a registry
	uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url pyproject.toml --output-file requirements.lock
	uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --group dev pyproject.toml --output-file requirements-dev.lock
