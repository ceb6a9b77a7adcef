#!/usr/bin/env bash
# Our errors against PyTorch's on rows that are hard to normalise; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"
# shellcheck source=pytorch_venv.sh
source scripts/pytorch_venv.sh

usage() {
    cat <<'TEXT'
Usage: scripts/compare_with_pytorch.sh [--json] [--python FILE]
Sets the machine up, builds normforge, writes a library of untuned f32 kernels and prints the largest errors against
f64 of its layer_norm and rms_norm and of PyTorch's, for several kinds of rows. Times nothing.
  --json         the result is printed as JSON, the only output on stdout
  --python FILE  a Python that has torch and numpy; by default one in build/pytorch with the packages of
                 scripts/requirements-pytorch.txt from PyPI, on x86-64 2.5 GB to download and 4 GB on disk.
                 A relative path begins at the project's root
TEXT
}

json=() python=''
while (($# > 0)); do
    case $1 in
    --json) json=(--json) ;;
    --python)
        (($# > 1)) || fail_usage "--python needs a file"
        python=$2
        shift
        ;;
    -h | --help) usage && exit ;;
    *) fail_usage "unknown argument '$1'" ;;
    esac
    shift
done

out=build/pytorch

prepare() {
    scripts/setup.sh
    mkdir -p "$out"
    if [[ -z $python ]]; then
        install_pytorch
        python=$pytorch_venv/bin/python
    elif ! "$python" -c 'import numpy, torch' 2>/dev/null; then
        fail "'$python' cannot import numpy and torch"
    fi
    step configure "Configure build/release" .venv/bin/cmake --preset release
    say "Build the compiler"
    .venv/bin/cmake --build --preset release --target normforge
    step library-pytorch "Write the kernels to $out/libnorms.so" \
        build/release/normforge build --op layer_norm,rms_norm --weight none --bias none \
        --hidden "$("$python" scripts/compare_with_pytorch.py --list-hidden)" \
        --untuned --shared --name norms --out "$out"
}

prepare >&2
"$python" scripts/compare_with_pytorch.py --library "$out/libnorms.so" "${json[@]}"
