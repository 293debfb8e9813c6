# shellcheck shell=bash disable=SC2034 # the scripts use what is set here
# SPDX-License-Identifier: MIT
# Starts an emulated machine and talks to it; sourced after tap.sh.  guest_start TARGET [OPTION of qemu...] sets `guest`, its
# folder, and `guest_port`; the machine ends with the script, or with guest_stop.  `guest_options` and
# `guest_kernel_options` are further ones of qemu and of the kernel.  The disks of image.sh stay as they are: the guest writes
# to copies.  Each wait has a limit; where a case fails since the machine has died or is stuck, the script ends with that.

guest_processors=${HYPROF_GUEST_PROCESSORS:-2}
read -r -a guest_options <<<"${HYPROF_GUEST_OPTIONS-}"
guest_boot_s=${HYPROF_GUEST_BOOT_S:-300}
guest_command_s=600 # of one command
ssh_options=(-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=20
        -o ServerAliveInterval=15 -o ServerAliveCountMax=20)

in_guest() { # command of its shell; standard input and output are the command's
        local status=0
        timeout --foreground "$guest_command_s" ssh -i "$guest/key" "${ssh_options[@]}" -p "$guest_port" root@127.0.0.1 "$@" || status=$?
        [ $status -ne 124 ] || echo "stopped after $guest_command_s s: $*" >&2
        return $status
}
to_guest() { # folder there, files
        tar -C "$(dirname "$2")" -c "${@:2}" 2>/dev/null --transform='s,.*/,,' | in_guest "mkdir -p $1 && tar -xC $1"
}
from_guest() { # file there, file here
        in_guest "cat $1" >"$2"
}

# A port that is free now; where another program takes it first, another one is tried.
free_port() {
        python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# It has ended then, whatever it was doing: nothing of it takes processor time from the tests after this one.
guest_stop() {
        [ -n "${guest_pid:-}" ] || return 0
        kill -KILL "$guest_pid" 2>/dev/null
        wait "$guest_pid" 2>/dev/null
        guest_pid=
}

# The last words of the machine.
guest_words() {
        tail -n 5 "$TMPDIR/qemu"
        tail -n 20 "$TMPDIR/console"
}

# tap.sh calls it.  A case that failed in a machine that works is a case; without the machine all that follow would fail, too.
case_failed() {
        local what="has ended" tries
        [ -n "${guest_pid:-}" ] || return 0
        if kill -0 "$guest_pid" 2>/dev/null; then
                what="answers no more"
                for tries in 1 2 3; do
                        guest_command_s=60 in_guest true >/dev/null 2>&1 && return 0
                        kill -0 "$guest_pid" 2>/dev/null || break
                done
        fi
        echo "Bail out! the emulated machine $what; its last words:"
        guest_words | sed 's/^/    /'
        exit 1
}

guest_start() { # TARGET, options of qemu...
        local machine until
        guest=build/guest/$1
        guest_share=$TMPDIR/share
        mkdir -p "$guest_share"
        case $1 in
        # Sscofpmf: counters that interrupt.
        riscv64) machine=(qemu-system-riscv64 -M virt -cpu "rv64,sscofpmf=${guest_sscofpmf:-true}"
                -bios /usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin) ;;
        aarch64) machine=(qemu-system-aarch64 -M virt -cpu cortex-a72) ;;
        esac
        need "${machine[0]}" ssh setpriv
        trap guest_stop EXIT
        trap 'exit 143' TERM INT HUP
        until=$((SECONDS + guest_boot_s))
        while :; do
                guest_port=$(free_port)
                : >"$TMPDIR/console"
                # It ends with this script, however that ends.
                setpriv --pdeathsig KILL "${machine[@]}" "${guest_options[@]}" "${@:2}" -smp "$guest_processors" -m 2G -display none -monitor none -serial "file:$TMPDIR/console" -no-reboot \
                        -kernel "$guest/kernel" -initrd "$guest/initramfs" -append "console=ttyS0 console=ttyAMA0 quiet panic=-1 ${guest_kernel_options:-}" \
                        -drive "file=$guest/system.ext4,format=raw,if=none,id=system,snapshot=on" -device virtio-blk-pci,drive=system \
                        -drive "file=$guest/work.ext4,format=raw,if=none,id=work,snapshot=on" -device virtio-blk-pci,drive=work \
                        -device virtio-rng-pci -netdev "user,id=net,hostfwd=tcp:127.0.0.1:$guest_port-:22" \
                        -device virtio-net-pci,netdev=net,romfile= \
                        -virtfs "local,path=$guest_share,mount_tag=share,security_model=none" >"$TMPDIR/qemu" 2>&1 </dev/null &
                guest_pid=$!
                while [ $SECONDS -lt $until ] && kill -0 "$guest_pid" 2>/dev/null; do
                        in_guest true 2>/dev/null && return 0
                        sleep 1
                done
                guest_stop
                if [ $SECONDS -ge $until ]; then
                        echo "ssh cannot enter after $guest_boot_s s:"
                        break
                elif ! grep -q 'host forwarding' "$TMPDIR/qemu"; then
                        echo "it ended while it booted:"
                        break
                fi
        done
        guest_words
        return 1
}
