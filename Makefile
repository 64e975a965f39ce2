# `make demo` and `make test` set everything up: a virtual environment with pinned dependencies.
# Python 3.11 with pip is all that has to be there; Java comes from a package.

PYTHON ?= python3.11
VENV   ?= .venv
TORCH_INDEX ?=
BIN     = $(VENV)/bin
READY   = $(VENV)/.ready

.PHONY: help demo test test-real test-all lint types check bench clean

help:
	@echo "make demo        a complete run on the embedded collection"
	@echo "make test        the tests that need no data"
	@echo "make test-real   the tests on real collections (IRPLATFORM_TEST_DATA)"
	@echo "make test-all    all tests, the slow ones too"
	@echo "make check       test, lint and types (what continuous integration runs)"
	@echo "make bench       benchmarks against peers"

$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is needed; set PYTHON=... to name it"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt $(addprefix --index-url ,$(TORCH_INDEX)) torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/platform run --collection demo --reranker delta --run-dir runs/demo

test: $(READY)
	$(BIN)/python -m pytest -m "not real and not slow" -n 2 --dist loadscope

test-real: $(READY)
	$(BIN)/python -m pytest -m real

test-all: $(READY)
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

check: test lint types

bench: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
