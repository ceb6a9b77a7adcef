# shellcheck shell=bash
# For scripts that need PyTorch, sourced after steps.sh: a Python with the wheels of requirements-pytorch.txt.

pytorch_venv=build/pytorch/venv

make_pytorch_venv() {
    rm -rf "$pytorch_venv" &&
        python3 -m venv "$pytorch_venv" &&
        "$pytorch_venv/bin/python" -m pip install --no-deps --only-binary=:all: --no-compile --no-cache-dir \
            --no-input --disable-pip-version-check --requirement scripts/requirements-pytorch.txt &&
        "$pytorch_venv/bin/python" -c 'import torch'
}

install_pytorch() {
    local stamp=$pytorch_venv/normforge-stamp wanted
    wanted="$(sha256sum <scripts/requirements-pytorch.txt) $PWD"
    if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
        return
    fi
    step pytorch "Install PyTorch from PyPI into $pytorch_venv" make_pytorch_venv
    # Written last: a venv without it is half-made.
    echo "$wanted" >"$stamp"
}
