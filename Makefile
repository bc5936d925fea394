# Every target sets up what it needs in .venv, and re-uses it the next time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Half of the tests' time is TensorFlow tracing on one thread, so two workers.
WORKERS ?= 2

.DEFAULT_GOAL := help
# Through the environment: quotes in it are no business of the shell's.
export SENTENCE
.PHONY: help setup run serve test test-backends lint format tutorials notebooks bench results clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(VENV)/.run  ## Create .venv with the package in it
run: setup  ## Train a translator, look into it, export it, use it
	@$(BIN)/keras-seq demo $(if $(SENTENCE),"$$SENTENCE")

test: $(VENV)/.dev  ## Run all tests (TensorFlow backend)
	@$(BIN)/python -m pytest -n $(WORKERS)

test-backends: $(VENV)/.dev $(VENV)/.backends  ## The layer laws on JAX and PyTorch
	@for backend in jax torch; do \
	  echo "== $$backend"; \
	  KERAS_BACKEND=$$backend $(BIN)/python -m pytest -n $(WORKERS) \
	    -m "not tensorflow" tests/ops tests/layers tests/conformance \
	    tests/decoding || exit 1; \
	done

lint: $(VENV)/.dev  ## ruff check and format check
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

format: $(VENV)/.dev  ## Let ruff mend what it can
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

tutorials: setup  ## Run every tutorial in full
	@$(BIN)/keras-seq tutorial --all

notebooks: $(VENV)/.dev  ## Build notebooks from the tutorial scripts
	@$(BIN)/jupytext --to ipynb --output-dir outputs/notebooks tutorials/*.py

bench: $(VENV)/.bench  ## Measure beside the peers, print the ratios
	@$(BIN)/python -m benchmarks

serve: $(VENV)/.serving  ## Serve the shipped models on 127.0.0.1:8501
	@$(BIN)/keras-seq serve saved_models

results: $(VENV)/.results  ## Train and score everything (seven hours); writes docs/results.md
	@$(BIN)/python -m results

clean:  ## Remove .venv and everything generated
	rm -rf $(VENV) outputs build *.egg-info .pytest_cache .ruff_cache .hypothesis

# --- set-up: one stamp file per group of packages -------------------------
PIP := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check

$(BIN)/python:
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "keras_seq needs Python 3.11 or newer; name one with make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: setup.cfg pyproject.toml | $(BIN)/python
	@echo "Installing keras_seq and TensorFlow (once, a minute or two) ..."
	@$(PIP) -e '.[captioning]' && touch $@

$(VENV)/.dev $(VENV)/.backends $(VENV)/.bench $(VENV)/.results $(VENV)/.serving: $(VENV)/.%: $(VENV)/.run
	@echo "Installing the packages for [$*] ..."
	@$(PIP) -e '.[$*]' && touch $@
