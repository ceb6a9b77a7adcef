#!/usr/bin/env bash
# Makes the machine ready to build: the Debian packages of packages.txt, .venv with the wheels of requirements.txt.
# quickstart.sh and test.sh call it first. What is there already stays: a repeated run takes a tenth of a second.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

# Python 3.x with x in this range: halide has wheels for these.
oldest_python=10
newest_python=13

missing_packages() {
    local packages installed package
    mapfile -t packages < <(sed 's/[[:space:]]*#.*//; /^$/d' scripts/packages.txt)
    # It fails if it does not know one of them: that one is missing.
    installed=$(dpkg-query --show --showformat='<${Package} ${db:Status-Status}>' "${packages[@]}" 2>/dev/null) || true
    for package in "${packages[@]}"; do
        [[ $installed == *"<$package installed>"* ]] || echo "$package"
    done
}

install_packages() {
    command -v apt-get >/dev/null || fail "this needs Debian 12 or a relative of it: apt-get is not here"
    local missing as_root=()
    mapfile -t missing < <(missing_packages)
    if ((${#missing[@]} == 0)); then
        return
    fi
    if ((EUID != 0)); then
        # sudo may ask for the password now, while its question can be seen; without a terminal it must not ask.
        as_root=(sudo)
        [[ -t 0 ]] || as_root+=(--non-interactive)
        "${as_root[@]}" true 2>/dev/null ||
            fail "packages are missing, and neither root nor sudo is here; as root: apt-get install ${missing[*]}"
    fi
    install_debian apt "${missing[@]}"
}

find_python() {
    local candidate
    for candidate in python3 $(seq --format=python3.%g "$newest_python" -1 "$oldest_python"); do
        if "$candidate" -c "import ensurepip, sys, venv
sys.exit(not (3, $oldest_python) <= sys.version_info[:2] <= (3, $newest_python))" 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    fail "no Python 3.$oldest_python to 3.$newest_python with its venv module is on PATH (python3 is $(python3 --version 2>&1))"
}

# Only what is pinned: halide asks for numpy and imageio too, for its Python side, which is not used here.
make_venv() {
    rm -rf .venv &&
        "$1" -m venv .venv &&
        .venv/bin/python -m pip install --no-deps --only-binary=:all: --no-compile --no-input \
            --disable-pip-version-check --requirement scripts/requirements.txt
}

install_wheels() {
    # A venv holds absolute paths, so one that was moved is as stale as one with other versions.
    local python stamp=.venv/normforge-stamp wanted
    wanted="$(sha256sum <scripts/requirements.txt) $root"
    if [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && .venv/bin/cmake --version >/dev/null 2>&1; then
        return
    fi
    python=$(find_python)
    step wheels "Make .venv with the wheels of scripts/requirements.txt" make_venv "$python"
    # The caches of earlier builds hold paths into the .venv that is gone.
    rm -f build/*/CMakeCache.txt
    # Written last: a .venv without it is half-made.
    echo "$wanted" >"$stamp"
}

install_packages
install_wheels
