# `make demo` and `make test` set everything up: a virtual environment with pinned dependencies.
# Python 3.11 with pip is all that has to be there; Java comes from a package.

PYTHON ?= python3.11
VENV   ?= .venv
TORCH_INDEX ?=
BIN     = $(VENV)/bin
MAIN    = $(VENV)/.ready-to-run
READY   = $(VENV)/.ready
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test test-browser test-real test-all test-environments test-arm test-faults lint types site check bench wheel clean

help:
	@echo "make demo        a complete run on the embedded collection"
	@echo "make test        the tests that need no data"
	@echo "make test-browser  the report in Chromium, which is installed if missing (Debian)"
	@echo "make test-real   the tests on real collections (IRPLATFORM_TEST_DATA)"
	@echo "make test-all    all tests, the slow ones too"
	@echo "make test-environments   the tests on every Python here, with the oldest and newest packages"
	@echo "make test-arm    install, tests and demo on ARM Linux under emulation, as root: hours"
	@echo "make test-faults   commands through a crash, a full and a failing disk at each file operation (hours)"
	@echo "make site        the documentation as a site, in site/"
	@echo "make check       test, test-browser, lint, types and site (what continuous integration runs)"
	@echo "make bench       benchmarks against peers"
	@echo "make wheel       the package, as it is published"

# What a run with a neural reranker needs. Pyserini without its dependencies: its Lucene jar is used.
$(MAIN): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is needed; set PYTHON=... to name it"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) $(addprefix --index-url ,$(TORCH_INDEX)) torch
	$(INSTALL) --editable '.[neural]'
	$(INSTALL) --no-deps pyserini
	@touch $@

$(READY): $(MAIN)
	$(INSTALL) --no-warn-conflicts --editable '.[dev]'
	@git config core.hooksPath .githooks 2>/dev/null || true
	@touch $@

demo: $(MAIN)
	$(BIN)/platform run --collection demo --reranker delta --run-dir runs/demo

test: $(READY)
	$(BIN)/python -m pytest -m "not real and not slow and not browser" -n 2 --dist loadscope --no-loadscope-reorder

test-browser: $(READY)
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	  { apt-get -qq update && apt-get -qq install --no-install-recommends --yes chromium chromium-driver; }
	BROWSER_TESTS=required $(BIN)/python -m pytest -m "not slow" tests/browser

test-real: $(READY)
	$(BIN)/python -m pytest -m real

test-all: $(READY)
	$(BIN)/python -m pytest

test-environments:
	$(PYTHON) tests/environments.py

test-arm: $(READY)
	$(BIN)/python tests/arm.py

test-faults: $(READY)
	$(BIN)/python tests/faults/drive.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

site: $(READY)
	$(BIN)/zensical build --clean --strict

check: test test-browser lint types site

bench: $(READY)
	$(BIN)/python -m benchmarks

wheel: $(READY)
	$(INSTALL) build
	$(BIN)/python -m build --outdir dist

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache
