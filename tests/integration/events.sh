#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# -e, -c, -F and --stat: what is asked for is recorded, groups add up to their totals, and what is not there is said once
set -eu
. tests/tap.sh
plan 69
need awk
need_sampling

faults=$WORKLOADS/w_faults
n_faults=10240 # of the workload itself; to start a program takes some hundreds more
# The command's process has faults before its execve(2), more of them when it is a copy of a recorder with a sanitizer.
n_before=3
[ "${VARIANT:-}" != asan ] || n_before=20000

record_dump() { # name, options and command...
        record "$@" || { cat "$TMPDIR/$1.err" && return 1; }
        "$HYPROF" dump "$TMPDIR/$1.hyp" >"$TMPDIR/$1.dump"
}

# The number of an event in SAMPLE_EVENTS.
event_named() { # name, event
        awk -v text="text=\"$2\"" '
                $1 == "string" && $3 == text { split($2, id, "="); string = id[2] }
                $1 == "sample_event" && $3 == "name=" string { split($2, id, "="); print id[2] }' "$TMPDIR/$1.dump"
}

# A field of an event's row.
of_event() { # name, event, field
        awk -v id="id=$(event_named "$1" "$2")" -v field="$3=" '
                $1 == "sample_event" && $2 == id {
                        for (i = 3; i <= NF; i++) if (index($i, field) == 1) print substr($i, length(field) + 1) }' \
                "$TMPDIR/$1.dump"
}

total() { # name, event
        awk -v event="event=$(event_named "$1" "$2")" '
                $1 == "counter" && $3 == event { sub("value=", "", $4); print $4 }' "$TMPDIR/$1.dump"
}

samples() { # name, event -> how many, and their weights in all
        awk -v event="event=$(event_named "$1" "$2")" '
                $1 == "sample" && $4 == event { sub("weight=", "", $8); n++; sum += $8 } END { print n + 0, sum + 0 }' \
                "$TMPDIR/$1.dump"
}
n_samples() { samples "$@" | cut -d ' ' -f 1; }
weight() { samples "$@" | cut -d ' ' -f 2; }

notices() { # name, number
        grep -c "^notice .* notice=$2 " "$TMPDIR/$1.dump" || true
}

# Every sample of a member stands after one of its leader, of the same time and place.
members_follow() { # name, leader, member
        awk -v leader="event=$(event_named "$1" "$2")" -v member="event=$(event_named "$1" "$3")" '
                $1 != "sample" { next }
                $4 == leader { place = $2 " " $3 " " $5 " " $6 " " $7 }
                $4 == member && place != $2 " " $3 " " $5 " " $6 " " $7 { print "after " place ": " $0; bad = 1 }
                $4 == member { n++ }
                END { exit bad || !n }' "$TMPDIR/$1.dump"
}

# ---- groups
if record_dump group -e '{task-clock,page-faults,context-switches}:S' -- "$faults"; then
        sum=$(weight group page-faults) whole=$(total group page-faults)
        holds "group: the leader is sampled" compare "$(n_samples group task-clock)" '>' 10
        holds "group: a member is read with it" same 3 "$(of_event group page-faults mode)"
        holds "group: and says with whom" same "$(event_named group task-clock)" "$(of_event group page-faults leader)"
        holds "group: its samples are in the leader's places" members_follow group task-clock page-faults
        holds "group: the total is the truth" compare "$whole - $n_faults" '>=' 0
        holds "group: the total is not much more" compare "$whole" '<' "$n_faults + 2000 + $n_before"
        holds "group: the samples come to no more" compare "$sum" '<=' "$whole"
        holds "group: nor to much less" compare "$sum" '>' "0.9 * $whole"
        holds "group: software shares no counters" same 0 "$(notices group 14)"
        holds "group: the summary counts the leader's samples" \
                grep -q " $(n_samples group task-clock) samples of task-clock at 997 Hz" "$TMPDIR/group.err"
        figure "page faults: $whole in all, $sum with samples"
elif grep -q 'before Linux 6.13' "$TMPDIR/group.err"; then
        skips_group "group: read with samples" "this kernel cannot read groups in events that children inherit"
else
        holds "group: recorded" cat "$TMPDIR/group.err" false
fi
holds "two groups and single events in one recording" \
        record_dump two -e '{cpu-clock,minor-faults}:S,{task-clock,page-faults:u}:S,page-faults' -- "$faults"
