#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whatever is named is recorded and nothing else: threads, cgroups, CPUs, the machine, without children, later; nothing is left behind
# shellcheck disable=SC2154,SC2016 # columns is of tests/tap.sh; the shell of a command expands it
set -eu
. tests/tap.sh
plan 136
need jq
need_sampling
set -m

programs=()
cleanup() {
        local pid
        for pid in "${programs[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
        [ -z "${own_cgroup:-}" ] || rmdir "$own_cgroup" 2>/dev/null || true
}
trap cleanup EXIT

scope_error() { # scope: why it cannot be had here; "" = it can
        "$HYPROF" record -q --scope="$1" -o "$TMPDIR/try.hyp" -- true 2>&1 | head -n 1
}
scopes=()
for scope in cgroup cpus threads; do
        why=$(scope_error "$scope")
        if [ -z "$why" ]; then
                scopes+=("$scope")
        else
                skips_group "scope $scope" "$why"
        fi
done
has() { [[ " ${scopes[*]} " == *" $1 "* ]]; }
mount=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
left_behind() { find "${mount:-/nowhere}" -maxdepth 6 -type d -name 'hyprof-*' 2>/dev/null | sort; }
before=$(left_behind) # of others who record at the same time

until_true() { # command: tried for a minute
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                ! "$@" || return 0
                read -r -t 0.1 <> <(:) || true
        done
        return 1
}
in_background() { # command: its number is $program
        "$@" >/dev/null 2>&1 &
        program=$!
        programs+=("$program")
}
n_tasks() { find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l; }
has_tasks() { [ "$(n_tasks "$1")" -eq "$2" ]; }
busy='kind == "sample" && (self == "busy_a" || self == "busy_b")'

# ---- a command: what is best of what is permitted
best=${scopes[0]}
holds "auto is recorded" record auto -- "$WORKLOADS/w_two_zones" 0.2 1
read_trace auto
holds "the descriptors of events and BPF programs are counted" record open -- sh -c \
        'for open in /proc/$PPID/fd/*; do readlink "$open"; done >"$1"' sh "$TMPDIR/open"
holds "as /proc has them" same "$(grep -cE '^anon_inode:(\[perf_event\]|bpf|btf)' "$TMPDIR/open")" \
        "$("$HYPROF" report --json --limit 0 "$TMPDIR/open.hyp" | jq .n_descriptors)"
holds "auto takes the best scope: $best" same "$best" "$(reported auto .scope)"
for scope in "${scopes[@]}"; do
        watch_others
        # shellcheck disable=SC2016 # for the recorded shell
        holds "$scope: recorded" record "$scope" --scope="$scope" -- sh -c '"$0/w_two_zones" 0.3 2 & wait' "$WORKLOADS"
        read_trace "$scope"
        holds "$scope: the first program begins with its execve, under its name" same 0 "$(n_events "$scope" 'thread == "hyprof"')"
        holds "$scope: threads of a child" same 2 "$(n_different "$scope" "$busy" tid)"
        holds "$scope: in the right zones" same 0 \
                "$(n_events "$scope" 'kind == "sample" && (self == "busy_a" && path == "/b" || self == "busy_b" && path == "/a")')"
        holds "$scope: zones" compare "$(n_events "$scope" 'kind == "zone_begin"')" ">" 0
        holds_all_records "$scope: nothing is lost" "$scope"
        holds "$scope: the trace is whole" is_whole "$scope"

        # shellcheck disable=SC2016 # for the recorded shell
        holds "$scope, no children: recorded" record alone --scope="$scope" --no-children -- \
                sh -c '"$0/w_two_zones" 0.3 2; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' "$WORKLOADS"
        read_trace alone
        holds "$scope, no children: one process" same 1 "$(reported alone .n_processes)"
        holds "$scope, no children: it is sampled" compare "$(n_events alone 'kind == "sample" && thread == "sh"')" ">" 0
        holds "$scope, no children: threads are recorded" record threaded --scope="$scope" --no-children -- "$WORKLOADS/w_two_zones" 0.3 2
        read_trace threaded
        holds "$scope, no children: all of them" same 2 "$(n_different threaded "$busy" tid)"

        holds "$scope, delay: recorded" record late --scope="$scope" --delay 300ms -- "$WORKLOADS/w_two_zones" 1 2
        read_trace late
        holds "$scope, delay: threads that ran before" same 2 "$(n_different late "$busy" tid)"
        holds "$scope, delay: zones are fewer than there were" compare "$(n_events late 'kind == "zone_begin"')" "<" \
                "2 * $(awk '$1 == "zones" { print $2 }' "$TMPDIR/late.out")"
        holds "$scope, delay: and yet there are some" compare "$(n_events late 'kind == "zone_begin"')" ">" 0
        # shellcheck disable=SC2016 # for awk
        holds "$scope, delay: nothing is older than the recording" awk -F '\t' '
                $1 == "thread_name" && (!start_ns || $2 < start_ns) { start_ns = $2 }
                !first_ns || $2 < first_ns { first_ns = $2 }
                END { exit !start_ns || first_ns < start_ns }' "$TMPDIR/late.events"
        holds "$scope, delay: a command that is shorter" ends_with 125 \
                "$HYPROF" record --scope="$scope" --delay 1h -o "$TMPDIR/none.hyp" -- true
        holds "$scope, delay: it says so" grep -q 'error: .*the command ended before the recording began' "$TMPDIR/err"
