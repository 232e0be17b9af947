#!/bin/sh
# The demo: one sentence, all the way down. Needs `eos` on PATH; $1 is where the estate goes.
set -eu
estate=$1

say() { printf '\n== %s\n' "$*"; }

if [ ! -e "$estate/eos.toml" ]; then
    say "eos init"
    eos init "$estate"
fi
cd "$estate"
say "eos create hello --plan"
eos create hello --plan
say "eos lab up"
eos lab up
say "eos create hello"
eos create hello --yes
say "the page answers"
url=$(eos read hello --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["outputs"]["hello_url"])')
curl --fail --silent --show-error "$url/health" >/dev/null
printf 'hello answers at %s\n' "$url"
printf 'delete it with:  eos --estate %s delete hello\n' "$estate"