holds "minor faults are all of them" compare "$(total two minor-faults)" '>=' $n_faults
holds "a group without :S samples each" record_dump each -e '{minor-faults,page-faults}' -c 1000 -- "$faults"
holds "its members have samples of their own" same 2 "$(of_event each page-faults mode)"
holds "one in 1000" compare "$(n_samples each page-faults)" '>=' 10

# ---- rates
holds "-c: every one" record_dump count -c 1 -e page-faults -- "$faults"
holds "each is a sample" compare "$(($(total count page-faults) - $(n_samples count page-faults)))" '<=' $n_before
holds "and none is one twice" compare "$(n_samples count page-faults)" '<=' "$(total count page-faults)"
holds "the summary says so" grep -q 'samples of page-faults, one every 1,' "$TMPDIR/count.err"
holds "-F: a clock out of step with round timers" record_dump rate -F 1000 -e cpu-clock -- "$faults"
holds "its samples stand for what was" same 1002685 \
        "$(awk '$1 == "sample" { sub("weight=", "", $8); print $8 }' "$TMPDIR/rate.dump" | sort -u)"

# ---- totals
holds "--stat" record_dump stat --stat -e task-clock -- "$faults"
for event in context-switches cpu-migrations page-faults; do
        holds "--stat: $event only counts" same 4 "$(of_event stat "$event" mode)"
        holds "--stat: $event has no samples" same 0 "$(n_samples stat "$event")"
        holds "--stat: $event has a total" compare "$(total stat "$event")" '>=' 0
done
"$HYPROF" report "$TMPDIR/stat.hyp" >"$TMPDIR/stat.txt"
holds "--stat: a clock's total has a unit" grep -qE '^ *task-clock +[0-9.]+ [mu]?s ' "$TMPDIR/stat.txt"
holds "--stat: page faults" compare "$(total stat page-faults)" '>=' $n_faults
holds "what is sampled has its total, too" compare "$(total stat task-clock)" '>=' "$(weight stat task-clock)"
# shellcheck disable=SC2016
holds "--stat: children count, also after their end" record_dump children --stat -- \
        sh -c 'for i in 1 2 3; do "$0" & done; wait' "$faults"
holds "--stat: all of them" compare "$(total children page-faults)" '>=' "3 * $n_faults"

# ---- tracepoints
# shellcheck disable=SC2016 # for the shell inside
in_namespace=(unshare -m sh -c '[ -e /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing && exec "$@"' sh)
if [ "$(id -u)" -eq 0 ] && "${in_namespace[@]}" true 2>/dev/null; then
        holds "a tracepoint, and one in a group" "${in_namespace[@]}" "$HYPROF" record -q -o "$TMPDIR/trace.hyp" \
                -e 'sched:sched_process_fork,{task-clock,sched:sched_process_exit}:S' -- \
                sh -c 'for i in 1 2 3 4 5; do /bin/true; done'
        "${in_namespace[@]}" "$HYPROF" record -o "$TMPDIR/each.hyp" -e sched:sched_process_fork -- \
                sh -c '/bin/true; /bin/true' 2>"$TMPDIR/each.err"
        holds "each one has no rate" grep -q " 2 samples of each sched:sched_process_fork, " "$TMPDIR/each.err"
        "$HYPROF" dump "$TMPDIR/trace.hyp" >"$TMPDIR/trace.dump"
        holds "each fork is a sample" same 5 "$(n_samples trace sched:sched_process_fork)"
        holds "and in the total" same 5 "$(total trace sched:sched_process_fork)"
        holds "exits are counted with the leader" same 3 "$(of_event trace sched:sched_process_exit mode)"
        holds "an unknown one: what was meant" ends_with 2 "${in_namespace[@]}" \
                "$HYPROF" record -o "$TMPDIR/no.hyp" -e sched:sched_swich true
        holds "by name" grep -q "did you mean 'sched:sched_switch'" "$TMPDIR/err"
else
        skips_group "tracepoints" "no right to mount tracefs in a namespace"
