#!/usr/bin/env bash
# Checks the format of all sources and the scripts for common mistakes. Changes nothing.
# A checker that is not installed is skipped, with a line that says so.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

# Another version formats some lines differently.
clang_format_version=14

find_sources() {
    find . -mindepth 1 \( -name '.*' -o -path ./build \) -prune -o -regex '.*\.\(h\|c\|cpp\)' -print0
}

check_format() {
    find_sources | xargs -0 --no-run-if-empty "$1" --dry-run -Werror
}

clang_format=''
for candidate in clang-format clang-format-$clang_format_version; do
    if "$candidate" --version 2>/dev/null | grep -q "version $clang_format_version\."; then
        clang_format=$candidate
    fi
done
if [[ -n $clang_format ]]; then
    step format "Check the format of the sources" check_format "$clang_format"
else
    say "Skip the format check: clang-format $clang_format_version is not installed"
fi

if command -v shellcheck >/dev/null; then
    step shellcheck "Check the scripts" shellcheck scripts/*.sh .ci/run
else
    say "Skip the check of the scripts: shellcheck is not installed"
fi
