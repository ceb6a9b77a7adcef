#!/usr/bin/env bash
# All tests; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/test.sh [--sanitize]
Sets the machine up, checks the style, builds everything with warnings as errors and runs all tests.
  --sanitize  then also build and test with the address and undefined-behaviour sanitizers
TEXT
}

presets=(ci)
for argument in "$@"; do
    case $argument in
    --sanitize) presets=(ci asan) ;;
    -h | --help) usage && exit ;;
    *) fail_usage "unknown argument '$argument'" ;;
    esac
done

scripts/setup.sh
scripts/check_style.sh
for preset in "${presets[@]}"; do
    step "configure-$preset" "Configure preset $preset" .venv/bin/cmake --preset "$preset"
    say "Build preset $preset"
    .venv/bin/cmake --build --preset "$preset"
    say "Test preset $preset"
    # Tests that must not share the machine say so themselves, by RUN_SERIAL.
    .venv/bin/ctest --preset "$preset" --parallel "$(nproc)" --no-tests=error
done
say "All tests passed"
