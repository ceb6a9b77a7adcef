#!/usr/bin/env bash
# Puts the best of a tuning database into what normforge is shipped with; --help says how.
set -euo pipefail
here=$PWD
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/ship_database.sh DATABASE NAME [PROGRAM]
Joins what decides which schedules are best in DATABASE with autotune/shipped/NAME.json and decides again. One file
for each kind of machine makes them easy to review. The next build takes the file into normforge.
PROGRAM is the normforge to use, by default build/release/normforge; a relative path begins at the project's root.
TEXT
}

[[ ${1:-} == --help || ${1:-} == -h ]] && usage && exit
[[ $# == 2 || $# == 3 ]] || fail_usage "a DATABASE and a NAME are required"
[[ $2 =~ ^[a-z0-9_-]+$ ]] || fail_usage "the name '$2' has characters other than a to z, 0 to 9, - and _"
database=$1
[[ $database == /* ]] || database=$here/$database
page=autotune/shipped/$2.json
program=${3:-build/release/normforge}
need_program "$program"

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
"$program" db export --best "$database" --out "$folder/new.json"
"$program" db import "$folder/new.json" --db "$folder/all.db" >/dev/null
[[ ! -e $page ]] || "$program" db import "$page" --db "$folder/all.db" >/dev/null
"$program" db export --best "$folder/all.db" --out "$page"
say "Wrote $page"
"$program" db best "$folder/all.db"
