#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Under sudo the command and the trace are the caller's: nothing of root's is written to, and no right of root's handed on
set -eu
. tests/tap.sh
plan 110
need jq chrt
need_sampling
[ "$(id -u)" -eq 0 ] || skip_all "only root can be whom sudo makes of a user"

uid=$(id -u nobody) gid=$(id -g nobody)
# The folders above are shut for others: this one is reached by its own name.
folder=$(mktemp -d /tmp/hyprof-sudo.XXXXXX)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/home" "$folder/closed" "$folder/shared"
cp "$WORKLOADS/w_split" "$WORKLOADS/w_becomes_root" "$folder/"
chown "$uid:$gid" "$folder/home"
chmod 755 "$folder" "$folder/closed"
chmod 1777 "$folder/shared"
secret=$folder/secret
printf 'untouched\n' >"$secret"
chmod 600 "$secret"

# The variables that sudo would set, and hyprof as root.
by_sudo() { (cd "$folder/home" && exec env SUDO_UID="$uid" SUDO_GID="$gid" SUDO_USER=nobody SUDO_COMMAND=x HOME=/root USER=root LOGNAME=root SHELL=/bin/sh "$@"); }
start=(by_sudo "$HYPROF" record)
says() { same "$1" "$("${start[@]}" -q -o t.hyp -- "${@:2}")"; }
owner() { stat -c '%u:%g' "$folder/$1"; }
secret_is_whole() { same "untouched root 600" "$(cat "$secret") $(stat -c '%U %a' "$secret")"; }

# ---- the command
# shellcheck disable=SC2016 # for the recorded shell
{
holds "the command is the user, with the user's groups" says "$uid $gid $(id -G nobody)" \
        sh -c 'echo "$(id -u) $(id -g) $(id -G)"'
holds "real, effective and saved" says "$(printf '%s %s %s\n' "$uid" "$uid" "$uid" "$gid" "$gid" "$gid")" \
        awk '$1 == "Uid:" || $1 == "Gid:" { print $2, $3, $4 }' /proc/self/status
holds "it has no capabilities" says "$(printf '0000000000000000%.0s\n' 1 2 3 4)" \
        awk '/^Cap[IPEA]/ { print $2 }' /proc/self/status
holds "but may gain some: it is not filtered" says "$(printf '0\n0')" \
        awk '/^NoNewPrivs:|^Seccomp:/ { print $2 }' /proc/self/status
holds "its environment is the user's" says "$(getent passwd nobody | awk -F: '{ print $6, $1, $1, $7 }')" \
        sh -c 'echo "$HOME $USER $LOGNAME $SHELL"'
holds "it is not under sudo" says "" sh -c 'env | grep ^SUDO_ || true'
holds "its working directory is the caller's" says "$folder/home" pwd
}
holds "it cannot read what is root's" ends_with 1 "${start[@]}" -q -o t.hyp -- cat "$secret"
holds "its status is handed on" ends_with 7 "${start[@]}" -q -o t.hyp -- sh -c 'exit 7'
holds "a command that the user may not execute" ends_with 126 "${start[@]}" -q -o t.hyp -- "$secret"

# ---- the recording
holds "record" ends_with 0 "${start[@]}" -o t.hyp -- "$folder/w_split" 1
holds "the trace is the user's" same "$uid:$gid" "$(owner home/t.hyp)"
holds "so is the earlier one" same "$uid:$gid" "$(owner home/t.hyp.old)"
cp "$folder/home/t.hyp" "$TMPDIR/sudo.hyp"
holds "it is whole" is_whole sudo
read_trace sudo
holds "zones arrive" compare "$(n_events sudo 'kind == "zone_begin"')" ">" 100
holds "samples are in them" compare "$(n_events sudo 'kind == "sample" && path == "/seventy"')" ">" 200
holds "the kernel's callstacks are there, with names" same "" \
        "$(reported sudo '.missing.rows[] | select(.code == "NO_KERNEL_STACKS" or .code == "KERNEL_SYMBOLS_HIDDEN") | .code')"
