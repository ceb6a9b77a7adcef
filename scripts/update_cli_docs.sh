#!/usr/bin/env bash
# Writes docs/cli.md from the program's own help, and the schema of manifests; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/update_cli_docs.sh [--check] [PROGRAM]
Writes docs/cli.md from what PROGRAM --help prints, and docs/manifest.schema.json by PROGRAM schema; by default of
build/release/normforge. A relative path of PROGRAM begins at the project's root.
  --check  change nothing; fail where docs/cli.md is out of date
TEXT
}

check=''
program=build/release/normforge
for argument in "$@"; do
    case $argument in
    --check) check=yes ;;
    -h | --help) usage && exit ;;
    -*) fail_usage "unknown argument '$argument'" ;;
    *) program=$argument ;;
    esac
done
need_program "$program"

# The commands that a help text lists.
commands_in() {
    awk '/^Commands:$/ { listed = 1; next } /^$/ { listed = 0 } listed && /^  [a-z]/ { print $1 }' <<<"$1"
}

# A chapter of a command, given as its words, and of the commands below it.
describe() {
    local help command
    help=$("$program" "$@" --help)
    # shellcheck disable=SC2016
    printf '\n## normforge%s\n\n```text\n%s\n```\n' "${*:+ $*}" "$help"
    for command in $(commands_in "$help"); do
        describe "$@" "$command"
    done
}

document() {
    cat <<'TEXT'
# The command line

This is the help that `normforge` prints. scripts/update_cli_docs.sh writes this file, and a test compares the two.

Results go to standard output; errors, notes and progress to standard error.
TEXT
    describe
}

# write PAGE COMMAND...: the page is what the command prints.
write() {
    local page=$1 new
    shift
    new=$(mktemp "$page.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -f -- '$new'" EXIT
    "$@" >"$new"
    chmod 644 "$new"
    mv -- "$new" "$page"
}

page=docs/cli.md
if [[ -n $check ]]; then
    document | diff -u -- "$page" - >&2 || fail "$page is out of date; run scripts/update_cli_docs.sh"
else
    write "$page" document
    write docs/manifest.schema.json "$program" schema
fi
