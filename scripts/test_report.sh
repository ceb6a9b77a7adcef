#!/usr/bin/env bash
# Looks at the page of normforge report in a browser; --help says how.
set -euo pipefail
here=$PWD
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/test_report.sh [DATABASE [PROGRAM]]
Writes the page about DATABASE and opens it in headless Chromium, which is installed if it is missing: on a phone and on a
desktop, light and dark, and as it is printed. Fails where the page tells an error, is wider than its window, or does not
answer the pointer. Screenshots and the PDF are left in build/report for a person to look at.
DATABASE is by default what normforge is shipped with; PROGRAM is the normforge to use, by default build/release/normforge.
TEXT
}

[[ ${1:-} == --help || ${1:-} == -h ]] && usage && exit
(($# <= 2)) || fail_usage "allowed are a DATABASE and a PROGRAM"
database=${1:-}
[[ -z $database || $database == /* ]] || database=$here/$database
program=${2:-build/release/normforge}
need_program "$program"

if ! command -v chromium chromedriver >/dev/null || ! /usr/bin/python3 -c 'import selenium' 2>/dev/null; then
    install_debian browser chromium chromium-driver python3-selenium fonts-dejavu-core
fi
rm -rf build/report
mkdir -p build/report
if [[ -z $database ]]; then
    database=build/report/shipped.db
    for page in autotune/shipped/*.json; do
        "$program" db import "$page" --db "$database" >/dev/null
    done
fi
"$program" report "$database" --html build/report/report.html
/usr/bin/python3 scripts/look_at_report.py build/report/report.html build/report
say "The page is well; look at the screenshots in build/report"
