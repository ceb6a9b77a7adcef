#!/usr/bin/env bash
# Ranks schedules for the GPUs that normforge ships entries for; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/rank_gpu.sh [PROGRAM]
Ranks schedules of the main layers, forward and backward, for each GPU of the static model and writes what is best to
autotune/shipped/gpu-NAME.json, a file for each. Nothing is measured, and the entries say so. The next build takes the
files into normforge. It takes some minutes.
PROGRAM is the normforge to use, by default build/release/normforge; a relative path begins at the project's root.
TEXT
}

take_program "$@"

folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
rank() {
    "$program" tune --static --device "$device" --op layer_norm,rms_norm --dtype f32,f16,bf16 \
        --hidden 1024,2048,4096,8192 --quiet --db "$folder/$device.db" "$@"
}
for device in a100 h100 h200 b200 rtx4090; do
    say "$device"
    rank
    rank --pass backward --saved-statistics yes
    "$program" db export --best "$folder/$device.db" --out "autotune/shipped/gpu-$device.json"
done
