#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/guests/guest.sh: an emulated machine that does not boot, dies or hangs is one clear failure with its last words, soon,
# and nothing of it is left behind; so is a mirror that sends nothing.  The emulator, ssh and apt are stubs here.
set -u
. tests/tap.sh
plan 9
need setpriv python3

stubs=$TMPDIR/stubs script=$TMPDIR/script.sh
mkdir "$TMPDIR/bin" "$TMPDIR/its"
# Boots as $TMPDIR/boots says, and is there until it is killed or $TMPDIR/dies is there.
cat >"$TMPDIR/bin/qemu-system-riscv64" <<'STUB'
#!/bin/bash
for word; do case $word in file:*) console=${word#file:} ;; esac; done
n=$(cat "$STUBS/starts" 2>/dev/null)
echo $((n + 1)) >"$STUBS/starts"
echo "OpenSBI" >"$console"
how=$(cat "$STUBS/boots")
case $how in
taken) [ "${n:-0}" -ge 2 ] || { echo "Could not set up host forwarding rule 'tcp:127.0.0.1:1-:22'" >&2; exit 1; } ;;
panics) echo "Kernel panic - not syncing: no init" >>"$console"; exit 0 ;;
esac
echo $$ >"$STUBS/pid"
[ "$how" = hangs ] || touch "$STUBS/up"
until [ -e "$STUBS/dies" ]; do sleep 0.05; done
echo "Kernel panic - not syncing: sysrq triggered crash" >>"$console"
rm "$STUBS/up"
STUB
# As ssh: 255 where no machine answers; a command that hangs goes on until it is stopped.
cat >"$TMPDIR/bin/ssh" <<'STUB'
#!/bin/bash
[ -e "$STUBS/up" ] && kill -0 "$(cat "$STUBS/pid")" 2>/dev/null || exit 255
case ${!#} in
panic) touch "$STUBS/dies"; while [ -e "$STUBS/up" ]; do sleep 0.05; done; exit 255 ;;
hang) exec sleep 1000 ;;
stick) rm "$STUBS/up"; exit 1 ;;
fail) exit 1 ;;
esac
STUB
cat >"$TMPDIR/bin/apt-get" <<'STUB'
#!/bin/sh
[ "$1" = -qq ] || exec echo http://127.0.0.1/
exec sleep 1000
STUB
chmod +x "$TMPDIR"/bin/*
cat >"$TMPDIR/script.sh" <<'SCRIPT'
set -u
. tests/tap.sh
. tests/guests/guest.sh
guest_command_s=2
holds "boots" guest_start riscv64
[ -n "$guest_pid" ] || exit 1
for command; do holds "$command" in_guest "$command"; done
SCRIPT

script_runs() { # limit of the boot in s, commands...
        exec env "STUBS=$stubs" "PATH=$TMPDIR/bin:$PATH" "HYPROF_GUEST_BOOT_S=$1" "TMPDIR=$TMPDIR/its" \
                timeout 100 bash "$script" "${@:2}"
}
# Output and status of a script whose machine boots so.
runs() { # how it boots, commands...
        rm -rf "$stubs"
        mkdir "$stubs"
        echo "$1" >"$stubs/boots"
        status=0
        (script_runs "${boot_s:-60}" "${@:2}") >"$TMPDIR/said" 2>&1 || status=$?
}
says() { # status, how often the machine was started ("" = that does not matter), lines...
        local line
        same "$1" "$status" && is_gone || return 1
        [ -z "$2" ] || same "$2" "$(cat "$stubs/starts")" || return 1
        for line in "${@:3}"; do
                grep -qE -- "^$line\$" "$TMPDIR/said" || { echo "not there: $line" && cat "$TMPDIR/said" && return 1; }
        done
        same $((${#@} - 2)) "$(grep -cE '^(ok|not ok|Bail out!) |^ +(Kernel panic|it ended|ssh cannot|stopped after)' "$TMPDIR/said")"
}
is_gone() {
        [ ! -e "$stubs/pid" ] || ! kill -0 "$(cat "$stubs/pid")" 2>/dev/null || { echo "the machine is still there" && return 1; }
}

runs well true fail true
holds "a machine that works: a case that fails is a case" says 0 1 "ok 1 - boots" "ok 2 - true" "not ok 3 - fail" "ok 4 - true"
runs taken true
holds "a port that another program took: another is tried" says 0 3 "ok 1 - boots" "ok 2 - true"
runs panics true
holds "a kernel that panics at once: that, and no second try" says 1 1 "not ok 1 - boots" " +it ended while it booted:" " +Kernel panic .* no init"
boot_s=3 runs hangs true
holds "a kernel that hangs: no longer than the limit" says 1 "" "not ok 1 - boots" " +ssh cannot enter after 3 s:"
runs well true panic true
holds "a machine that dies: its last words, and the end" says 1 1 "ok 1 - boots" "ok 2 - true" "not ok 3 - panic" \
        "Bail out! the emulated machine has ended; its last words:" " +Kernel panic .* sysrq triggered crash"
runs well stick true
holds "one that answers no more: the same" says 1 1 "ok 1 - boots" "not ok 2 - stick" \
        "Bail out! the emulated machine answers no more; its last words:"
runs well hang true
holds "a command that hangs is stopped" says 0 1 "ok 1 - boots" "not ok 2 - hang" " +stopped after 2 s: hang" "ok 3 - true"

# A script that is killed cannot clean up.
killed() {
        local script_pid
        rm -rf "$stubs"
        mkdir "$stubs"
        echo well >"$stubs/boots"
        script_runs 60 hang hang hang hang hang >/dev/null 2>&1 &
        until [ -e "$stubs/up" ]; do sleep 0.05; done
        script_pid=$(cut -d ' ' -f 4 "/proc/$(cat "$stubs/pid")/stat")
        kill -KILL "$script_pid"
        wait
        timeout 100 tail --pid="$(cat "$stubs/pid")" -s 0.05 -f /dev/null || is_gone
}
holds "its script is killed: the machine ends as well" killed

fetch() { PATH=$TMPDIR/bin:$PATH HYPROF_FETCH_S=1 boards/sysroot.sh riscv64 trixie "$TMPDIR/root" libc6-dev; }
fetches_nothing() {
        ends_with 69 fetch && grep -qx 'sysroot.sh: no packages of Debian trixie for riscv64: E: stopped after 1 s' "$TMPDIR/err" && return
        cat "$TMPDIR/err"
        return 1
}
holds "a mirror that sends nothing: no longer than the limit" fetches_nothing
