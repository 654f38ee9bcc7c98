# Everything a user or a developer runs. Each set of packages is installed once into .venv and leaves a stamp named by the
# content of constraints.txt and pyproject.toml: change either and the sets are brought up to date, cut an install off and
# it's repeated. Works with any GNU make and a POSIX shell.

.NOTPARALLEL:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
KEY := $(shell cat constraints.txt pyproject.toml | cksum | tr ' ' '-')
CORE := $(VENV)/.stamp-core-$(KEY)
PROVE := $(VENV)/.stamp-prove-$(KEY)
TEST := $(VENV)/.stamp-test-$(KEY)
TORCH_SET := $(VENV)/.stamp-torch-$(KEY)
CHECK := $(VENV)/.stamp-check-$(KEY)

# a switch is on unless it's empty or 0
on = $(filter-out 0,$(1))
comma := ,

.PHONY: help verify test test-slow check lint format docs bench frameworks clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

verify: $(PROVE)  ## check every claim and write report/ (MUTANTS=0: without the false siblings; REQUIRE=all: every road must run)
	$(BIN)/reweight verify --out report $(if $(call on,$(MUTANTS)),--mutants,$(if $(filter 0,$(MUTANTS)),--no-mutants)) $(if $(REQUIRE),--require $(REQUIRE))

test: $(TEST) $(if $(call on,$(TORCH)),$(TORCH_SET))  ## the quick tests (TORCH=1 installs PyTorch for those that need it)
	$(BIN)/python -m pytest -m "not slow and not kill"

test-slow: $(TEST) $(if $(call on,$(TORCH)),$(TORCH_SET))  ## the slow tests, and those that kill what they test
	$(BIN)/python -m pytest -m "slow or kill"

check: lint docs  ## lint, format, types and documentation; a warning is an error

lint: $(CHECK)  ## lint, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(CHECK)  ## rewrite the sources in the project's format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(CHECK)  ## build the documentation into docs/_build
	@rm -rf docs/reference  # pages of modules that are gone
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build

bench: $(TEST)  ## measure speed as ratios against baselines of the same run
	$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-quiet --benchmark-json=benchmarks/results.json
	$(BIN)/python -m benchmarks.ratios benchmarks/results.json

frameworks: $(TEST) .venv-trl/.stamp .venv-verl/.stamp  ## record TRL, verl and polgrad anew and compare them with ours (3.5 GB, not part of the tests)
	@mkdir -p build/records
	PYTHONPATH=tests .venv-trl/bin/python -m frameworks.record_trl build/records/trl.json
	PYTHONPATH=tests .venv-trl/bin/python -m frameworks.record_polgrad build/records/polgrad.json
	PYTHONPATH=tests .venv-verl/bin/python -m frameworks.record_verl build/records/verl.json
	REWEIGHT_RECORDS=$(CURDIR)/build/records $(BIN)/python -m pytest tests/frameworks

.venv-%/.stamp: tests/frameworks/requirements-%.txt | $(VENV)/.stamp-venv
	$(BIN)/python -m venv --clear .venv-$*
	.venv-$*/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

clean:  ## remove all that these commands made, .venv too
	rm -rf $(VENV) .venv-trl .venv-verl build dist report docs/_build docs/reference benchmarks/results.json
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- the sets of packages ------------------------------------------------------------------------------------------

# $(call install,set,what it is,arguments of pip). The stamp comes last; those of other contents go. pip writes a package's
# INSTALLER file when all else of it is in place: a package without one was cut off, so it's forgotten and put in again.
define install
	@echo "installing $(2) into $(VENV)"
	@for info in $(VENV)/lib/python*/site-packages/*.dist-info; do \
		[ -e "$$info/INSTALLER" ] || rm -rf "$$info"; \
	done
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt $(3)
	@rm -f $(VENV)/.stamp-$(1)-* && touch $@
endef

# hatchling comes first, so that the build of the package itself is pinned too
$(VENV)/.stamp-build-$(KEY): | $(VENV)/.stamp-venv
	$(call install,build,the build tool,hatchling)

$(CORE): | $(VENV)/.stamp-build-$(KEY)
	$(call install,core,the core,--no-build-isolation --editable .)

$(PROVE): | $(CORE)
	$(call install,prove,the provers,'grpo-reweight[prove]')

$(TEST): | $(PROVE)
	$(call install,test,what the tests need,'grpo-reweight[test$(comma)sweep]')

$(TORCH_SET): | $(CORE)
	$(call install,torch,PyTorch,'grpo-reweight[torch]')

$(CHECK): | $(PROVE)
	$(call install,check,what lint and documentation need,'grpo-reweight[dev$(comma)docs]')

# A .venv that works is kept, whoever made it; one that was cut off, or is of an older Python, is made anew.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
WORKS := from importlib.metadata import distribution as d; d("pip").read_text("INSTALLER") or sys.exit(1)

$(VENV)/.stamp-venv:
	@if $(BIN)/python -c '$(NEW_ENOUGH)' 2>/dev/null && $(BIN)/python -c 'import sys; $(WORKS)' 2>/dev/null; then \
		touch $@; exit; \
	fi; \
	for python in $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python3.14 python); do \
		"$$python" -c '$(NEW_ENOUGH)' 2>/dev/null || continue; \
		"$$python" -c 'import venv, ensurepip' 2>/dev/null || { bare="$$python"; continue; }; \
		echo "making $(VENV) with $$("$$python" --version)"; \
		"$$python" -m venv --clear $(VENV) && touch $@; exit; \
	done; \
	if [ -n "$$bare" ]; then \
		echo "make: $$bare lacks the modules venv and ensurepip: install them (on Debian: apt-get install python3-venv)" >&2; \
	else \
		echo "make: no Python 3.11 or newer was found: install one, or name it as in make PYTHON=/path/to/python" >&2; \
	fi; exit 1
