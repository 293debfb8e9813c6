#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Threads, children, grandchildren and execve: each zone is counted once, under its process and thread
set -eu
. tests/tap.sh
need jq
need_sampling

zones() { # trace, name of the zone: how many were begun and ended
        echo "$(n_events "$1" '$1 == "zone_begin" && $6 == "'"$2"'"') $(n_events "$1" '$1 == "zone_end" && $6 == "'"$2"'"')"
}

n_places() { # trace, condition, column: in how many different processes or threads
        awk -F '\t' "$2 { seen[\$$3] = 1 } END { for (one in seen) n++; print n + 0 }" "$TMPDIR/$1.events"
}

lost() { reported "$1" '[.missing[] | select(.source == "loss") | .words]'; }

# 40,000 zones of children, long enough for samples of each
holds "w_fork is recorded" record fork "$WORKLOADS/w_fork" 4 10000
read_trace fork
holds "w_fork: all zones of the children" same "40000 40000" "$(zones fork child)"
holds "w_fork: all zones of the parent" same "20000 20000" "$(zones fork parent)"
holds "w_fork: one zone around the forks" same "1 1" "$(zones fork forking)"
holds "w_fork: the zones \"child\" are in four processes" same 4 "$(n_places fork '$6 == "child"' 3)"
holds "w_fork: the zones \"parent\" are in one" same 1 "$(n_places fork '$6 == "parent"' 3)"
holds "w_fork: not in one of the children" same 5 "$(n_places fork '$6 == "parent" || $6 == "child"' 3)"
holds "w_fork: 10,000 zones in each child" same "" "$(awk -F '\t' '$1 == "zone_begin" && $6 == "child" { n[$3]++ }
        END { for (pid in n) if (n[pid] != 10000) print pid, n[pid] }' "$TMPDIR/fork.events")"
holds "w_fork: samples of child_busy() in each child" same 4 "$(n_places fork '$1 == "sample" && $7 == "child_busy"' 3)"
holds "w_fork: nearly all of them in the zone \"child\"" compare \
        "$(n_events fork '$1 == "sample" && $7 == "child_busy" && $9 ~ /child$/')" ">=" \
        "0.999 * $(n_events fork '$1 == "sample" && $7 == "child_busy"')"
holds "w_fork: none in a zone that only the parent is in" same 0 \
        "$(n_events fork '$1 == "sample" && $7 == "child_busy" && $9 ~ /parent/')"
holds "w_fork: nothing is lost" same "[]" "$(lost fork)"

holds "w_threads is recorded" record threads "$WORKLOADS/w_threads" 500
read_trace threads
holds "w_threads: ten zones for each thread" same "5000 5000" "$(zones threads short)"
holds "w_threads: no thread has more or fewer" same "" "$(awk -F '\t' '
        $1 == "zone_begin" { n[$4, life[$4] + 0]++ }
        $1 == "thread_exit" { life[$4]++ }
        END { for (one in n) if (n[one] != 10) print one, n[one] }' "$TMPDIR/threads.events")"
holds "w_threads: all threads are of one process" same 1 "$(n_places threads '$1 == "zone_begin"' 3)"
holds "w_threads: nothing is lost" same "[]" "$(lost threads)"

holds "w_exec is recorded" record exec "$WORKLOADS/w_exec"
read_trace exec
holds "w_exec: zones before" same "100 100" "$(zones exec before)"
holds "w_exec: zones after" same "100 100" "$(zones exec after)"
holds "w_exec: all in one process" same 1 "$(n_places exec '$1 == "zone_begin"' 3)"
holds "w_exec: the zone that was open then is known" same 1 "$(n_events exec '$1 == "zone_begin" && $6 == "never ended"')"
holds "w_exec: as one that never ended" same 1 "$(reported exec '.counts.zones_unclosed')"
holds "w_exec: nothing is lost" same "[]" "$(lost exec)"

# A grandchild in the background of a subshell, which a pipe waits for, and one that execve(2) brings.
# shellcheck disable=SC2016 # for the recorded shell
holds "grandchildren are recorded" record deep sh -c '
        ( ( "$0/w_split" 0.3 & wait ) | cat; true )
        sh -c "exec \"$0/w_exec\" \"$0/w_depth\" 0.3"; true' "$WORKLOADS"
read_trace deep
holds "w_split, a grandchild: as many zones \"seventy\" as \"thirty\"" same "$(zones deep seventy)" "$(zones deep thirty)"
holds "w_split: there are zones" compare "$(n_events deep '$6 == "seventy"')" ">" 0
holds "w_split: samples of seventy() in its zone, under its name" compare \
        "$(n_events deep '$1 == "sample" && $7 == "seventy" && $9 == "/seventy" && $5 == "w_split"')" ">" 100
holds "w_exec: its zones came first" same "100 100" "$(zones deep before)"
holds "w_depth, which it became: samples in the zone \"deep\", under its name" compare \
        "$(n_events deep '$1 == "sample" && $7 == "bottom" && $9 ~ /deep$/ && $5 == "w_depth"')" ">" 100
holds "w_depth: the same process as w_exec" same 1 "$(n_places deep '$6 == "before" || $6 == "deep"' 3)"
# The outermost frames of code without frame pointers differ; those of our own do not.
depth='$1 == "sample" && $7 == "bottom" { stack = $11; n = gsub(/;descend/, "", stack); total++; good += n == 40 }'
holds "w_depth: 40 frames descend() below bottom()" awk -F '\t' \
        "$depth"' END { print good + 0, "of", total + 0; exit !(total > 0 && good >= 0.99 * total) }' "$TMPDIR/deep.events"
holds "nothing is lost" same "[]" "$(lost deep)"
for trace in fork threads exec deep; do
        holds "$trace: the trace is whole" is_whole "$trace"
done
