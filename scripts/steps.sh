# shellcheck shell=bash
# What the scripts beside this one share: a line for each step, long output kept in a log.
# To be sourced; goes to the project's root, so that a script works from any folder.

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
cd -- "$root" || exit

bold='' red='' plain=''
if [[ -t 1 && -t 2 && -z ${NO_COLOR:-} ]]; then
    bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'
fi

say() {
    printf '%s==> %s%s\n' "$bold" "$1" "$plain"
}

fail() {
    printf '%serror:%s %s\n' "$red" "$plain" "$1" >&2
    exit 1
}

# A wrong command line: exit code 2, as other Unix tools have it.
fail_usage() {
    printf '%serror:%s %s (see --help)\n' "$red" "$plain" "$1" >&2
    exit 2
}

# need_program PROGRAM: stops where there is none of that path.
need_program() {
    [[ -x $1 ]] || fail "there is no program '$1'; build it first, or name another one"
}

# take_program ARGUMENT...: sets `program` to what a script's only argument names, by default the release build's; or prints
# the script's `usage`.
take_program() {
    [[ ${1:-} == --help || ${1:-} == -h ]] && usage && exit
    (($# <= 1)) || fail_usage "allowed is one PROGRAM"
    program=$(realpath -m -- "${1:-build/release/normforge}")
    need_program "$program"
}

# install_debian NAME PACKAGE...: steps that install Debian packages, as root or by sudo.
install_debian() {
    local name=$1 as_root=()
    shift
    ((EUID == 0)) || as_root=(sudo)
    step "$name-update" "Refresh the list of Debian packages" "${as_root[@]}" apt-get update
    # Another apt may be running, as on a machine just started: wait for it.
    step "$name" "Install $*" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}

# step NAME TEXT COMMAND...: prints TEXT, runs the command with its output in build/logs/NAME.log, prints the seconds.
# When the command fails, prints the log's end and its path and stops the script. The command has no standard input.
step() {
    local name=$1 text=$2 start=$SECONDS log=$root/build/logs/$1.log
    shift 2
    mkdir -p build/logs
    printf '%s==> %s%s ... ' "$bold" "$text" "$plain"
    if "$@" >"$log" 2>&1 </dev/null; then
        printf '%d s\n' $((SECONDS - start))
    else
        printf 'failed\n'
        tail -n 20 "$log" >&2
        fail "step '$name' failed; its whole output is in $log"
    fi
}