holds "all rights were given up that could be" same "" "$(reported sudo '.missing.rows[] | select(.code == "RIGHTS_KEPT") | .code')"
holds "the trace tells what the recorder used" grep -q 'recorder_cpu_ns' "$TMPDIR/sudo.dump"

# ---- what hyprof itself may do while its command runs, which is ended when all of it has been seen
"${start[@]}" -q -o t.hyp -- "$folder/w_split" 60 >/dev/null &
job=$!
# The exec'ed chain: by_sudo's subshell has become hyprof.
hyprof_pid() { pgrep -P "$job" -x hyprof || echo "$job"; }
runs_split() { pgrep -P "$(hyprof_pid)" -x w_split; }
wait_until "the command runs" runs_split
pid=$(hyprof_pid)
effective=$(awk '$1 == "CapEff:" { print $2 }' "/proc/$pid/status")
figure "hyprof's capabilities while it records: $(capsh --decode="$effective" 2>/dev/null || echo "$effective")"
holds "hyprof is the user" same "$uid" "$(awk '$1 == "Uid:" { print $3 }' "/proc/$pid/status")"
# CAP_KILL, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE
holds "with few capabilities" same 0 $((0x$effective & ~(1 << 5 | 1 << 19 | 1 << 40)))
threads() { # field of status: its values
        awk -v field="$1:" '$1 == field { print $2 }' "/proc/$pid/task"/*/status | sort -u | paste -sd ' '
}
permitted() { # thread's name, or "" for all but the main one, the opener and the guard
        local task name
        for task in "/proc/$pid/task"/*; do
                name=$(cat "$task/comm")
                [ "${task##*/}" != "$pid" ] || continue
                [ "$name" = "$1" ] || { [ -z "$1" ] && [ "$name" != hyprof-opener ] && [ "$name" != hyprof-guard ]; } || continue
                awk '$1 == "CapPrm:" { print $2 }' "$task/status"
        done | sort -u
}
holds "the thread that opens files has what that needs" same 0000010000080000 "$(permitted hyprof-opener)"
guard=0000000000800000
chrt -f 98 true 2>/dev/null || guard= # without the right to real-time priorities there is no guard
holds "the one that raises priorities has that alone" same "$guard" "$(permitted hyprof-guard)"
holds "its other threads have none" same 0000000000000000 "$(permitted "")"
holds "all of them are filtered" same 2 "$(threads Seccomp)"
holds "and gain nothing" same 1 "$(threads NoNewPrivs)"
bounding_sets() { # of the threads and helpers of the recorder; the command's is its own
        local process
        for process in "$pid" $(pgrep -P "$pid"); do
                [ "$(cat "/proc/$process/comm")" = w_split ] || awk '$1 == "CapBnd:" { print $2 }' "/proc/$process/status"
        done | sort -u | paste -sd ' '
}
holds "nor could their children: the bounding sets are empty" same 0000000000000000 "$(bounding_sets)"
holds "the command's is as it was" same "$(awk '$1 == "CapBnd:" { print $2 }' /proc/self/status)" \
        "$(awk '$1 == "CapBnd:" { print $2 }' "/proc/$(pgrep -P "$pid" -x w_split)/status")"
rights() { # process
        awk '/^(NoNewPrivs|Seccomp|CapPrm|CapInh|CapBnd|CapAmb):/ { print $2 }' "/proc/$1/status" | paste -sd ' '
}
# Whatever the user runs beside it reads no memory of it and of its helpers, which share its user.
of_user() { setpriv --reuid="$uid" --regid="$gid" --clear-groups --bounding-set=-all "$@"; }
readable() { # what the user's other processes can open of them
        local process file
        for process in "$pid" $(pgrep -P "$pid"); do
                [ "$(cat "/proc/$process/comm")" != w_split ] || continue
                for file in mem environ maps auxv; do
                        ! of_user head -c 1 "/proc/$process/$file" >"$TMPDIR/byte" 2>/dev/null || echo "$process/$file"
                done
                ! of_user ls "/proc/$process/fd" >"$TMPDIR/byte" 2>/dev/null || echo "$process/fd"
        done
}
holds "the user's other processes cannot look into it or its helpers" same "" "$(readable)"
holds "as they can into the command" of_user head -c 1 "/proc/$(pgrep -P "$pid" -x w_split)/environ"
keeper=$(pgrep -P "$pid" -x hyprof-cgroup || true)
if [ -n "$keeper" ]; then
        # CAP_DAC_OVERRIDE, for the folder of root's that it removes
        holds "the process that removes the cgroup has one capability, and gains none" \
                same "0000000000000000 0000000000000002 0000000000000000 0000000000000000 1 2" "$(rights "$keeper")"
        holds "and holds three descriptors: the folder, its sign, the recorder" same 3 "$(find "/proc/$keeper/fd" -mindepth 1 | wc -l)"
        group=$(sed -n 's/^0:://p' "/proc/$(pgrep -P "$pid" -x w_split)/cgroup")
