#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof report --locks, --memory, --frames, --plots, --messages, --devices show what the programs said, in each format
set -eu
. tests/tap.sh
plan 78
need jq
need_sampling

schema_version() { # view
        case $1 in memory) echo 2 ;; *) echo 1 ;; esac
}

# jq's output for a view; the words of all warnings are in .warnings.
viewed() { # name of the trace, view, expression of jq, further options...
        "$HYPROF" report "--$2" --json --limit 0 "${@:4}" "$TMPDIR/$1.hyp" | jq -r "$3"
}

# Each of the commands that a view ends with.
hints_run() { # view
        local n=0 hint
        while read -r hint; do
                n=$((n + 1))
                PATH=$(dirname "$HYPROF"):$PATH sh -c "$hint" >"$TMPDIR/hint" 2>&1 ||
                        { echo "fails: $hint" && cat "$TMPDIR/hint" && return 1; }
        done < <(viewed every "$1" '.hints[]')
        compare $n '>=' 1
}

for view in locks memory frames plots messages devices; do
        [ $view = locks ] && holds "w_every_event is recorded" record every --embed=none "$WORKLOADS/w_every_event"
        holds "--$view has a schema" same "hyprof.$view/$(schema_version "$view")" "$(viewed every $view .schema)"
        for format in text md csv; do
                holds "--$view as $format" test -n "$("$HYPROF" report --$view --format $format "$TMPDIR/every.hyp")"
        done
        holds "--$view: what comes next can be pasted" hints_run $view
done

holds "w_locks is recorded" record locks "$WORKLOADS/w_locks" 50
holds "a lock that is free is never waited for" same "50 0 0" \
        "$(viewed locks locks '.locks.rows[] | select(.lock == "free") | "\(.n_obtains) \(.n_waits) \(.n_contended)"')"
holds "waiting without a reason is not contention" same "50 50 0" \
        "$(viewed locks locks '.locks.rows[] | select(.lock == "blind") | "\(.n_obtains) \(.n_waits) \(.n_contended)"')"
holds "the lock that was waited for comes first, under its new name" same "the queue 2 1 1" \
        "$(viewed locks locks '.locks.rows[0] | "\(.lock) \(.n_obtains) \(.n_waits) \(.n_contended)"')"
holds "who held it meanwhile" same "the queue|locks helper" \
        "$(viewed locks locks '.holders.rows[] | "\(.lock)|\(.thread_name)"')"
holds "who waited, and in which zone" same "locks main|take" \
        "$(viewed locks locks '.waits.rows[] | select(.lock == "the queue") | "\(.thread_name)|\(.zones)"')"
holds "who waited was blocked by who held it" same "true" \
        "$(viewed locks locks '.locks.rows[0] | .blocked_ns > 0 and .blocked_ns <= .wait_ns and .wait_ns <= .wait_max_ns')"
holds "readers share a lock" same "2 52 0" \
        "$(viewed locks locks '.locks.rows[] | select(.lock == "shared") | "\(.n_shared) \(.n_obtains) \(.n_contended)"')"
holds "each lock of a function is one" same "50" \
        "$(viewed locks locks '[.locks.rows[] | select(.lock == "local")] | length')"
holds "nothing is left open" same "0 0 0" "$(viewed locks locks '"\(.n_open_waits) \(.n_open_holds) \(.warnings | length)"')"
holds "a filter leaves the other thread out" same "0" \
        "$(viewed locks locks '[.waits.rows[] | select(.thread_name == "locks main")] | length' --thread "locks helper")"

holds "memory: what was allocated and freed" same "[main] 0 64 1 1 0
pool 0 128 1 1 1" "$(viewed every memory '.pools.rows[] | "\(.pool) \(.live_bytes) \(.peak_bytes) \(.n_allocations) \(.n_frees) \(.n_discards)"')"
holds "memory: nothing leaks" same "0" "$(viewed every memory '.leaks.rows | length')"
holds "frames: with gaps" same "video 1 0" \
        "$(viewed every frames '.frames.rows[] | select(.kind == "with gaps") | "\(.name) \(.count) \(.n_unmatched)"')"
holds "frames: one mark is no frame yet" same "[main] 0
audio 0" "$(viewed every frames '.frames.rows[] | select(.kind == "marks") | "\(.name) \(.count)"')"
holds "plots: values and unit" same "depth -7 B
load 0.25 null" "$(viewed every plots '.plots.rows[] | "\(.name) \(.max * 1) \(.unit)"')"
holds "messages, in order" same "hello
a warning" "$(viewed every messages '.messages.rows[0:2][].text')"
holds "--severity leaves out what matters less" same "a warning" \
        "$(viewed every messages '.messages.rows[].text' --severity warning)"
holds "the newest of them" same "1 2" "$(viewed every messages '.messages | "\(.rows | length) \(.left_out)"' --limit 1)"
holds "devices: three spans of one zone" same "kernel 3 400 200" \
        "$(viewed every devices '.zones.rows[] | "\(.name) \(.count) \(.total_ns) \(.max_ns)"')"

if [ -x "$WORKLOADS/w_iree" ]; then
        holds "w_iree is recorded" record iree "$WORKLOADS/w_iree"
        holds "its device: zones in each other" same "device 1 3000
kernel 1 1000" "$(viewed iree devices '.zones.rows[] | "\(.name) \(.count) \(.total_ns)"')"
        holds "busy while any of them ran" same "3000" "$(viewed iree devices '.devices.rows[0].busy_ns')"
        holds "one of them never happened" same "1" \
                "$(viewed iree devices '[.warnings[] | select(contains("were never executed"))] | length')"
        holds "hyprof csv -g has the columns of tracy-csvexport, and then its own" same "name,src_file,Time from start of program,GPU execution time,device,lane,key,key_kind,text" \
                "$("$HYPROF" csv -g "$TMPDIR/iree.hyp" | head -n 1)"
        holds "and a line for each zone" same "device 3000
kernel 1000" "$("$HYPROF" csv -g "$TMPDIR/iree.hyp" | awk -F , 'NR > 1 { print $1, $4 }' | sort)"
fi
for program in w_tracy_c w_tracy_cpp; do
        [ -x "$WORKLOADS/$program" ] || continue
        holds "$program is recorded" record tracy "$WORKLOADS/$program"
        for view in locks memory frames plots messages devices; do
                holds "$program: --$view" same "hyprof.$view/$(schema_version "$view")" "$(viewed tracy $view .schema)"
        done
done

holds "--off-cpu as a table" same "id,total_ns,share" \
        "$("$HYPROF" report --off-cpu --csv "$TMPDIR/every.hyp" | head -n 1 | cut -d , -f 1-3)"
holds "--cpus as a table" same "cpu,busy_ns,busy_share" \
        "$("$HYPROF" report --cpus --csv "$TMPDIR/every.hyp" | head -n 1 | cut -d , -f 1-3)"
holds "--cpus in Markdown" grep -q '^| CPU' <<<"$("$HYPROF" report --cpus --format md "$TMPDIR/every.hyp")"

holds "two views are refused" ends_with 2 "$HYPROF" report --locks --memory "$TMPDIR/every.hyp"
holds "also of both kinds" ends_with 2 "$HYPROF" report --locks --zones "$TMPDIR/every.hyp"
holds "an unknown severity is refused" ends_with 2 "$HYPROF" report --severity loud "$TMPDIR/every.hyp"
holds "a trace that is not there" ends_with 1 "$HYPROF" report --locks "$TMPDIR/nosuch.hyp"
