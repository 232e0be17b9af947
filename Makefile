# Two commands do everything on a fresh machine: `make demo` and `make test`.

CARGO ?= cargo
PYTHON ?= python3
DEMO ?= $(CURDIR)/target/demo
# Compiled for the demo: Cargo.toml says how.
QUICK := $(CURDIR)/target/quick
# The same packages for both builds, so that the second one uses what the first one compiled.
QUICK_BUILD := $(CARGO) build --profile quick --target-dir "$(CURDIR)/target" -p eos -p eos-terraform-provider -p eos-install

.PHONY: help build demo test test-full lint clean-demo

help:
	@echo 'make demo       build Eos and its engines, start a lab, deploy hello, print its URL'
	@echo 'make clean-demo take the demo down and remove its estate'
	@echo 'make test       what CI runs: all cheap tests, and a seeded sample of the dear ones'
	@echo 'make test-full  everything; writes docs/test-report.md; CONTINUE=1 goes on with a run that was stopped'
	@echo 'make lint       formatting, lints and voice'

build:
	$(CARGO) build --release -p eos -p eos-terraform-provider

# The installer is small. It installs the engines while it runs the build of all the rest.
demo:
	@echo '== build Eos and its engines, side by side'
	@echo '  build the installer'
	@$(QUICK_BUILD) --quiet --bin eos-install
	@$(QUICK)/eos-install $(QUICK_BUILD)
	@PATH="$(QUICK):$$PATH" sh tests/demo.sh "$(DEMO)"

clean-demo:
	if [ -d "$(DEMO)" ]; then $(QUICK)/eos lab reset --yes --estate "$(DEMO)" && rm -rf "$(DEMO)"; fi

test:
	$(PYTHON) tests/run.py

test-full:
	$(PYTHON) tests/run.py --full $(if $(CONTINUE),--continue)

lint:
	$(PYTHON) tests/run.py --lint
