# Everything runs in .venv, which is made on first use and again when the pinned versions change.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo cold test test-fast lint bench reproduce reproduce-quick clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "apsl_rules needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

demo: $(READY)
	$(BIN)/python tools/demo.py

# The first run on a fresh machine: the README's examples and the doctor, each in a process that finds nothing compiled.
EMPTY_CACHE := folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && NUMBA_CACHE_DIR="$$folder"
cold: $(READY)
	$(EMPTY_CACHE) $(BIN)/python -m pytest tests/docs/test_readme.py
	$(EMPTY_CACHE) $(BIN)/apsl doctor

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest --numprocesses 2

# All but the slow tests, without lint: about a minute once the kernels are compiled.
test-fast: $(READY)
	$(BIN)/python -m pytest -m 'not slow' --numprocesses 2

# Every benchmark in its quick form, to build/bench.md; FULL=1 runs the sizes that README and docs report, for hours.
# DATA=folder has the benchmark sets (data) and networks; without them what needs them is not run.
bench: $(READY)
	$(BIN)/python tools/bench/suite.py $(if $(FULL),--full) $(if $(DATA),--shared $(DATA))

# All tables and figures of the paper, for hours; DATA=folder takes the sets there instead of samples that are drawn.
reproduce: $(READY)
	$(BIN)/python tools/reproduce/run.py $(if $(DATA),--data $(DATA))

reproduce-quick: $(READY)
	$(BIN)/python tools/reproduce/run.py quick --out build/reproduce-quick $(if $(DATA),--data $(DATA))

clean:
	rm -rf $(VENV) build dist demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
