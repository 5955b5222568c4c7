# Two commands do everything from a fresh clone: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Bytecode is kept whatever the shell says: the many processes of the tests start in half the time.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
# Tests run one process per core; each keeps its own numerics on one thread.
WORKERS ?= auto
PROFILE ?= smoke
# Spark needs Java.
comma := ,
CLUSTERS := dask$(if $(shell command -v java),$(comma)spark)

.DEFAULT_GOAL := help
.PHONY: help demo reproduce test test-slow test-smoke smoke-numbers test-hostile test-minimum run-minimum test-browser test-torch test-cluster lint types docs screenshots bench clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

# One stamp per set of extras: reinstalled when pyproject.toml changes, otherwise instant.
$(VENV)/.installed-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit("ifair needs Python 3.11 or newer, this is %d.%d; set PYTHON=" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing ifair[$*] into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

demo: $(VENV)/.installed-report ## set up, decide about the people of German Credit fairly, write a report
	@$(BIN)/ifair demo

reproduce: $(VENV)/.installed-report,tune ## set up and run the paper's evaluation: PROFILE=smoke (default), quick or full
	@$(BIN)/ifair reproduce --profile $(PROFILE)

test: $(VENV)/.installed-test ## set up and run the test suite
	@$(PYTEST) -n $(WORKERS) --dist worksteal -m "not slow and not smoke and not browser and not cluster"

test-slow: $(VENV)/.installed-test $(VENV)/.installed-dask ## the slow proofs: a hundred seeds of gradient checks and the like
	@IFAIR_TEST_SEEDS=$${IFAIR_TEST_SEEDS:-100} $(PYTEST) -n $(WORKERS) --dist worksteal -m "slow and not cluster"
	@$(PYTEST) -m "slow and cluster"

test-smoke: $(VENV)/.installed-test ## the paper's evaluation in small, and whether it gives the numbers that it always gave
	@$(PYTEST) -m smoke tests/reproduce

smoke-numbers: $(VENV)/.installed-test ## run the paper's evaluation in small, and keep its numbers as those to compare with: a deliberate change
	@$(BIN)/ifair reproduce --profile smoke --output ifair-reproduce/smoke-numbers
	@PYTHONPATH=tests $(BIN)/python tests/reproduce/test_smoke.py ifair-reproduce/smoke-numbers

test-browser: $(VENV)/.installed-browser ## the report in a real Chromium, which must be installed, with its driver
	@$(PYTEST) -m browser tests/browser

test-torch: $(VENV)/.installed-test $(VENV)/.installed-torch ## the tests that need PyTorch; installs it (5 GB with CUDA)
	@$(PYTEST) tests/engines tests/inputs/test_tensor.py

# Clusters run in threads and processes of their own, which outlive a test: one process for them, and nothing else in it.
test-cluster: $(VENV)/.installed-test $(VENV)/.installed-$(CLUSTERS) ## the tests that need Dask or Spark; installs them, Spark (0.5 GB) only where there is Java
	@$(PYTEST) -m cluster tests

screenshots: $(VENV)/.installed-browser ## take the pictures of the report in the documentation again; needs Chromium
	@$(BIN)/python docs/screenshots.py

# The lowest of everything that pyproject.toml names. Old packages warn of newer ones that they use; that is their business.
test-minimum: ## the tests with the lowest versions that are declared to work, in an environment of their own
	@test -x $(VENV)-minimum/bin/python || $(PYTHON) -m venv $(VENV)-minimum
	@$(VENV)-minimum/bin/python -m pip install --quiet --disable-pip-version-check uv
	@UV_SYSTEM_CERTS=1 $(VENV)-minimum/bin/uv pip install --quiet --python $(VENV)-minimum/bin/python --resolution lowest-direct -e '.[test]'
	@$(MAKE) --no-print-directory VENV=$(VENV)-minimum run-minimum

run-minimum:
	@$(PYTEST) -n $(WORKERS) -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -m "not slow and not smoke and not browser and not cluster"

test-hostile: $(VENV)/.installed-test ## bad tables, altered files and kill -9 through all verbs: one table of what came of it
	@OMP_NUM_THREADS=1 $(BIN)/python tests/hostile/run_trial.py

lint: $(VENV)/.installed-lint ## style
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.installed-lint ## static types
	@$(BIN)/mypy

docs: $(VENV)/.installed-docs ## build the documentation; warnings are errors
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(VENV)/.installed-test ## all benchmarks in small sizes; says what got slower since the last commit, or AGAINST=REVISION
	@$(BIN)/python benchmarks/run_all.py --against $(or $(AGAINST),HEAD)

clean: ## remove the environment and everything built
	rm -rf $(VENV) $(VENV)-minimum build dist docs/_build docs/api/generated docs/auto_examples docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache .hypothesis
