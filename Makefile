# make demo and make test work on a fresh machine with Python 3.11+ and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: help demo test check bench clean

help:
	@echo "make demo    select among simulated ratings, with a picture at the end"
	@echo "make test    install what the tests need, check the code, run the tests"
	@echo "make check   ruff, mypy and the direction of imports"
	@echo "make bench   print the benchmarks"
	@echo "make clean   remove what make made"

$(BIN)/python:
	@echo "making a virtual environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"

$(VENV)/.demo: $(BIN)/python pyproject.toml
	@echo "installing DARC and what the picture needs into $(VENV)"
	$(PIP) install -e ".[plot]"
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml tests/plugin/pyproject.toml
	@echo "installing DARC with its extras, the test tools and the test plugin into $(VENV)"
	$(PIP) install -e ".[all]" --group test
	$(PIP) install -e tests/plugin
	@touch $@

demo: $(VENV)/.demo
	@mkdir -p demo
	@echo "simulating 40 prompts with 8 answers and 9 raters each: demo/ratings.csv"
	@$(BIN)/python examples/simulate_ratings.py demo/ratings.csv --seed 7
	@echo "darc select demo/ratings.csv --rule mean --rule epsilon --plot demo/decision.png"
	@echo
	@$(BIN)/darc select demo/ratings.csv --rule mean --rule epsilon --limit 10 --plot demo/decision.png
	@echo
	@echo 'darc select demo/ratings.csv --rule mean --rule epsilon --prompt "prompt 2"'
	@echo
	@$(BIN)/darc select demo/ratings.csv --rule mean --rule epsilon --prompt "prompt 2"
	@echo
	@echo "the picture is demo/decision.png"

check: $(VENV)/.test
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check -q .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: $(VENV)/.test check
	$(BIN)/python -m pytest -n auto --durations 10

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf $(VENV) demo build dist .mypy_cache .pytest_cache .ruff_cache
