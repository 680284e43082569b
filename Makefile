# Each target does its own set-up. `make help` lists them.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --no-input --progress-bar off
DOTS := awk '/^ *(Collecting|Downloading|Installing)/ { printf "."; fflush() } END { print "" }'
ARGS ?=
JOBS ?=

# The page is built while the libraries are installed; several targets in one call stay one after the other.
ifeq ($(words $(MAKECMDGOALS)),1)
MAKEFLAGS += -j2
endif

# A virtual environment knows its own folder: one that has been moved or copied is made again.
ifneq ($(wildcard $(VENV)/.here),)
$(shell [ "$$(cat $(VENV)/.here)" = "$$PWD" ] || rm -rf $(VENV))
endif

.PHONY: help run test check bench soak docs page lock clean

help: ## this list
	@echo 'make TARGET, where TARGET is one of:'
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  \1\t\2/' | expand -t 10

run: $(VENV)/.run page ## set up what is missing, start placet and open its page (ARGS="--port 8700 --no-open" and so on)
	@exec $(BIN)/placet web $(ARGS)

test: $(VENV)/.test page ## every test: architecture, Python, page (ARGS="tests/session -k lease" narrows the Python ones)
	@$(BIN)/python tools/suite.py $(if $(JOBS),--jobs $(JOBS)) $(ARGS)

check: $(VENV)/.test ## the gates: ruff, mypy, import-linter, the page's types, the generated pages of the docs
	@$(BIN)/python tools/gates.py

bench: $(VENV)/.test page ## the speed of the main paths as ratios, measured side by side
	@$(BIN)/python -m bench $(ARGS)

soak: $(VENV)/.test page ## the long runs: more crashes, more races, more examples
	@PLACET_SOAK=1 $(BIN)/python tools/suite.py $(if $(JOBS),--jobs $(JOBS)) $(ARGS)

docs: $(VENV)/.test ## write what is made from the code again: docs/reference and the page's wire types
	@$(BIN)/python -m tools.reference
	@$(BIN)/python -m tools.wire

page: $(VENV)/.build ## build the page, if its sources or its built files have changed
	@$(BIN)/python hatch_build.py

lock: ## write requirements/*.txt again from pyproject.toml (needs uv)
	@tools/lock

clean: ## remove what the targets above made here; your sessions are not touched
	rm -rf $(VENV) ui/node_modules src/placet/web/static dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# One file per step, so that a step runs again only when what it reads has changed.

$(VENV)/bin/python:
	@tools/venv "$(PYTHON)" "$(VENV)"

$(VENV)/.build: requirements/build.txt $(VENV)/bin/python
	@echo 'set-up: the tools that build the page (about 60 MB, once)'
	@$(PIP) --require-hashes -r requirements/build.txt | $(DOTS)
	@touch $@

$(VENV)/.run: requirements/run.txt pyproject.toml $(VENV)/.build
	@echo 'set-up: the libraries of placet (about 40 MB, once)'
	@$(PIP) --require-hashes -r requirements/run.txt | $(DOTS)
	@$(PIP) --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.run
	@echo 'set-up: the tools of the tests (about 90 MB, once)'
	@$(PIP) --no-compile --require-hashes -r requirements/test.txt | $(DOTS)
	@touch $@
