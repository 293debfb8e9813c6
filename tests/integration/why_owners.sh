#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof why` names who had the CPU while slow instances were ready to run: an own thread, another program, a stop, a quota
set -eu
. tests/tap.sh
plan 10
need jq
need_sampling

extra_ms=20
others=0 # % of the CPUs that other programs took in the last run

record_hog() { record owners "$WORKLOADS/w_preempted" hog 1000 "$extra_ms"; }
record_program() { record owners "$WORKLOADS/w_preempted" program 1000 "$extra_ms"; }
record_stop() { record owners "$WORKLOADS/w_preempted" stop 1000 "$extra_ms"; }

# A control group with 8 ms of each 50 ms, of either version, for `group`; fails where none can be made.
make_group() {
        local mount
        mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
        if [ -n "$mount" ]; then
                group=$mount/hyprof_test_$$
                mkdir "$group" && echo 50000 >"$group/cpu.cfs_period_us" && echo 8000 >"$group/cpu.cfs_quota_us"
                return
        fi
        mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
        [ -n "$mount" ] && echo +cpu >"$mount/cgroup.subtree_control" || return 1
        group=$mount/hyprof_test_$$
        mkdir "$group" && echo "8000 50000" >"$group/cpu.max"
}

# As in a container: hyprof and its command are in the group.
record_quota() {
        # shellcheck disable=SC2016 # the inner shell expands them
        sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$HYPROF" record -q -F 2000 -o "$TMPDIR/owners.hyp" -- \
                "$WORKLOADS/w_why" none 600
}

# Where other programs took more than a tenth of the CPUs in every run, they may be why instances were slow, which the answer
# then says.  This owner has the most of those that are known all the same, and in slow instances alone.
leads_the_known() { # owner
        jq -e --arg owner "$1" '(.answer | contains("others had the CPU")) and
                ([.owners.rows[] | select(.owner != "others")][0] | .owner == $owner and .slow_ns > 10 * .typical_ns)' \
                "$TMPDIR/owners.json" >/dev/null
}

# After "ranked without that time" come the instances that are slow by their own time, which no one planted.  But the host of a
# virtual machine may take a CPU from some: then "the same code took longer" is right, if they take twice the median, which is
# when the answer goes on, and far less more than was planted, none of which is their own time.
blames_rightly() {
        jq -e --argjson ms "$extra_ms" '(.answer | contains("the same code") | not) or
                (.extra_ns >= .median_ns and .extra_ns < 0.25e6 * $ms)' "$TMPDIR/owners.json" >/dev/null
}

# For `holds`: the answer begins with this owner in these words, and blames the program's code for nothing that was planted.  "No
# cause in the program" comes first where enough samples show that.  A wrong answer counts only if other programs took at most a
# tenth of the CPUs meanwhile.
names() { # workload's cause, owner, words
        local try
        others=0
        for try in 1 2 3; do
                watch_others
                "record_$1" || return 1
                others=$(others_share)
                "$HYPROF" why --json --limit 0 --zone request --slowest 2% "$TMPDIR/owners.hyp" >"$TMPDIR/owners.json" || return 1
                jq -r '"\(.cause) \(.confidence)\n\(.answer)"' "$TMPDIR/owners.json" >"$TMPDIR/answer"
                grep -qx "$2 high" "$TMPDIR/answer" && grep -qE "^(no cause in the program: )?$3" "$TMPDIR/answer" &&
                        blames_rightly && return 0
                echo "run $try: other programs took $others% of the CPUs: $(sed -n 2p "$TMPDIR/answer")"
                [ "$others" -gt 10 ] || return 1
        done
        leads_the_known "$2"
}

# For `holds`: so often the report says that there was a quota.
has_notices() { # name, number
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" | jq -e --argjson n "$2" \
                '[.missing.rows[]? | select(.code == "CPU_QUOTA")] | length == $n'
}

# For `holds`: the table has it with most of the time, near what was planted, and parts that add up to 1.
table_has() { # owner
        jq -e --arg owner "$1" --argjson ms "$extra_ms" '.owners.rows as $rows | ($rows | map(.share) | add) > 0.999 and
                $rows[0].owner == $owner and $rows[0].slow_ns > 0.5e6 * $ms and $rows[0].typical_ns < 0.1e6 * $ms' \
                "$TMPDIR/owners.json" >/dev/null || { [ "$others" -gt 10 ] && leads_the_known "$1"; } || { jq -c '.owners.rows[]' "$TMPDIR/owners.json" && return 1; }
}

holds "an own thread: named" names hog own-thread "thread t[0-9]* 'hog' had the CPU for [0-9]*% of the extra time"
holds "an own thread: in the table" table_has own-thread
holds "another program: named" names program program "the program 'rival' [(]pid [0-9]*[)] had the CPU"
holds "another program: in the table" table_has program
holds "a stop: named" names stop stopped "it was stopped [(]SIGSTOP or a debugger[)] for"
holds "a stop: in the table" table_has stopped

if make_group 2>"$TMPDIR/group"; then
        holds "a CPU quota: named" names quota cpu-quota "it was throttled by the CPU quota for"
        holds "a CPU quota: in the table" table_has cpu-quota
        holds "a CPU quota: a notice says how often" has_notices owners 1
else
        skips_group "a CPU quota" "no control group of CPUs: $(tail -n 1 "$TMPDIR/group")"
fi
record plain "$WORKLOADS/w_why" none 100
holds "without a quota: no notice" has_notices plain 0
[ -z "${group:-}" ] || rmdir "$group" || true
