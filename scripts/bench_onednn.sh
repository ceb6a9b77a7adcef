#!/usr/bin/env bash
# Our layer_norm against oneDNN's on this machine; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/bench_onednn.sh [--json]
Sets the machine up, builds normforge, tunes layer_norm for this machine and times it against oneDNN: f32, one row in
cache, one core. A repeated run tunes only what is missing.
  --json  the result is printed as JSON, the only output on stdout
TEXT
}

for argument in "$@"; do
    case $argument in
    --json) ;;
    -h | --help) usage && exit ;;
    *) fail_usage "unknown argument '$argument'" ;;
    esac
done

database=build/bench/tuning.db
cmake=.venv/bin/cmake

prepare() {
    scripts/setup.sh
    step configure "Configure build/release" "$cmake" --preset release
    say "Build the tuner"
    "$cmake" --build --preset release --target normforge

    mkdir -p build/bench
    say "Tune for this machine"
    build/release/normforge tune --op layer_norm --hidden 384,1024,4096 --rows 1 --if-missing --db "$database"

    step configure-bench "Take the tuned kernels for the benchmark" \
        "$cmake" --preset release -D NORMFORGE_BENCH=ON -D NORMFORGE_BENCH_DB="$root/$database"
    say "Build the benchmark"
    "$cmake" --build --preset release --target onednn_bench
}

prepare >&2
build/release/onednn_bench "$@"
