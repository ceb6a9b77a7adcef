#!/usr/bin/env bash
# Tunes through ssh, to this machine; --help says how.
set -euo pipefail
# shellcheck source=steps.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/steps.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/test_launcher.sh [PROGRAM]
Installs Debian's openssh-server where it is missing, runs it on a port of the loopback alone with keys of its own, and
lets normforge tune a small norm on this machine through scp and ssh, as on another one.
PROGRAM is the normforge to use, by default build/release/normforge; a relative path begins at the project's root.
TEXT
}

take_program "$@"

[[ -x /usr/sbin/sshd ]] || install_debian openssh openssh-server openssh-client
port=$((20000 + RANDOM % 20000))
folder=$(mktemp -d)
stop() {
    [[ ! -f $folder/pid ]] || kill "$(<"$folder/pid")"
    rm -rf -- "$folder"
}
trap stop EXIT
ssh-keygen -q -t ed25519 -N '' -f "$folder/host"
ssh-keygen -q -t ed25519 -N '' -f "$folder/user"
cp "$folder/user.pub" "$folder/authorized"
cat >"$folder/config" <<TEXT
ListenAddress 127.0.0.1:$port
HostKey $folder/host
AuthorizedKeysFile $folder/authorized
PidFile $folder/pid
StrictModes no
UsePAM no
Subsystem sftp internal-sftp
TEXT
mkdir -p /run/sshd
/usr/sbin/sshd -f "$folder/config"

options="-i $folder/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
say "Tune through ssh"
"$program" tune --op rms_norm --hidden 1024 --rows 1,16 --quiet --db "$folder/tuning.db" --launcher \
    "scp -q -P $port $options {exe} 127.0.0.1:$folder/nf && ssh -p $port $options 127.0.0.1 $folder/nf {args}"
"$program" db best "$folder/tuning.db"
[[ $("$program" db best --json "$folder/tuning.db") != '[]' ]] || fail "nothing is best in what came back"
say "Tuning through ssh works"
