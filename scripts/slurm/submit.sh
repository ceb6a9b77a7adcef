#!/usr/bin/env bash
# Tunes a manifest over a Slurm cluster; --help says how.
set -euo pipefail
here=$PWD
# shellcheck source=../steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/../steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/slurm/submit.sh --manifest FILE --shards N --out DATABASE [--program NORMFORGE] [-- TUNE-OPTION...]
Submits a job array of N tasks, each of which tunes one shard of the manifest on a node of its own, and a job that merges
their databases into DATABASE when they have ended, whatever came of them. Both write to the folder DATABASE.parts, which
like the program must be on a disk that all nodes share. Submitted again, with whatever manifest, only what DATABASE
lacks is tuned.
  --program  by default build/release/normforge
What is behind -- goes to normforge tune, such as --effort normal. sbatch reads its own options from the environment:
SBATCH_PARTITION, SBATCH_CONSTRAINT for nodes of one kind, SBATCH_TIMELIMIT, and so on.
TEXT
}

# A user's path from the folder where the user is.
from_here() {
    [[ $1 == /* ]] && printf '%s' "$1" || printf '%s/%s' "$here" "$1"
}

manifest='' shards='' out='' program=$root/build/release/normforge
while (($# > 0)); do
    case $1 in
    --manifest | --shards | --out | --program)
        (($# > 1)) || fail_usage "$1 needs a value"
        case $1 in
        --manifest) manifest=$(from_here "$2") ;;
        --shards) shards=$2 ;;
        --out) out=$(from_here "$2") ;;
        --program) program=$(from_here "$2") ;;
        esac
        shift 2
        ;;
    -h | --help) usage && exit ;;
    --) shift && break ;;
    *) fail_usage "unknown argument '$1'" ;;
    esac
done
[[ -n $manifest && -n $shards && -n $out ]] || fail_usage "--manifest, --shards and --out are required"
[[ $shards =~ ^[1-9][0-9]*$ ]] || fail_usage "--shards is '$shards'; allowed: a whole number from 1 on"
need_program "$program"
[[ -r $manifest ]] || fail "cannot read '$manifest'"
command -v sbatch >/dev/null || fail "there is no sbatch here; this is for a Slurm cluster"

parts=$out.parts
mkdir -p -- "$parts"
array=$(sbatch --parsable --array="1-$shards" --output="$parts/%a.log" scripts/slurm/tune_shard.sh \
    "$program" "$manifest" "$shards" "$out" "$parts" "$@")
merge=$(sbatch --parsable --dependency="afterany:${array%%;*}" --output="$parts/merge.log" scripts/slurm/merge_shards.sh \
    "$program" "$shards" "$out" "$parts")
say "Submitted $shards tasks as job $array, and job $merge, which then writes $out"
say "Logs are in $parts"
