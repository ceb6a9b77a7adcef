#!/usr/bin/env bash
# All tests of kernels for ARM; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/test_arm.sh [LAUNCHER]
Builds, makes kernels for ARM and runs the accuracy gate on them: every problem at seven hidden sizes, then usual layers,
and the C example.
  LAUNCHER  a command that runs a static program for 64-bit ARM by its path, such as a script that copies it to a board
            and calls it there; by default qemu-aarch64 with every instruction set that it knows
TEXT
}

case ${1-} in
-h | --help) usage && exit ;;
esac
(($# <= 1)) || fail_usage "allowed is one launcher, in quotes"

scripts/setup.sh
step configure-ci "Configure preset ci" .venv/bin/cmake --preset ci
say "Build preset ci"
.venv/bin/cmake --build --preset ci --target normforge arm_kernels_test
emulator=()
if (($# == 1)); then
    export NORMFORGE_ARM_LAUNCHER=$1
    emulator=("-DCMAKE_CROSSCOMPILING_EMULATOR=${1// /;}")
fi
say "Every problem at seven hidden sizes"
NORMFORGE_ARM_ALL=yes build/ci/arm_kernels_test --gtest_brief=1
step configure-arm "Configure preset arm" .venv/bin/cmake --preset arm "${emulator[@]}"
say "Build and test preset arm"
.venv/bin/cmake --build --preset arm
.venv/bin/ctest --preset arm --no-tests=error
say "All tests for ARM passed"