done
sleep 0.3 &
holds "delay, -p: a program that is shorter" ends_with 125 "$HYPROF" record --delay 1s -o "$TMPDIR/none.hyp" -p $!
holds "delay, -p: it says so" grep -q 'error: .*the processes to be recorded ended before the recording began' "$TMPDIR/err"

# ---- CPUs
if has cpus && [ "$(nproc)" -ge 2 ] && command -v taskset >/dev/null; then
        read -r first second <<<"$(taskset -cp $$ | sed 's/.*: //' | awk -F, '{ n = 0; for (i = 1; i <= NF; i++) {
                split($i, r, "-"); last = r[2] == "" ? r[1] : r[2]; for (c = r[1]; c <= last; c++) list[n++] = c } print list[0], list[1] }')"
        in_background taskset -c "$first" "$WORKLOADS/w_two_zones" 600 1
        on_first=$program
        in_background taskset -c "$second" "$WORKLOADS/w_two_zones" 600 1
        for scope in cpus threads; do
                holds "$scope, --cpu: recorded" record cpu --scope="$scope" --cpu "$second" -d 500ms -p "$on_first,$program"
                read_trace cpu
                holds "$scope, --cpu: only the program there" same "$program" "$(awk -F '\t' "$columns$busy"' { print pid }' \
                        "$TMPDIR/cpu.events" | sort -u)"
                "$HYPROF" dump "$TMPDIR/cpu.hyp" >"$TMPDIR/cpu.dump"
                holds "$scope, --cpu: switches to threads are there" grep -q '^switch_in' "$TMPDIR/cpu.dump"
                holds "$scope, --cpu: of that CPU only" same "cpu=$second" \
                        "$(awk '$1 == "switch_in" { print $4 }' "$TMPDIR/cpu.dump" | sort -u)"
        done
        kill "$on_first" "$program"
else
        skips_group "--cpu" "there is one CPU, or no right to it"
fi
usage() { ends_with 2 "$HYPROF" record -o "$TMPDIR/none.hyp" --cpu "$1" -- true && grep -q "^hyprof: error: --cpu: $2" "$TMPDIR/err"; }
holds "--cpu: no list" usage 0,x "not a list of CPUs"
holds "--cpu: one that is not there" ends_with 125 "$HYPROF" record -o "$TMPDIR/none.hyp" --cpu 0,60000 -- true
holds "--cpu: it is named" grep -q '^hyprof: error: --cpu: CPU 60000 is not online' "$TMPDIR/err"

