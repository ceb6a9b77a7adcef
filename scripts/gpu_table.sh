#!/usr/bin/env bash
# Prints the table of docs/cuda.md: what GPU kernels by the heuristic's schedules take, by ptxas, which must be there.
# Usage: scripts/gpu_table.sh build/ci/normforge
set -euo pipefail

program=${1:?name the normforge program}
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

value_of() {
    sed -n "s|^// $1: ||p" "$folder/kernel.ptx"
}

registers() {
    ptxas -v -o /dev/null -arch="$1" "$folder/kernel.ptx" 2>&1 | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p'
}

# Of gradients the kernel of the rows: that of the sums is the same for all.
row() {
    "$program" inspect --op "$2" --dtype "$3" --hidden "$4" "${@:5}" --untuned --emit ptx |
        sed '/^\/\/ adds up/,$d' >"$folder/kernel.ptx"
    bytes=$(($(value_of 'bytes moved for a row') / $4))
    echo "| $1 | $(value_of 'threads of a block') |" \
        "$(value_of 'bytes of shared memory, at most') | $(registers sm_80) | $(registers sm_90) |" \
        "$(registers sm_100) | $bytes |"
}

echo '| kernel | threads | shared bytes | registers, sm_80 | sm_90 | sm_100 | bytes a value |'
echo '|---|---|---|---|---|---|---|'
for op in layer_norm rms_norm; do
    for dtype in f32 f16 bf16; do
        for hidden in 32 128 256 768 1000 1024 4096 5120 8192 16384; do
            row "$op $dtype $hidden" "$op" "$dtype" "$hidden"
        done
    done
done
for op in layer_norm rms_norm; do
    for dtype in f32 bf16; do
        for hidden in 128 768 1024 4096 8192 16384; do
            row "gradients of $op $dtype $hidden" "$op" "$dtype" "$hidden" --pass backward --saved-statistics yes
        done
    done
done
