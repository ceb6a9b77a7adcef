#!/usr/bin/env bash
# Ranks schedules for the ARM CPUs that normforge ships entries for; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/rank_arm.sh [PROGRAM]
Simulates schedules of the main layers for each ARM CPU of the static model and writes what is best to
autotune/shipped/arm-CPU.json, a file for each. Nothing is measured, and the entries say so. The next build takes the
files into normforge.
PROGRAM is the normforge to use, by default build/release/normforge; a relative path begins at the project's root.
TEXT
}

take_program "$@"

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
# Of several CPUs with the same instruction sets a library that is built elsewhere gets the last one's.
for cpu in cortex-a72 cortex-a76 apple-m1 neoverse-n1 neoverse-v1 neoverse-v2; do
    say "$cpu"
    "$program" tune --static --cpu "$cpu" --op layer_norm,rms_norm --dtype f32,f16,bf16 --hidden 1024,4096 \
        --rows 1,16 --effort quick --quiet --db "$folder/$cpu.db"
    "$program" db export --best "$folder/$cpu.db" --out "autotune/shipped/arm-$cpu.json"
done
