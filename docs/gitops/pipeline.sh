#!/bin/sh
# A pipeline for an estate, to be run by CI on the estate's home. docs/gitops.md explains it.
#
#   pipeline.sh propose              take what was pushed, try it in development, write the plan for ENVIRONMENT
#   pipeline.sh deploy DIGEST        carry that very plan out, prove it, push what Eos committed
#
# propose ends with 0 if there is nothing to do, and with 3 if a plan waits for approval; the digest of the plan is the
# last line of its output, and approving is to run deploy with it. Any other code is a failure: nothing is left half done
# without an error that says so.
set -eu

estate=${ESTATE:?the directory of the estate}
environment=${ENVIRONMENT:-production}
plan=${PLAN:?the file that the plan is written to}
remote=${REMOTE:-origin}
branch=${BRANCH:-main}
trial=development

run() { eos --estate "$estate" "$@"; }

# Eos commits what it does, others push: both are kept, by a merge. A rebase would give Eos's commits other names than its
# journal has.
pull() { git -C "$estate" pull --quiet --no-rebase --no-edit "$remote" "$branch"; }
push() { git -C "$estate" push --quiet "$remote" "HEAD:$branch"; }

# The exit code, where it is a part of the answer.
code() {
    set +e
    "$@"
    answer=$?
    set -e
}

propose() {
    echo "== take what was pushed"
    pull

    echo "== is anything pending in $environment?"
    code run plan --check --environment "$environment"
    case $answer in
    0) return 0 ;;
    3) ;;
    *) return "$answer" ;;
    esac

    echo "== try it in $trial"
    if [ "$(run list --environment "$trial" --json | jq '.components | length')" != 0 ]; then
        echo "$trial is in use: the trial would delete it" >&2
        return 1
    fi
    code run promote --all --from "$environment" --to "$trial" --yes
    tried=$answer
    if [ "$tried" = 0 ]; then
        code run status --check --environment "$trial"
        tried=$answer
    fi
    run delete --all --environment "$trial" --yes
    push
    [ "$tried" = 0 ] || return 1

    echo "== the plan for $environment"
    run plan --out "$plan" --environment "$environment"
    sha256sum "$plan" | cut -d ' ' -f 1
    return 3
}

deploy() {
    echo "== is it the plan that was approved?"
    if [ "$(sha256sum "$plan" | cut -d ' ' -f 1)" != "$1" ]; then
        echo "$plan is not the plan that was approved" >&2
        return 2
    fi

    echo "== carry it out"
    run apply "$plan" --yes

    echo "== does everything run, and is nothing left to do?"
    run status --check --environment "$environment"
    run plan --check --environment "$environment"

    echo "== push what Eos committed"
    pull
    push
}

case ${1-} in
propose) propose ;;
deploy) deploy "${2:?the digest of the plan that was approved}" ;;
*)
    echo "usage: pipeline.sh propose | deploy DIGEST" >&2
    exit 2
    ;;
esac