fi
# Where some are mounted, in a namespace without them.
# shellcheck disable=SC2016 # for the shell inside
without=(unshare -m sh -c 'for folder in /sys/kernel/tracing /sys/kernel/debug; do
        while [ -d "$folder/events" ] || [ -d "$folder/tracing" ]; do umount -R "$folder" || exit 1; done
done; exec "$@"' sh)
[ -d /sys/kernel/tracing/events ] || [ -d /sys/kernel/debug/tracing ] || without=()
if [ ${#without[@]} -eq 0 ] || "${without[@]}" true 2>/dev/null; then
        holds "no tracefs: refused" ends_with 2 "${without[@]}" \
                "$HYPROF" record -o "$TMPDIR/no.hyp" -e sched:sched_switch true
        holds "no tracefs: one line with the remedy" same 1 \
                "$(grep -c 'sudo mount -t tracefs none /sys/kernel/tracing' "$TMPDIR/err")"
else
        skips_group "no tracefs: one line with the remedy" "no right to unmount it in a namespace"
fi

# ---- what is not there
refused() { # event, words
        ends_with 2 "$HYPROF" record -o "$TMPDIR/no.hyp" -e "$1" true && grep -q -- "$2" "$TMPDIR/err" &&
                same 1 "$(grep -c '^hyprof: error' "$TMPDIR/err")"
}
holds "a slip of the pen" refused cycels "did you mean 'cycles'"
holds "hyprof list is named" grep -q '^  try: hyprof list$' "$TMPDIR/err"
holds "a cache that is not written" refused L1-icache-stores 'unknown event'
holds "a PMU of another machine" refused no_such_pmu/event=1/ 'no PMU named'
holds "braces" refused '{cycles' 'braces'
holds "S outside of a group" refused cycles:S 'groups'
holds "no trace was left" test ! -e "$TMPDIR/no.hyp"
if [ -d /sys/bus/event_source/devices/msr/events ] && [ "$(id -u)" -eq 0 ]; then
        holds "what only counts is refused as a sample" ends_with 125 "$HYPROF" record -o "$TMPDIR/m.hyp" -e msr/tsc/ true
        holds "with the way that works" grep -q '{cpu-clock,msr/tsc/}:S' "$TMPDIR/err"
        holds "which does" record_dump msr -e '{cpu-clock,msr/tsc/}:S' -- "$faults"
        holds "and counts" compare "$(total msr msr/tsc/)" '>' 1000000
else
        skips_group "what only counts" "hardware: no msr PMU, or not root"
fi

# ---- hyprof list
holds "list" ends_with 0 "$HYPROF" list
holds "list: software events" grep -qE '^  software +task-clock ' "$TMPDIR/out"
holds "list: tracepoints, or why there are none" grep -qE '^  (- no tracepoints: |tracepoint )' "$TMPDIR/out"
holds "list: fits the width" awk 'length > 120 { print; bad = 1 } END { exit bad }' "$TMPDIR/out"
holds "list WORD" ends_with 0 "$HYPROF" list FAULTS
holds "list WORD: matches only, in any case" same "alignment emulation major minor page" \
        "$(sed -nE 's/^  software +([a-z]+)-faults .*/\1/p' "$TMPDIR/out" | sort | tr '\n' ' ' | sed 's/ $//')"
# shellcheck disable=SC2016 # for the shell inside
holds "list WORD: aliases" sh -c '"$1" list migrations | grep -q "cpu-migrations  *migrations"' sh "$HYPROF"
holds "list WORD: nothing" ends_with 1 "$HYPROF" list no-such-word
holds "list: two words" ends_with 2 "$HYPROF" list a b
holds "list: --help" ends_with 0 "$HYPROF" list --help
if command -v jq >/dev/null; then
        "$HYPROF" list --json >"$TMPDIR/list.json"
        holds "list --json: an event" same true \
                "$(jq '.events.rows[] | select(.name == "task-clock" and .kind == "software") | .is_available' "$TMPDIR/list.json")"
        holds "list --json: sorted" same true \
                "$(jq '[.events.rows[] | select(.kind == "cache") | .name] | . == sort' "$TMPDIR/list.json")"
        "$HYPROF" list --json >"$TMPDIR/all.json"
        holds "list: no event of the processor's manual can be recorded where no hardware event can" same true "$(jq '
                [.events.rows[] | select(.kind == "hardware" and .is_available)] as $hardware |
                [.events.rows[] | select(.kind == "processor" and .is_available)] as $manual |
                ($hardware | length) > 0 or ($manual | length) == 0' "$TMPDIR/all.json")"
else
        skips_group "list --json" "jq is not installed"
fi
