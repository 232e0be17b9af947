#!/bin/sh
# Formatting, lints and the voice; $1 is ruff.
set -eu
cargo fmt --all --check
cargo clippy --quiet --workspace --all-targets -- -D warnings
"$1" check --quiet benches formula tests
"$1" format --quiet --check --line-length 120 benches formula tests
python3 tests/voice.py
