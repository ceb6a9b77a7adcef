#!/usr/bin/env bash
# Checks and times CUDA kernels on a machine that has a GPU, but need have neither a network nor a compiler.
#
#   scripts/gpu_check.sh pack FOLDER [build/ci]   where the project was built: puts what is to be carried along into
#                                                 FOLDER, about 6 MiB
#   scripts/gpu_check.sh run FOLDER RESULTS       there: gpu_check.json and gpu_check.txt in RESULTS, in some minutes
#
# The second runs the accuracy gate on the device, times schedules of 16 problems, four of them gradients, beside a copy
# on the device and, where Python has PyTorch with CUDA, PyTorch's norms of the same tensors. FOLDER holds a copy of this
# script.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
}

pack() {
    local folder=$1 build=${2:-$here/../build/ci}
    mkdir -p "$folder"
    "$build/gpu_bundle" "$folder/kernels.json"
    cp "$build/gpu_check" "$here/gpu_check.sh" "$here/gpu_check_pytorch.py" "$folder"
    # What it needs beside the C library: other systems may have none of it, or older ones.
    ldd "$build/gpu_check" | awk '$1 ~ /^lib(fmt|stdc\+\+|gcc_s)/ { print $3 }' | xargs cp -L -t "$folder"
    du -sh "$folder"
}

run() {
    local folder=$1 results=$2 status=0
    mkdir -p "$results"
    {
        LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
            timeout 420 "$folder/gpu_check" "$folder/kernels.json" "$results" || status=$?
        if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
            timeout 120 python3 "$folder/gpu_check_pytorch.py" "$results/gpu_check.json" || status=$?
        else
            echo 'PyTorch with CUDA is not here: no comparison with it'
        fi
        echo "status $status"
    } 2>&1 | tee "$results/gpu_check.txt"
    grep -qx 'status 0' "$results/gpu_check.txt"
}

case ${1-} in
pack) [ $# -ge 2 ] || usage && pack "${@:2}" ;;
run) [ $# -eq 3 ] || usage && run "${@:2}" ;;
*) usage ;;
esac
