#!/usr/bin/env bash
#SBATCH --job-name=normforge-tune
#SBATCH --ntasks=1
#SBATCH --exclusive
# One task of submit.sh's job array: PROGRAM MANIFEST SHARDS OUT PARTS [TUNE-OPTION...]. The node is its own, since what
# others do there would be measured too.
set -euo pipefail
program=$1 manifest=$2 shards=$3 out=$4 parts=$5
shift 5

# Begins with all that is known, so that none of it is tuned again and all of it can help.
part=$parts/$SLURM_ARRAY_TASK_ID.db
known=()
for file in "$part" "$out"; do
    [[ ! -e $file ]] || known+=("$file")
done
if ((${#known[@]} > 0)); then
    "$program" db merge "$part" "${known[@]}" >/dev/null
fi
rm -f -- "$part.none"
"$program" tune --manifest "$manifest" --shard "$SLURM_ARRAY_TASK_ID/$shards" --db "$part" --if-missing "$@"
# With more shards than problems there is nothing to tune in some.
[[ -e $part ]] || touch -- "$part.none"
