# Recipes for development and CI.
.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin

# The checks that `lint` runs side by side; each prints at its end.
LINTS := lint-types lint-format lint-rules lint-layers
# More processes than cores, as tests of real servers wait; what runs beside what is in tests/distribution.py.
PROCESSES := 3
# Every process that a test starts would else compile the program again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup parts demo test test-times lint $(LINTS) quick fix bench bench-quality soak packaging docs cases untranslated lock

help:  ## Show the recipes
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

$(BIN)/python: requirements-dev.lock pyproject.toml demo/pyproject.toml
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Yardmaster needs Python 3.11 or newer, but python3 is $$(python3 --version). On Debian 12: apt-get install python3 python3-venv"; exit 1; }
	python3 -m venv $(VENV) || { echo "python3 cannot create a virtual environment. On Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . --editable demo
	@touch $(BIN)/python

setup: $(BIN)/python  ## Create the virtual environment from the lock file

parts: $(BIN)/python  ## Install and build the real servers that the tests run against
	$(BIN)/python tests/real/parts/install.py

demo: $(BIN)/python  ## Run Yardmaster on a simulated cluster and print the address to open
	$(BIN)/python tests/real/parts/install.py --demo
	$(BIN)/yardmaster demo

test: $(BIN)/python parts  ## Run everything: format, lint, types, layers, all tests, real servers included
	$(MAKE) --no-print-directory lint LINTS="$(filter-out lint-types,$(LINTS))"
	@# mypy uses one core for over a minute, so the tests run beside it.
	@$(BIN)/mypy > $(VENV)/types.log 2>&1 & types=$$!; \
	CI=$${CI:-local} $(BIN)/python -m pytest -q -n $(PROCESSES); tests=$$?; \
	wait $$types || { cat $(VENV)/types.log; exit 1; }; exit $$tests

test-times: $(BIN)/python parts  ## Run `make test` alone on the machine, and record what it takes in docs/test-times.json
	$(BIN)/python -m tests.times --record

lint:
	$(MAKE) --no-print-directory -j 2 -Otarget --keep-going $(LINTS)

lint-types:
	$(BIN)/mypy

lint-format:
	$(BIN)/ruff format --check .

lint-rules:
	$(BIN)/ruff check .

lint-layers:
	$(BIN)/lint-imports

quick: $(BIN)/python lint  ## Run format, lint, types, layers and unit tests, in a few minutes
	$(BIN)/python -m pytest -q -n 2 -m "not real" --ignore tests/contract --ignore tests/stories --ignore tests/demo

fix: $(BIN)/python  ## Format the code and apply the linter's fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(BIN)/python  ## Run the benchmarks beside their peers and limits
	$(BIN)/python -m benchmarks

bench-quality: $(BIN)/python  ## Score the decisions on the public data sets in ../shared/data
	$(BIN)/python -m benchmarks.quality

soak: $(BIN)/python  ## Run the long tests; prints the seed
	$(BIN)/python tests/real/parts/install.py --soak
	$(BIN)/python -m tests.soak

packaging: $(BIN)/python  ## Install Yardmaster each way in an empty environment, try it, and record it; needs uv
	$(BIN)/python -m tests.packaging_run --record

docs: $(BIN)/python  ## Generate the tables of the docs and the chart
	$(BIN)/python -m docs.generate
	$(BIN)/python -m helm.generate

cases: $(BIN)/python  ## Write the annotations and summaries that cases of rules expect, after a change of wording; needs promtool
	$(BIN)/python -m tests.alerts.packs.annotations

untranslated: $(BIN)/python  ## List the sentences without a translation, as entries to paste
	@$(BIN)/python -m tests.bot.language.untranslated

lock:  ## Compile the lock files anew: hashes, but no registry address
	uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url pyproject.toml --output-file requirements.lock
	uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --extra charts pyproject.toml --output-file requirements-charts.lock
	uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --extra apprise pyproject.toml --output-file requirements-apprise.lock
	uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --group dev pyproject.toml --output-file requirements-dev.lock
