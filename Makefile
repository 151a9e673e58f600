# Two commands on a fresh machine with Python 3.11+: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
# A folder of data sets. Without one, tests of them are skipped and `make paper` downloads them.
DATA ?= $(abspath $(or $(CTAD_DATA_DIR),$(wildcard ../shared/data/paper34)))

.PHONY: setup demo docs test bench paper fidelity recommended clean

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

# One thread for each of two processes: more would wait for each other.
test: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(MAKE) --no-print-directory docs
	$(BIN)/coverage erase
	OMP_NUM_THREADS=1 CTAD_DATA_DIR=$(DATA) $(BIN)/pytest --numprocesses 2 --cov --cov-report= --cov-fail-under=0
	OMP_NUM_THREADS=1 NUMBA_DISABLE_JIT=1 $(BIN)/pytest --numprocesses 2 -m interpreted --cov --cov-append --cov-report= --cov-fail-under=0 tests
	$(BIN)/coverage report

bench: setup
	$(BIN)/python benchmarks/transport.py
	$(BIN)/python benchmarks/streams.py
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/networks.py

# Hours, resumable: all go on with what they have. The third uses the scores of the first.
paper: setup
	$(BIN)/ctad paper $(if $(DATA),--data-dir $(DATA)) -o results --jobs 2
	$(BIN)/python benchmarks/reproduction.py

fidelity: setup
	$(BIN)/python benchmarks/fidelity.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/fidelity_report.py

recommended: setup
	$(BIN)/python benchmarks/recommended.py $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/recommended_report.py

clean:
	rm -rf .venv dist build site .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
