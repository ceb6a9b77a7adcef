#!/usr/bin/env bash
# From nothing to tuned, linked kernels; --help says what it does.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/quickstart.sh
Sets the machine up, builds normforge, tunes LayerNorm and RMSNorm kernels for this machine, writes them to a
static library, links an example with it and runs that on real activations. A repeated run does only what is missing.
TEXT
}

case ${1:-} in
'') ;;
-h | --help) usage && exit ;;
*) fail_usage "unknown argument '$1'" ;;
esac

normforge=build/release/normforge
out=build/quickstart
database=$out/tuning.db
problems=(--op "layer_norm,rms_norm" --hidden "384,576,4096")

scripts/setup.sh
step configure "Configure build/release" .venv/bin/cmake --preset release

say "Build $normforge"
.venv/bin/cmake --build --preset release --target normforge

mkdir -p "$out"
say "Tune for this machine"
"$normforge" tune "${problems[@]}" --rows 1,512 --effort quick --if-missing --db "$database"

step library "Write the tuned kernels to $out/libnorms.a" \
    "$normforge" build "${problems[@]}" --db "$database" --name norms --out "$out"
step library-untuned "Write untuned kernels to $out/libnorms_untuned.a, to compare with" \
    "$normforge" build "${problems[@]}" --untuned --name norms_untuned --out "$out"

step example "Compile examples/quickstart.cpp with the two libraries and nothing else" \
    "${CXX:-c++}" -std=c++20 -O2 -I . -I "$out" -o "$out/quickstart" \
    examples/{quickstart,accuracy,interleaved_timing,npz,real_layers}.cpp \
    "$out/libnorms.a" "$out/libnorms_untuned.a"

say "Run it on real activations"
"$out/quickstart" tests/data/norm_activations.npz

say "Done"
printf '%-9s %s\n' database "$root/$database" library "$root/$out/libnorms.a" header "$root/$out/norms.h"