# ---- single threads
in_background "$WORKLOADS/w_two_zones" 600 3
holds "threads are there" until_true has_tasks "$program" 4
thread=$(for task in "/proc/$program/task/"*; do echo "${task##*/}"; done | grep -vx "$program" | head -n 1)
for scope in cpus threads; do
        has "$scope" || continue
        holds "$scope, -t: recorded" record one --scope="$scope" -d 500ms -t "$thread"
        read_trace one
        holds "$scope, -t: only that thread" same "$thread" "$(reported one '.threads.rows[] | .tid')"
        holds "$scope, -t: samples, with names from its process's mappings" compare "$(n_events one "$busy")" ">" 0
        holds "$scope, -t: in its zones, and not in the others'" same "$thread" \
                "$(awk -F '\t' "$columns"'kind == "zone_begin" { print tid }' "$TMPDIR/one.events" | sort -u)"
        holds "$scope, -t: nothing is lost" same "" "$(lost one)"
        holds "$scope, -t: it says so" same "thread $thread (w_two_zones)" \
                "$(reported one '.missing.rows[] | select(.code == "ATTACHED") | .detail')"
done
kill "$program"
gone=$(sh -c 'echo $$')
holds "-t: no such thread" ends_with 125 "$HYPROF" record -o "$TMPDIR/none.hyp" -t "$gone"
holds "-t: it says so" grep -q "^hyprof: error: no thread $gone\$" "$TMPDIR/err"

# ---- the whole machine
if has cpus; then
        watch_others
        in_background "$WORKLOADS/w_split" 600
        in_background "$WORKLOADS/w_depth" 600
        "$HYPROF" record -o "$TMPDIR/all.hyp" -a -d 2s >"$TMPDIR/all.out" 2>"$TMPDIR/all.err" &
        recorder=$!
        programs+=("$recorder")
        has_helpers() { [ -n "$(cat "/proc/$recorder/task/$recorder/children")" ]; }
        until_true has_helpers || true
        helpers=$(cat "/proc/$recorder/task/$recorder/children" 2>/dev/null || true)
        holds "-a: it ends when the time is over" wait $recorder
        kill "${programs[@]: -3:2}"
        wait "${programs[@]: -3:2}" 2>"$TMPDIR/ended" || true # their time is none of others
        read_trace all
        for function in seventy bottom; do
                holds "-a: samples of $function()" compare "$(n_events all "kind == \"sample\" && self == \"$function\"")" ">" 10
        done
        holds "-a: hyprof and its helpers are not there" same "" \
                "$(for pid in $recorder $helpers; do reported all ".threads.rows[] | select(.pid == $pid) | .name"; done)"
        holds "-a: every process has a name" compare "$(reported all '[.threads.rows[] | select(.n_samples > 0 and .name == "")] | length')" "<=" 1
        holds "-a: no samples of the idle task" same 0 "$(n_events all 'kind == "sample" && pid == 0')"
        holds_all_records "-a: nothing is lost" all
        # shellcheck disable=SC2016 # for jq
        holds "-a: no CPU is busier than there is time" same '' \
                "$("$HYPROF" report --cpus --json --limit 0 "$TMPDIR/all.hyp" | jq -r '.cpus.rows[] | select(.busy_share > 1) | .cpu')"
        holds "-a: what it is" same "the whole machine" "$(reported all .command)"
        holds "-a with a command: recorded" record beside -a -- "$WORKLOADS/w_two_zones" 0.5 1
        read_trace beside
        holds "-a with a command: it is among them, with its zones" same w_two_zones \
                "$(awk -F '\t' "$columns"'zone == "a" { print thread }' "$TMPDIR/beside.events" | sort -u)"
        "$HYPROF" record -q -o "$TMPDIR/self.hyp" -a --self -F 9973 -d 1s &
        recorder=$!
        wait $recorder
        "$HYPROF" report --json --limit 0 "$TMPDIR/self.hyp" >"$TMPDIR/self.json"
        holds "--self: hyprof is there" compare "$(reported self "[.threads.rows[] | select(.pid == $recorder)] | length")" ">" 0
else
        skips_group "-a" "$(scope_error cpus)"
fi

