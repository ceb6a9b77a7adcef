#!/usr/bin/env bash
# Our kernels' times beside those of other libraries on this machine; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"
# shellcheck source=pytorch_venv.sh
source scripts/pytorch_venv.sh

usage() {
    cat <<'TEXT'
Usage: scripts/bench_peers.sh [--quick] [--db FILE] --json FILE [--threads LIST] [--passes LIST] [--ops LIST]
       [--dtypes LIST] [--rows LIST]
Sets the machine up, builds normforge and what it is measured against, times all of them in interleaved blocks,
writes every cell's times to a file and prints a summary.
  --json FILE     where the result is written
  --quick         three hidden sizes and three numbers of rows instead of 14 and five: minutes, not the better part of an hour
  --db FILE       a tuning database of normforge: our kernels by its schedules, and beside them by the heuristic's; without
                  it, by the heuristic's alone
  --threads LIST  numbers of threads, with commas between; by default 1 and as many as there are cores
  --passes LIST   forward, backward; by default both
  --ops LIST      layer_norm, rms_norm; by default both
  --dtypes LIST   f32, f16, bf16; by default all
  --rows LIST     1, 8, 64, 512, and cold: rows from memory, which take most of the time where the last cache is large; by
                  default all
A relative path begins at the project's root.

Measured against oneDNN (PyTorch's and Debian's), PyTorch, ONNX Runtime, ggml, Halide's autoscheduler and copies of
the same bytes. PyTorch from PyPI is 2.5 GB to download and 4 GB on disk; it and the rest stay in build.
TEXT
}

options=() quick=() json='' database=''
while (($# > 0)); do
    case $1 in
    --quick) quick=(--quick) ;;
    --json | --db | --threads | --passes | --ops | --dtypes | --rows)
        (($# > 1)) || fail_usage "$1 needs a value"
        case $1 in
        --json) json=$2 ;;
        --db) database=$2 ;;
        *) options+=("$1" "$2") ;;
        esac
        shift
        ;;
    -h | --help) usage && exit ;;
    *) fail_usage "unknown argument '$1'" ;;
    esac
    shift
done
[[ -n $json ]] || fail_usage "--json FILE is missing"
[[ -d $(dirname -- "$json") ]] || fail "the folder of '$json' is not there"
[[ -z $database || -f $database ]] || fail "the tuning database '$database' is not there"
[[ $(uname -m) == x86_64 ]] || fail "the libraries that this measures against are prepared for x86-64 alone"

cmake=.venv/bin/cmake
out=build/peers
packages=$out/packages
python=$pytorch_venv/bin/python

add_packages() {
    rm -rf "$packages" &&
        "$python" -m pip install --no-deps --only-binary=:all: --no-compile --no-cache-dir --no-input \
            --disable-pip-version-check --target "$packages" --requirement scripts/requirements-peers.txt
}

install_packages() {
    local stamp=$out/packages-stamp wanted
    wanted=$(sha256sum <scripts/requirements-peers.txt)
    if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
        return
    fi
    mkdir -p "$out"
    rm -f "$stamp"
    step peers-packages "Install the libraries of scripts/requirements-peers.txt into $packages" add_packages
    # Written last: without it the packages are half-installed.
    echo "$wanted" >"$stamp"
}

run_python() {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$packages "$python" "$@"
}

# Where a Python finds a package, which need not be one that loads.
folder_of() {
    PYTHONPATH=$packages "$1" -c 'import importlib.util, sys
print(importlib.util.find_spec(sys.argv[1]).submodule_search_locations[0])' "$2"
}

prepare() {
    scripts/setup.sh
    install_pytorch
    install_packages
    step configure "Configure build/release" "$cmake" --preset release
    say "Build the compiler"
    "$cmake" --build --preset release --target normforge

    local torch ggml halide halide_version hidden
    torch=$(folder_of "$python" torch)
    ggml=$(folder_of "$python" libggml)
    halide=$(folder_of .venv/bin/python halide)
    halide_version=$(sed -n 's/^halide==//p' scripts/requirements.txt)
    hidden=$(run_python scripts/bench_peers.py --list-hidden)
    step peers-configure "Configure $out/build" "$cmake" -S bench/peers -B "$out/build" -G Ninja \
        -D CMAKE_MAKE_PROGRAM="$root/.venv/bin/ninja" -D CMAKE_BUILD_TYPE=Release \
        -D CMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" -D Python_EXECUTABLE="$root/$python" \
        -D NORMFORGE_PROGRAM="$root/build/release/normforge" -D NORMFORGE_HIDDEN="$hidden" \
        -D NORMFORGE_PEERS_DB="${database:+$(realpath -- "$database")}" -D NORMFORGE_TORCH="$torch" \
        -D NORMFORGE_GGML="$ggml" -D NORMFORGE_HALIDE="$halide" -D NORMFORGE_HALIDE_VERSION="$halide_version"
    step peers-build "Build our kernels and what they are measured against" "$cmake" --build "$out/build"
}

prepare >&2
run_python scripts/bench_peers.py "${quick[@]}" "${options[@]}" --libraries "$root/$out/build" --json "$json" \
    --schedules "${database:-untuned}"
