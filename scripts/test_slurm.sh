#!/usr/bin/env bash
# Tunes a manifest on a Slurm cluster of one node, this one; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/test_slurm.sh [PROGRAM]
As root: installs Slurm if it is missing, starts its daemons with a configuration and ports of their own, tunes a small
manifest in shards by scripts/slurm/submit.sh, checks that the merged database has every problem once, that a second
submission tunes nothing again, and that a shard which is cancelled leaves the others merged; then stops the daemons.
PROGRAM is the normforge to use, by default build/release/normforge. Logs are in build/slurm.
TEXT
}

take_program "$@"
((EUID == 0)) || fail "Slurm's daemons need root here"

command -v slurmctld slurmd sbatch munged >/dev/null ||
    install_debian slurm slurmctld slurmd slurm-client munge

folder=$root/build/slurm
rm -rf -- "$folder"
mkdir -p -- "$folder"/{state,spool}
# Munge wants its files where nobody else may write, and short paths for its socket.
secrets=$(mktemp -d)
daemons=()
stop() {
    ((${#daemons[@]} == 0)) || kill "${daemons[@]}" 2>/dev/null || true
    wait
    rm -rf -- "$secrets"
}
trap stop EXIT

node=$(hostname -s)
export SLURM_CONF=$folder/slurm.conf
cat >"$SLURM_CONF" <<TEXT
ClusterName=normforge
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$secrets/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MailProg=/bin/true
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE
TEXT
(umask 077 && head --bytes=1024 /dev/urandom >"$secrets/key")

# start NAME COMMAND...: a daemon in the foreground of its own process, with its log in the folder.
start() {
    local name=$1
    shift
    "$@" >"$folder/$name.log" 2>&1 </dev/null &
    daemons+=($!)
}
start munged munged --foreground --force --key-file="$secrets/key" --socket="$secrets/socket" \
    --pid-file="$secrets/pid" --log-file="$secrets/log" --seed-file="$secrets/seed"
start slurmctld slurmctld -D -f "$SLURM_CONF"
start slurmd slurmd -D -f "$SLURM_CONF" -N "$node"

node_is_ready() {
    local _
    for _ in {1..60}; do
        [[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]] && return
        sleep 1
    done
    sinfo
    return 1
}
step node "Start a cluster of this machine" node_is_ready

# submit MANIFEST SHARDS: waits for the job that merges.
submit() {
    scripts/slurm/submit.sh --manifest "$1" --shards "$2" --out "$folder/tuning.db" --program "$program"
    wait_for_jobs
}
wait_for_jobs() {
    while [[ -n $(squeue --noheader) ]]; do
        sleep 1
    done
}
# Of the problems that the database has decided, and of its sessions.
counts() {
    "$program" db best "$folder/tuning.db" --json | grep -c '"op":'
    "$program" db show "$folder/tuning.db" --json | grep -c '"op":'
}
expect() {
    [[ $(counts | paste --serial --delimiters=' ') == "$1" ]] ||
        fail "$2: problems and sessions are $(counts | paste --serial --delimiters=' '), not $1; see build/slurm"
}

cat >"$folder/small.json" <<'TEXT'
{"defaults": {"rows": 1}, "problems": [{"op": ["layer_norm", "rms_norm"], "hidden": [2, 4]}]}
TEXT
step tune "Tune 4 problems in 3 shards" submit "$folder/small.json" 3
expect "4 4" "after the first submission"
step again "Submit the same again" submit "$folder/small.json" 3
expect "4 4" "after the same manifest again"

cat >"$folder/more.json" <<'TEXT'
{"defaults": {"rows": 1}, "problems": [{"op": ["layer_norm", "rms_norm"], "hidden": [2, 4, 6]}]}
TEXT
submit_and_cancel() {
    scripts/slurm/submit.sh --manifest "$folder/more.json" --shards 6 --out "$folder/tuning.db" --program "$program"
    local array
    array=$(squeue --noheader --name=normforge-tune --format=%F | sort -u)
    # That of one of the two new problems, which waits for the node that others use before it.
    scancel "${array}_5"
    wait_for_jobs
}
step cancel "Tune 2 problems more and cancel a shard" submit_and_cancel
expect "5 5" "after a shard was cancelled"
grep -q 'no database of shard 5' "$folder/tuning.db.parts/merge.log" || fail "the merge did not tell of the missing shard"
step rest "Submit it once more" submit "$folder/more.json" 6
expect "6 6" "after the cancelled shard was submitted again"
say "The cluster tuned and merged every problem once"