# ---- cgroups
if has cgroup; then
        own_cgroup=$mount/hyprof.test.$$
        mkdir "$own_cgroup"
        in_background "$WORKLOADS/w_two_zones" 600 2
        inside=$program
        echo "$inside" >"$own_cgroup/cgroup.procs"
        in_background "$WORKLOADS/w_two_zones" 600 1
        holds "--cgroup: recorded" record group --cgroup "${own_cgroup#"$mount"}" -d 1s
        read_trace group
        holds "--cgroup: those in it, and no others" same "$inside" "$(awk -F '\t' "$columns$busy"' { print pid }' "$TMPDIR/group.events" | sort -u)"
        holds "--cgroup: with zones" compare "$(n_events group 'kind == "zone_begin"')" ">" 0
        "$HYPROF" record -q -o "$TMPDIR/moved.hyp" --cgroup "$own_cgroup" &
        recorder=$!
        programs+=("$recorder")
        is_begun() { [ "$(stat -c %s "$TMPDIR/moved.hyp" 2>/dev/null || echo 0)" -gt 2000 ]; }
        until_true is_begun
        echo "$program" >"$own_cgroup/cgroup.procs"
        grown_from=$(stat -c %s "$TMPDIR/moved.hyp")
        has_grown() { [ "$(stat -c %s "$TMPDIR/moved.hyp")" -gt $((grown_from + 6000)) ]; }
        until_true has_grown
        kill -INT $recorder
        wait $recorder
        read_trace moved
        holds "--cgroup: one that was moved in later, with its name and mappings" compare \
                "$(n_events moved "$busy && pid == $program && thread == \"w_two_zones\"")" ">" 0
        holds "--cgroup: in threads, too" record members --scope=threads --cgroup "$own_cgroup" -d 500ms
        read_trace members
        holds "--cgroup: both are in it now" same 2 "$(n_different members "$busy" pid)"
        kill "$inside" "$program"
        wait "$inside" "$program" 2>/dev/null || true

        # The command's own cgroup is made for it, and is gone afterwards, whatever it leaves behind.
        # shellcheck disable=SC2016 # for the recorded shell
        holds "a daemon is left behind; status 3" ends_with 3 "$HYPROF" record -q -o "$TMPDIR/daemon.hyp" -- \
                sh -c 'setsid sleep 600 >/dev/null 2>&1 & echo $! >"$0"; sed -n "s/^0:://p" /proc/self/cgroup >>"$0"; exit 3' "$TMPDIR/daemon"
        { read -r daemon && read -r its_cgroup; } <"$TMPDIR/daemon"
        programs+=("$daemon")
        holds "it was in a cgroup of its own" grep -q '/hyprof-[0-9]*$' <<<"$its_cgroup"
        holds "which is gone, and the daemon is where hyprof is" same "$(sed -n 's/^0:://p' /proc/self/cgroup)" \
                "$(sed -n 's/^0:://p' "/proc/$daemon/cgroup")"
        kill "$daemon"
        "$HYPROF" record -q -o "$TMPDIR/killed.hyp" -- sleep 600 &
        recorder=$!
        programs+=("$recorder")
        has_folder() { [ -n "$(find "$mount" -maxdepth 6 -type d -name "hyprof-$recorder")" ]; }
        no_folder() { ! has_folder; }
        holds "there is a folder while it records" until_true has_folder
        # Until then the command is a child that ends with its recorder.
        is_asleep() {
                sleeping=$(find "$mount" -maxdepth 6 -type d -name "hyprof-$recorder" -exec cat '{}/cgroup.procs' ';' 2>/dev/null)
                [ -n "$sleeping" ] && [ "$(cat "/proc/$sleeping/comm" 2>/dev/null)" = sleep ]
        }
        holds "and the command runs in it" until_true is_asleep
        kill -KILL $recorder
        wait $recorder 2>/dev/null || true
        holds "a recorder that is killed leaves no folder either" until_true no_folder
        kill "$sleeping"
        gone=$(sh -c 'echo $$')
        mkdir "$mount$(sed -n 's/^0:://p' /proc/self/cgroup)/hyprof-$gone"
        holds "one that another recorder left is removed by the next" record sweeps -- true
        holds "it is gone" [ ! -e "$mount$(sed -n 's/^0:://p' /proc/self/cgroup)/hyprof-$gone" ]
        # shellcheck disable=SC2016 # for the recorded shell
        holds "no controller is enabled for the command" record plain -- sh -c 'cat "$0$(sed -n "s/^0:://p" /proc/self/cgroup)/cgroup.controllers"' "$mount"
        holds "beyond those of the cgroup above" same "$(cat "$mount$(sed -n 's/^0:://p' /proc/self/cgroup)/cgroup.subtree_control" 2>/dev/null)" "$(cat "$TMPDIR/plain.out")"
        # shellcheck disable=SC2016 # for the recorded shell
        holds "the command's cgroup" record pressure -- sh -c 'cat "$0$(sed -n "s/^0:://p" /proc/self/cgroup)/cgroup.pressure"' "$mount"
        if grep -qx '[01]' "$TMPDIR/pressure.out"; then
                holds "has no pressure of its own counted" same 0 "$(cat "$TMPDIR/pressure.out")"
        else
                skips "has no pressure of its own counted" "hardware: this kernel cannot leave it out"
        fi
        holds "hyprof recorded by hyprof" record outer -- "$HYPROF" record -q -o "$TMPDIR/inner.hyp" -- "$WORKLOADS/w_two_zones" 0.2 1
        read_trace outer
        holds "it has the samples of both" compare "$(n_events outer "$busy")" ">" 0
        holds "and so has the inner one" is_whole inner
        holds "nothing is left in the mount" same "" "$(comm -13 <(echo "$before") <(left_behind) | grep -E "hyprof-($recorder|$gone)\$")"
