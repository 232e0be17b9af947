# Two commands do everything on a fresh machine: `make demo` and `make test`.

CARGO ?= cargo
PYTHON ?= python3
DEMO ?= $(CURDIR)/target/demo

.PHONY: help build demo test test-full lint clean-demo

help:
	@echo 'make demo       build Eos, make an estate, bring the lab up, deploy hello, print its URL'
	@echo 'make clean-demo take the demo down and remove its estate'
	@echo 'make test       what CI runs: all cheap tests, and a seeded sample of the dear ones'
	@echo 'make test-full  everything; writes docs/test-report.md; CONTINUE=1 goes on with a run that was stopped'
	@echo 'make lint       formatting, lints and voice'

build:
	$(CARGO) build --release -p eos -p eos-terraform-provider

demo: build
	@PATH="$(CURDIR)/target/release:$$PATH" sh tests/demo.sh "$(DEMO)"

clean-demo:
	if [ -d "$(DEMO)" ]; then target/release/eos lab reset --yes --estate "$(DEMO)" && rm -rf "$(DEMO)"; fi

test:
	$(PYTHON) tests/run.py

test-full:
	$(PYTHON) tests/run.py --full $(if $(CONTINUE),--continue)

lint:
	$(PYTHON) tests/run.py --lint
