# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Debian's sshd on the loopback, with keys of its own, for scripts that have sourced tap.sh.  They end `processes`.

processes=()
# Programs started by these end with the script, however that ends; those that sshd starts end with their connection.
# shellcheck disable=SC2034 # for the script
bound=(setpriv --pdeathsig KILL)

start_sshd() { # port
        cat >"$TMPDIR/sshd_config" <<END
Port $1
ListenAddress 127.0.0.1
HostKey $TMPDIR/host_key
AuthorizedKeysFile $TMPDIR/user_key.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
PermitRootLogin prohibit-password
END
        "${bound[@]}" "$sshd" -D -e -f "$TMPDIR/sshd_config" 2>"$TMPDIR/sshd.log" &
        daemon=$!
        processes+=("$daemon")
        wait_until "sshd has said how it is" grep -qE 'Server listening|in use|fatal|rror' "$TMPDIR/sshd.log" &&
                grep -q 'Server listening' "$TMPDIR/sshd.log"
}

ssh_options=(-F none -q -i "$TMPDIR/user_key" -o UserKnownHostsFile="$TMPDIR/known_hosts" -o StrictHostKeyChecking=accept-new
        -o IdentitiesOnly=yes -o BatchMode=yes -o ExitOnForwardFailure=yes)

# Sets `ssh`, `port` and `daemon`; or the reason why not is in $TMPDIR/why.
reach_sshd() {
        local try key
        if ! sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || ! command -v ssh ssh-keygen >/dev/null; then
                echo "openssh-server and openssh-client are not installed" >"$TMPDIR/why"
                return 1
        fi
        [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd # where it gives up its rights; Debian's service makes it
        for key in host user; do
                ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/${key}_key"
        done
        for ((try = 0; try < 10; try++)); do
                port=$((20000 + RANDOM % 12000))
                if start_sshd "$port"; then
                        ssh=("${bound[@]}" ssh "${ssh_options[@]}" -p "$port" 127.0.0.1)
                        "${ssh[@]}" true </dev/null >/dev/null 2>"$TMPDIR/why" && return 0
                        break
                fi
        done
        tail -n 1 "$TMPDIR/sshd.log" >>"$TMPDIR/why"
        return 1
}
