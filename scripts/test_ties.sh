#!/usr/bin/env bash
# Whether the tuner takes a kernel for better than itself; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/test_ties.sh [--quiet-machine] [PRESET]
Builds the tuner with the preset, by default release, and lets it decide 100 times between a kernel and the same kernel
under another name, for several sizes, while other processes load every core. Fails where fewer than 95 of 100 are ties.
  --quiet-machine  without the load
TEXT
}

load=yes
preset=release
for argument in "$@"; do
    case $argument in
    --quiet-machine) load='' ;;
    -h | --help) usage && exit ;;
    -*) fail_usage "unknown argument '$argument'" ;;
    *) preset=$argument ;;
    esac
done

step build-ties "Build tie_count" .venv/bin/cmake --build --preset "$preset" --target tie_count

# Bursts of work and of sleep on every core: what a desktop or another job does.
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
if [[ -n $load ]]; then
    for ((core = 0; core < $(nproc); core++)); do
        while :; do
            timeout 0.$((RANDOM % 8 + 1)) sh -c 'while :; do :; done' || true
            sleep 0.$((RANDOM % 8 + 1))
        done &
        pids+=("$!")
    done
fi

failed=''
for size in '1024 1' '4096 1' '4096 64'; do
    read -r hidden rows <<<"$size"
    "build/$preset/tie_count" "$hidden" "$rows" 100 || failed=yes
done
[[ -z $failed ]] || fail "the tuner takes noise for gains"