else
        skips_group "the process that removes the cgroup" "hardware: no cgroup can be made here"
        group=
fi
kill "$(pgrep -P "$pid" -x w_split)" || true
wait "$job" || true
is_gone() { [ ! -e "/sys/fs/cgroup$group" ]; }
[ -z "$group" ] || holds "the cgroup is removed all the same" wait_until "the cgroup is gone" is_gone

# ---- probes: only CAP_SYS_ADMIN sets them, which the recorder holds until the command begins
cp "$WORKLOADS/w_probed" "$folder/"
mkfifo "$folder/home/to"
chown "$uid:$gid" "$folder/home/to"
"${start[@]}" -q -o probes.hyp --zone-function=leaf -- "$folder/w_probed" 8 wait <"$folder/home/to" >"$TMPDIR/probes.out" 2>"$TMPDIR/probes.err" &
job=$!
exec 6>"$folder/home/to"
runs_or_fails() { [ -s "$TMPDIR/probes.out" ] || [ -s "$TMPDIR/probes.err" ]; }
wait_until "the probed command runs" runs_or_fails
if [ -s "$TMPDIR/probes.out" ]; then
        can_probe() { # threads of the recorder and its helpers that could set more
                local process task
                for process in "$(hyprof_pid)" $(pgrep -P "$(hyprof_pid)"); do
                        for task in "/proc/$process/task"/*; do
                                (($(awk '$1 == "CapPrm:" { print "0x" $2 }' "$task/status") >> 21 & 1)) && cat "$task/comm"
                        done
                done
        }
        holds "while a probed command runs, nothing of hyprof has the capability to set probes" same "" "$(can_probe)"
        exec 6>&-
        holds "a probed command ends well" wait "$job"
        cp "$folder/home/probes.hyp" "$TMPDIR/probes.hyp"
        read_trace probes
        holds "its calls are zones" same "$(awk '$1 == "leaf" { print $2 }' "$TMPDIR/probes.out")" \
                "$(n_events probes 'kind == "zone_begin" && zone == "leaf"')"
        holds "without sudo the user may set none" ends_with 125 of_user "$HYPROF" record -q -o "$folder/home/no.hyp" --zone-function=leaf -- "$folder/w_probed" 8
        holds "one line says so" grep -qx 'hyprof: error: .*: --zone-function: BPF: only root may set probes (CAP_SYS_ADMIN); use sudo' "$TMPDIR/err"
        holds "and nothing else" same 1 "$(wc -l <"$TMPDIR/err")"
else
        exec 6>&-
        wait "$job" || true
        grep -qE 'BPF|x86-64' "$TMPDIR/probes.err" || { cat "$TMPDIR/probes.err" && exit 1; }
        skips_group "probes" "hardware: $(head -n 1 "$TMPDIR/probes.err")"
fi

# ---- --view: the process that waits for the recorder is the user, too
by_sudo env TMPDIR="$folder/home" "$HYPROF" record -q --view -o v.hyp -- "$folder/w_split" 60 >"$TMPDIR/view.out" 2>&1 &
job=$!
serves() { grep -q '^http' "$TMPDIR/view.out"; }
wait_until "the viewer serves" serves
waiting=$job
[ "$(cat "/proc/$job/comm")" = hyprof ] || waiting=$(pgrep -P "$job" -x hyprof)
user_of() { awk '$1 == "Uid:" { print $3 } $1 == "CapPrm:" { print $2 }' "/proc/$1/status" | paste -sd ' '; }
holds "--view: the process that waits is the user, without capabilities" same "$uid 0000000000000000" "$(user_of "$waiting")"
runs_viewed() { # the viewer may serve before the command begins
        local process
        for process in $(pgrep -P "$waiting" -x hyprof); do ! pgrep -P "$process" -x w_split || return 0; done
        return 1
}
wait_until "the recorder's command runs" runs_viewed
recorder='' viewer=''
for process in $(pgrep -P "$waiting" -x hyprof); do
        if pgrep -P "$process" -x w_split >"$TMPDIR/found"; then
                recorder=$process && cp "$TMPDIR/found" "$TMPDIR/split"
        else
                viewer=$process
        fi
done
holds "so is the viewer" same "$uid 0000000000000000" "$(user_of "$viewer")"
holds "the recorder has what it needs" compare "$((0x$(awk '$1 == "CapPrm:" { print $2 }' "/proc/$recorder/status")))" ">" 0
kill "$(cat "$TMPDIR/split")"
is_over() { [ ! -e "/proc/$recorder/exe" ]; }
wait_until "the recording ends" is_over
kill -TERM "$viewer" || true
wait "$job" || true

# ---- the output
ln -s "$secret" "$folder/home/link.hyp"
holds "the output is a link to a file of root's" ends_with 0 "${start[@]}" -q -o link.hyp -- true
holds "that file is as it was" secret_is_whole
holds "the link was put aside, the trace is a file" same "regular file" "$(stat -c %F "$folder/home/link.hyp")"
ln -s "$secret" "$folder/home/x.hyp.old"
: >"$folder/home/x.hyp"
holds "the name for the earlier one is such a link" ends_with 0 "${start[@]}" -q -o x.hyp -- true
holds "that file is as it was" secret_is_whole
ln -s "$folder/closed" "$folder/home/way"
holds "the output is in a folder of root's" ends_with 125 "${start[@]}" -o "$folder/closed/t.hyp" -- true
holds "it says so" grep -q "^hyprof: error: cannot write the trace: .*closed/t.hyp: Permission denied" "$TMPDIR/err"
holds "and what to do" grep -q '^  try: ' "$TMPDIR/err"
holds "by a link too" ends_with 125 "${start[@]}" -o way/t.hyp -- true
holds "nothing was made there" same "" "$(ls -A "$folder/closed")"
: >"$folder/shared/t.hyp"
holds "root's file in a folder for all" ends_with 125 "${start[@]}" -o "$folder/shared/t.hyp" -- true
holds "it says that it cannot be put aside" grep -q "^hyprof: error: cannot write the trace: .*cannot be renamed" "$TMPDIR/err"
holds "the file is as it was" same "0 0" "$(stat -c '%u %s' "$folder/shared/t.hyp")"
holds "a new one in a folder for all" ends_with 0 "${start[@]}" -q -o "$folder/shared/new.hyp" -- true
holds "is the user's" same "$uid:$gid" "$(owner shared/new.hyp)"

# ---- --as-root
# shellcheck disable=SC2016
holds "--as-root: the command is root" same "0 0 /root" \
        "$("${start[@]}" --as-root -q -o root.hyp -- sh -c 'echo "$(id -u) $(id -g) $HOME"')"
# shellcheck disable=SC2016
holds "--as-root: with all capabilities of root" same "$(awk '/^CapBnd:/ { print $2 }' /proc/self/status)" \
        "$("${start[@]}" --as-root -q -o root.hyp -- awk '/^CapEff:/ { print $2 }' /proc/self/status)"
holds "--as-root: the trace is the user's" same "$uid:$gid" "$(owner home/root.hyp)"
holds "--as-root: a program with zones" ends_with 0 "${start[@]}" --as-root -q -o root.hyp -- "$folder/w_split" 1
cp "$folder/home/root.hyp" "$TMPDIR/root.hyp"
read_trace root
holds "--as-root: they arrive" compare "$(n_events root 'kind == "zone_begin"')" ">" 100

# ---- what other commands read and write: they are the user from the start
holds "report: a trace of the user's" ends_with 0 by_sudo "$HYPROF" report t.hyp
chmod 600 "$TMPDIR/sudo.hyp"
holds "report: a trace that only root may read" ends_with 1 by_sudo "$HYPROF" report "$TMPDIR/sudo.hyp"
holds "it says so" grep -q '^hyprof: error: .*sudo.hyp: Permission denied$' "$TMPDIR/err"
holds "so does top" ends_with 1 by_sudo "$HYPROF" top "$TMPDIR/sudo.hyp"
holds "and shows nothing" test ! -s "$TMPDIR/out"
holds "and what to do" grep -q '^  try: sudo chown, .*also under sudo' "$TMPDIR/err"
mkfifo "$folder/home/unread"
chown "$uid:$gid" "$folder/home/unread"
by_sudo "$HYPROF" dump unread >"$TMPDIR/dumped" 2>&1 &
job=$!
exec 7>"$folder/home/unread" # when it reads, it is what it will be
holds "while it reads it is the user, without a capability" same "$uid 0000000000000000 0000000000000000" \
        "$(awk '$1 == "Uid:" || $1 == "CapPrm:" || $1 == "CapEff:" { print $2 }' "/proc/$(hyprof_pid)/status" | paste -sd ' ')"
exec 7>&-
wait "$job" || true
ln -s "$secret" "$folder/home/link"
mkdir "$folder/root"
cp -p "$secret" "$folder/root/secret"
ln -s "$folder/root" "$folder/home/root"
chown -h "$uid:$gid" "$folder/home/link" "$folder/home/root"
for place in link root/secret; do
        for command in "export --force -o $place folded" "html --force -o $place" "symbolize -q -o $place" "merge --force -o $place t.hyp"; do
                # shellcheck disable=SC2086 # words
                holds "$command: a link of the user's to root's" ends_with 1 by_sudo "$HYPROF" $command t.hyp
        done
done
holds "export sqlite, in a folder of root's" ends_with 1 by_sudo "$HYPROF" export --force -o root/secret sqlite t.hyp
holds "that file is as it was" secret_is_whole
holds "and the one in the folder" same "untouched root 600" "$(cat "$folder/root/secret") $(stat -c '%U %a' "$folder/root/secret")"
: >"$folder/home/own"
chown "$uid:$gid" "$folder/home/own"
ln -sf own "$folder/home/link"
by_sudo "$HYPROF" export -q --force -o link folded t.hyp
holds "a link to a file of the user's is followed" same "$uid:$gid symbolic link" "$(owner home/own) $(stat -c %F "$folder/home/link")"

# ---- capture: root's connection, whom every recorder hears, and the user's files
listens() { # as root, without sudo: $recorder
        rm -f "$folder/shared/socket"
        "$HYPROF" record -q --listen "$folder/shared/socket" --no-wait --linger 60s -- "$folder/w_split" 1 >"$TMPDIR/listen" 2>&1 &
        recorder=$!
        wait_until "root's recorder listens" test -S "$folder/shared/socket"
}
listens
holds "capture: what root's recorder gives to root alone" ends_with 0 by_sudo "$HYPROF" capture -q "$folder/shared/socket" -o c.hyp
wait "$recorder"
holds "the trace is the user's" same "$uid:$gid 600" "$(stat -c '%u:%g %a' "$folder/home/c.hyp")"
cp "$folder/home/c.hyp" "$TMPDIR/captured.hyp"
holds "and whole" is_whole captured
by_sudo "$HYPROF" capture --wait -q "$folder/shared/late" -o late.hyp >"$TMPDIR/late" 2>&1 &
job=$!
"$HYPROF" record -q --listen "$folder/shared/late" --linger 60s -- true >"$TMPDIR/listen" 2>&1
holds "capture --wait: the same" wait "$job"
holds "that trace is the user's too" same "$uid:$gid" "$(owner home/late.hyp)"
listens
holds "capture into a folder of root's" ends_with 1 by_sudo "$HYPROF" capture -q "$folder/shared/socket" -o root/c.hyp
holds "it says so" grep -q '^hyprof: error: cannot write the trace: root/c.hyp.*: Permission denied' "$TMPDIR/err"
holds "nothing was made there" same secret "$(ls "$folder/root")"
holds "nor over a file of root's" ends_with 1 by_sudo "$HYPROF" capture -q "$folder/shared/socket" -o root/secret
holds "which is as it was" same "untouched root 600" "$(cat "$folder/root/secret") $(stat -c '%U %a' "$folder/root/secret")"
holds "the recorder still gives it" ends_with 0 by_sudo "$HYPROF" capture -q "$folder/shared/socket" -o c.hyp
wait "$recorder"

# ---- what is kept of debug information
in_cache() { HYPROF_CACHE_DIR=$1 by_sudo "$HYPROF" symbolize -q t.hyp; }
holds "symbolize" ends_with 0 in_cache "$folder/home/cache"
holds "its cache is the user's" same "$uid:$gid $uid:$gid" "$(owner home/cache) $(owner home/cache/key)"
holds "where only root can make one" ends_with 0 in_cache "$folder/closed/cache"
holds "there is none" test ! -e "$folder/closed/cache"

# ---- a command that becomes root
chmod 4755 "$folder/w_becomes_root"
if setpriv --reuid="$uid" --clear-groups "$folder/w_becomes_root" 0 | grep -q 'euid 0'; then
        holds "a set-uid command" ends_with 6 "${start[@]}" -o suid.hyp -- "$folder/w_becomes_root" 300
        holds "is root" grep -q "^uid $uid euid 0 capeff 0*[1-9a-f]" "$TMPDIR/out"
        cp "$folder/home/suid.hyp" "$TMPDIR/suid.hyp"
        holds "its trace is whole" is_whole suid
        user=$(id -un nobody)
        holds "an unprivileged recorder: its status is handed on" ends_with 6 setpriv --reuid="$uid" --regid="$gid" \
                --clear-groups "$HYPROF" record -o "$folder/home/plain.hyp" -- "$folder/w_becomes_root" 300
        holds "the kernel hides it from $user: no time of it is in the trace" same 0 \
                "$(cp "$folder/home/plain.hyp" "$TMPDIR/plain.hyp" && read_trace plain && n_events plain 'kind == "sample" && self == "busy_as_root"')"
        holds "a notice has its name" same w_becomes_root "$(reported plain '.missing.rows[] | select(.code == "OUT_OF_REACH") | .detail')"
        holds "so does the first line" same true "$(reported plain '.answer | test("programs with other rights were not recorded")')"
        holds "root records $user, who becomes root" ends_with 6 "$HYPROF" record -o "$TMPDIR/again.hyp" -- \
                setpriv --reuid="$uid" --regid="$gid" --clear-groups "$folder/w_becomes_root" 300
        cp "$TMPDIR/again.hyp" "$TMPDIR/whole.hyp" && read_trace whole
        # Samples after the end of a thread would have the time of the end.
        holds "and sees its time" compare "$(n_events whole 'kind == "sample" && self == "busy_as_root" && !seen[time_ns]++')" ">" 20
        holds "its thread ends once, after that" same 1 "$(n_events whole 'kind == "sample" && self == "busy_as_root" { its = tid } kind == "thread_exit" && tid == its')"
        holds "and nothing is out of reach" same "" "$(reported whole '.missing.rows[] | select(.code == "OUT_OF_REACH") | .code')"
else
        skips_group "a set-uid command" "the folder for temporary files is mounted nosuid"
fi

# ---- a command that leaves something behind
mkfifo "$folder/home/alive"
chown "$uid:$gid" "$folder/home/alive"
# shellcheck disable=SC2016
holds "a daemon is left behind: hyprof ends with its command" ends_with 4 "${start[@]}" -q -o daemon.hyp -- \
        sh -c 'setsid sh -c "echo \$\$ >pid; read x <alive; echo \$x >heard" </dev/null >/dev/null 2>&1 & exit 4'
wait_until "the daemon has said its number" test -s "$folder/home/pid"
daemon=$(cat "$folder/home/pid")
holds "it lives on" kill -0 "$daemon"
echo still-here >"$folder/home/alive"
wait_until "the daemon has heard" test -s "$folder/home/heard"
holds "and works" same still-here "$(cat "$folder/home/heard")"
