#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Threads, children, grandchildren and execve: each zone is counted once, under its process and thread
set -eu
. tests/tap.sh
plan 37
need jq
need_sampling

zones() { # trace, name of the zone: how many were begun and ended
        echo "$(n_events "$1" "kind == \"zone_begin\" && zone == \"$2\"")" \
                "$(n_events "$1" "kind == \"zone_end\" && zone == \"$2\"")"
}

# A zone that never ended has no duration; it counts as unclosed, and is not among those that ended.
shows_unclosed() { # trace, name of the zone
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" |
                jq -e --arg zone "$2" '[.zones.rows[] | select(.name == $zone) | .count, .n_unclosed] == [0, 1]' || return 1
        "$HYPROF" report --json --limit 0 --zone "$2" "$TMPDIR/$1.hyp" |
                jq -e '.count == 0 and .n_unclosed == 1 and (.slowest.rows | length) == 0' || return 1
        "$HYPROF" report --json --limit 0 --zones "$TMPDIR/$1.hyp" |
                jq -e --arg zone "$2" '[.zones.rows[] | select(.name == $zone) | .count, .n_unclosed] == [0, 1]' || return 1
        "$HYPROF" report "$TMPDIR/$1.hyp" | grep -F "1 zone never ended" || return 1
        "$HYPROF" csv -u "$TMPDIR/$1.hyp" | (! grep -F "$2") || return 1
        "$HYPROF" export chrome -o "$TMPDIR/$1.trace.json" "$TMPDIR/$1.hyp" || return 1
        jq -e --arg zone "$2" '[.traceEvents[] | select(.name == $zone)] | length == 1 and .[0].args.unclosed == 1' "$TMPDIR/$1.trace.json"
}

holds "w_fork is recorded" record fork "$WORKLOADS/w_fork" 4 10000
read_trace fork
holds "w_fork: all zones of the children" same "40000 40000" "$(zones fork child)"
holds "w_fork: all zones of the parent" same "20000 20000" "$(zones fork parent)"
holds "w_fork: one zone around the forks" same "1 1" "$(zones fork forking)"
holds "w_fork: the zones \"child\" are in four processes" same 4 "$(n_different fork 'zone == "child"' pid)"
holds "w_fork: the zones \"parent\" are in one" same 1 "$(n_different fork 'zone == "parent"' pid)"
holds "w_fork: which is a process of its own" same 5 "$(n_different fork 'zone == "parent" || zone == "child"' pid)"
holds "w_fork: 10,000 zones in each child" awk -F '\t' "$columns"'
        kind == "zone_begin" && zone == "child" { n[pid]++ }
        END { for (pid in n) { print pid, n[pid]; bad += n[pid] != 10000 } exit bad }' "$TMPDIR/fork.events"
busy='kind == "sample" && self == "child_busy"'
holds "w_fork: samples of child_busy() in each child" same 4 "$(n_different fork "$busy" pid)"
holds "w_fork: in its zone, which is outside of the parent's" same \
        "$(n_events fork "$busy")" "$(n_events fork "$busy && path == \"/child\"")"
holds "w_fork: nothing is lost" same "" "$(lost fork)"

holds "w_threads is recorded" record threads "$WORKLOADS/w_threads" 500
read_trace threads
holds "w_threads: ten zones for each thread" same "5000 5000" "$(zones threads short)"
holds "w_threads: no thread has more or fewer" awk -F '\t' "$columns"'
        kind == "zone_begin" { n[tid, life[tid] + 0]++ }
        kind == "thread_exit" { life[tid]++ }
        END { for (one in n) if (n[one] != 10) { print one, n[one]; bad = 1 } exit bad }' "$TMPDIR/threads.events"
holds "w_threads: all threads are of one process" same 1 "$(n_different threads 'kind == "zone_begin"' pid)"
holds "w_threads: nothing is lost" same "" "$(lost threads)"

holds "w_exec is recorded" record exec "$WORKLOADS/w_exec"
read_trace exec
holds "w_exec: zones before" same "100 100" "$(zones exec before)"
holds "w_exec: zones after" same "100 100" "$(zones exec after)"
holds "w_exec: all in one process" same 1 "$(n_different exec 'kind == "zone_begin"' pid)"
holds "w_exec: the zone that was open then does not end" same "1 0" "$(zones exec "never ended")"
holds "w_exec: and is gone before those of the new program begin" awk -F '\t' "$columns"'
        kind == "zones_gone" { n_gone++ }
        zone == "after" && n_gone != 1 { print "in a zone of the old program"; exit 1 }' "$TMPDIR/exec.events"
holds "w_exec: every view says that it never ended" shows_unclosed exec "never ended"
holds "w_exec: nothing is lost" same "" "$(lost exec)"

# In the background of a subshell, whose end a pipe waits for; and a grandchild that becomes another program.
# shellcheck disable=SC2016 # for the recorded shell
holds "grandchildren are recorded" record deep sh -c '
        ( ( "$0/w_split" 0.3 & wait ) | cat; true )
        sh -c "exec \"$0/w_exec\" \"$0/w_depth\" 0.3"; true' "$WORKLOADS"
read_trace deep
holds "w_split: as many zones \"seventy\" as \"thirty\"" same "$(zones deep seventy)" "$(zones deep thirty)"
holds "w_split: there are zones" compare "$(n_events deep 'zone == "seventy"')" ">" 0
holds "w_split: samples of seventy() in its zone, under its name" compare "$(n_events deep \
        'kind == "sample" && self == "seventy" && path == "/seventy" && thread == "w_split"')" ">" 100
holds "w_exec: its zones came first" same "100 100" "$(zones deep before)"
holds "w_depth, which it became: samples in its zone, under its name" compare "$(n_events deep \
        'kind == "sample" && self == "bottom" && path == "/deep" && thread == "w_depth"')" ">" 100
holds "w_depth: the same process" same 1 "$(n_different deep 'zone == "before" || zone == "deep"' pid)"
holds "w_depth: bottom() has 40 callers descend()" awk -F '\t' "$columns"'
        kind == "sample" && self == "bottom" { n_callers = gsub(/;descend/, "", stack); total++; good += n_callers == 40 }
        END { print good, "of", total; exit !(total > 0 && good >= 0.99 * total) }' "$TMPDIR/deep.events"
holds "nothing is lost" same "" "$(lost deep)"
for trace in fork threads exec deep; do
        holds "$trace: the trace is whole" is_whole "$trace"
done
