#!/usr/bin/env bash
#SBATCH --job-name=normforge-merge
#SBATCH --ntasks=1
# The last job of submit.sh: PROGRAM SHARDS OUT PARTS. Merges the parts that are there, and fails where one is not.
set -euo pipefail
program=$1 shards=$2 out=$3 parts=$4

files=()
[[ ! -e $out ]] || files+=("$out")
missing=''
for ((shard = 1; shard <= shards; shard++)); do
    if [[ -e $parts/$shard.db ]]; then
        files+=("$parts/$shard.db")
    elif [[ ! -e $parts/$shard.db.none ]]; then
        missing+=" $shard"
    fi
done
((${#files[@]} == 0)) || "$program" db merge "$out" "${files[@]}"
if [[ -n $missing ]]; then
    echo "no database of shard$missing; what went wrong is in the logs in $parts" >&2
    exit 1
fi
