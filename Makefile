# Two commands do everything on a fresh machine: `make demo` and `make test`.

CARGO ?= cargo
PYTHON ?= python3
DEMO ?= $(CURDIR)/target/demo

.PHONY: help build demo test test-full lint clean-demo

help:
	@echo 'make demo       build Eos, make an estate, bring the lab up, deploy hello, print its URL'
	@echo 'make clean-demo take the demo down and remove its estate'
	@echo 'make test       what CI runs: every suite, long ones as seeded samples'
	@echo 'make test-full  every suite in full; writes docs/test-report.md'
	@echo 'make lint       formatting and lints of Rust and Python'

build:
	$(CARGO) build --release -p eos -p eos-terraform-provider

demo: build
	@PATH="$(CURDIR)/target/release:$$PATH" sh tests/demo.sh "$(DEMO)"

clean-demo:
	if [ -d "$(DEMO)" ]; then target/release/eos lab reset --yes --estate "$(DEMO)" && rm -rf "$(DEMO)"; fi

test:
	$(PYTHON) tests/run.py

test-full:
	$(PYTHON) tests/run.py --full

lint:
	$(PYTHON) tests/run.py --only lint