else
        skips_group "cgroups" "$(scope_error cgroup)"
fi
holds "--cgroup: no such cgroup" ends_with 125 "$HYPROF" record -o "$TMPDIR/none.hyp" --cgroup no/such/cgroup
holds "--cgroup: it says so, once" same 1 "$(grep -c '^hyprof: error: --cgroup: ' "$TMPDIR/err")"
holds "--scope=cgroup of a process" ends_with 2 "$HYPROF" record -o "$TMPDIR/none.hyp" --scope=cgroup -p $$

# ---- without rights
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ]; then
        folder=$(mktemp -d /tmp/hyprof-scopes.XXXXXX)
        trap 'rm -rf "$folder"; cleanup' EXIT
        cp "$HYPROF" "$folder/"
        chown -R 65534:65534 "$folder"
        as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"; }
        for wanted in "-a -d 100ms" "--scope=cpus -- true" "--scope=cgroup -- true"; do
                # shellcheck disable=SC2086 # words
                holds "without rights: $wanted" ends_with 125 as_user "$folder/hyprof" record -o "$folder/t.hyp" $wanted
                holds "without rights: $wanted: it says what is missing, and what to do" same 2 \
                        "$(grep -cE '^hyprof: error: not permitted to record |^  try: sudo hyprof record' "$TMPDIR/err")"
        done
        holds "without rights: a command, by its threads" ends_with 0 as_user "$folder/hyprof" record -o "$folder/t.hyp" -- true
        cp "$folder/t.hyp" "$TMPDIR/user.hyp"
        read_trace user
        holds "without rights: the report says that children may be missed, and why" grep -q 'not permitted\|permission\|Permission' \
                <<<"$(reported user '.missing.rows[] | select(.code == "SHORT_CHILDREN") | .detail')"
        with_perfmon() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,+perfmon --ambient-caps=-all,+perfmon "$@"; }
        if has cpus && with_perfmon true 2>/dev/null; then
                holds "with CAP_PERFMON alone: recorded" ends_with 0 with_perfmon "$folder/hyprof" record -o "$folder/t.hyp" -- true
                cp "$folder/t.hyp" "$TMPDIR/perfmon.hyp"
                read_trace perfmon
                holds "with CAP_PERFMON alone: by CPUs" same cpus "$(reported perfmon .scope)"
        else
                skips_group "with CAP_PERFMON alone" "no such capability here"
        fi
else
        skips_group "without rights" "this test does not run as root, or kernel.perf_event_paranoid allows all"
fi
