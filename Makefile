# make demo: install into .venv and compare the policies.
# make check: install and run the quick checks.   make test: install and check everything.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check lint docs wheel-check attack sbom bench lock format clean

demo: .venv/demo.installed
	$(BIN)/sparsebandits demo

# Everything that a change has to pass, with the coverage of the tests.
test: lint
	$(BIN)/pytest -n 2 --cov

# The quick tier: the same checks without the tests that tests/conftest.py lists as slow.
check: lint
	$(BIN)/pytest -n 2 -m "not slow"

lint: .venv/test.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/test.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The site, in docs/_build/html.
docs: .venv/test.installed
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

# Build the wheel and the sdist into dist, and try the wheel in a clean environment of each Python from 3.11 on.
wheel-check: .venv/test.installed
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python tests/wheel_check.py dist/*.whl

# Damaged files, kills, interrupts, threads, extreme numbers and wrong arguments, at full size: about half an hour.
# The table goes to docs/reliability.md. make attack TOPICS='files threads' for some of them.
TOPICS ?=
attack: .venv/test.installed
	$(BIN)/python -m benchmarks.attacks $(TOPICS)

# The locked dependencies as a CycloneDX bill of materials, dist/sbom.cdx.json.
sbom: .tools/installed
	mkdir -p dist
	.tools/bin/cyclonedx-py requirements --pyproject pyproject.toml --mc-type library --output-reproducible \
	  -o dist/sbom.cdx.json requirements/demo.lock

# Peers are installed into environments of their own. Each section writes benchmarks/results/NAME.json and takes some
# minutes (make bench SECTIONS=limits for one of them); the guard comes last and fails if a kernel has become slower.
SECTIONS ?= decisions regret posteriors limits scaling click_speed context_speed workers start large nuts former

bench: .bench/installed $(SECTIONS:%=bench-%)
	.bench/bin/python -m benchmarks.scaling_plot
	.bench/bin/python -m benchmarks.page
	.bench/bin/python -m benchmarks.guard

bench-nuts: .nuts/installed
	.nuts/bin/python -m benchmarks.nuts

bench-former: .bench/installed .former/installed
	.bench/bin/python -m benchmarks.former

bench-%: .bench/installed
	.bench/bin/python -m benchmarks.$*

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sparsebandits needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/%.installed: requirements/%.lock pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.%/installed: requirements/%.lock pyproject.toml
	$(PYTHON) -m venv .$*
	.$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	.$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Version 0.1 before its speed was worked on, with the dependencies of today.
FORMER := 0b7312261bdebe3633a75752e6aa4c84e6fb002d
.former/installed: requirements/demo.lock
	@git cat-file -e '$(FORMER)^{commit}' 2>/dev/null || \
	  { echo "The section former needs the history of the repository: clone it with git, and not with --depth."; exit 1; }
	$(PYTHON) -m venv .former
	@echo '*' > .former/.gitignore
	.former/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	rm -rf .former/source
	mkdir .former/source
	git archive $(FORMER) | tar -x -C .former/source
	.former/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation .former/source
	@touch $@

.tools/installed: requirements/tools.lock
	$(PYTHON) -m venv .tools
	.tools/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

# Compile the lock files: pins with the hashes of every file that the index has, and no host. Pins stay where they can;
# make lock UPGRADE=--upgrade moves all of them to the newest versions, UPGRADE='--upgrade-package numpy' moves one.
UPGRADE ?=
COMPILE = CUSTOM_COMPILE_COMMAND="make lock" .tools/bin/pip-compile --quiet --generate-hashes --strip-extras \
  --allow-unsafe $(UPGRADE) --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options --no-config
lock: .tools/installed
	$(COMPILE) -o requirements/tools.lock requirements/tools.in
	$(COMPILE) -o requirements/demo.lock pyproject.toml requirements/build.in
	$(COMPILE) -o requirements/test.lock --extra test -c requirements/demo.lock pyproject.toml requirements/build.in
	$(COMPILE) -o requirements/bench.lock pyproject.toml requirements/build.in requirements/bench.in
	$(COMPILE) -o requirements/nuts.lock pyproject.toml requirements/build.in requirements/nuts.in

clean:
	rm -rf .venv .bench .former .nuts .tools out build dist docs/_build .coverage .coverage.* htmlcov \
	  .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .numba_cache
