#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Memory that a program fills while its recorder does not read is bounded, counted and given back; limits and locked memory are
# respected, and many programs share one bound
set -eu
. tests/tap.sh
plan 39
need jq
need_sampling

said() { # run, word
        awk -v word="$2" '$1 == word { print $2 }' "$TMPDIR/$1.out"
}

# Records a workload and reads what became of it.
run() { # name, options and command...
        holds "$1: recorded" record "$1" --no-symbolize --no-sampling "${@:2}"
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" >"$TMPDIR/$1.json"
}

recorded_and_lost() { # run
        reported "$1" '.n_zones + ([.missing.rows[] | select(.code == "DROPPED_ZONES") | .count] | add // 0)'
}

adds_up() { # run
        holds "$1: each zone is recorded or counted as lost" same "$(said "$1" zones)" "$(recorded_and_lost "$1")"
}

# ---- one program, whose recorder is stopped
run alone -- "$WORKLOADS/w_client_memory" alone
adds_up alone
figure "alone: $(said alone peak_kb) kB in use, given back after $(said alone returned_ms) ms"
holds "alone: it went on in memory beyond its ring" compare "$(said alone peak_kb)" ">" 8192
holds "alone: which was given back" compare "$(said alone returned_ms)" ">=" 0

# ---- mlockall(): what is not used yet is not filled
run locked -- "$WORKLOADS/w_client_memory" locked
if grep -q '^unlocked' "$TMPDIR/locked.out"; then
        skips_group "locked: memory" "mlockall: not permitted"
else
        adds_up locked
        figure "locked: $(said locked locked_kb) kB after mlockall(), $(said locked peak_kb) kB in use"
        holds "locked: no more memory than is used" compare "$(said locked locked_kb)" "<" 8192
        holds "locked: the rest was given back" compare "$(said locked returned_ms)" ">=" 0
fi

# ---- limits
# shellcheck disable=SC2016 # the inner shell expands them
limited='ulimit "$1" "$2"; exec "$3" alone'
run space -- bash -c "$limited" limited -v 524288 "$WORKLOADS/w_client_memory"
adds_up space
holds "space: zones are recorded under RLIMIT_AS" compare "$(reported space .n_zones)" ">" 1000
# It has room for no more than that, whatever --client-ring says.
holds "space: its limit is named, not a size" grep -qE 'with a higher ulimit -v and -f of it: [0-9]+M would .* leave [0-9]+M$' "$TMPDIR/space.err"
run file -- bash -c "$limited" limited -f 1048576 "$WORKLOADS/w_client_memory"
adds_up file
holds "file: zones are recorded under RLIMIT_FSIZE" compare "$(reported file .n_zones)" ">" 1000
holds "file: within the limit" compare "$(said file peak_kb)" "<" 1048576

# Limits of the program's own, not of hyprof's, that leave no room at all.
no_room() { # name, option of ulimit, its value
        # shellcheck disable=SC2016 # the inner shell expands them
        "$HYPROF" record -o "$TMPDIR/$1.hyp" -- bash -c 'ulimit "$1" "$2"; exec "$3" 1' bash "$2" "$3" "$WORKLOADS/w_two_zones" \
                >/dev/null 2>"$TMPDIR/$1.err" || { cat "$TMPDIR/$1.err"; return 1; }
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" >"$TMPDIR/$1.json"
        same "0 1" "$(reported "$1" .n_zones) $(reported "$1" '.missing.rows[] | select(.code == "CLIENT_NO_SPACE") | .count')" &&
                grep -q ' 1 lost' "$TMPDIR/$1.err"
}
holds "no space: a program without room for zones is counted" no_room no_space -v 100000
holds "no file: so is one that may not have the file" no_room no_file -f 16

# ---- the size that is advised is enough: for messages, which take more than zones, and for a program that shares with others
advises_enough() { # mode
        local advised
        run "$1" --client-ring 4M -- "$WORKLOADS/w_client_memory" "$1"
        advised=$(sed -n 's/^  try: .*--client-ring \([0-9]*M\) .*/\1/p' "$TMPDIR/$1.err")
        holds "$1: there are losses, and a size is advised" test -n "$advised"
        holds "$1: of all events" same "$(reported "$1" '[.missing.rows[] | select(.code | test("^DROPPED_")) | .count] | add')" \
                "$(sed -n 's/^hyprof: warning: \([0-9,]*\) events were lost.*/\1/p' "$TMPDIR/$1.err" | tr -d ,)"
        run "$1" --client-ring "${advised:-4M}" -- "$WORKLOADS/w_client_memory" "$1"
        holds "$1: with $advised nothing is lost" same "" "$(lost "$1")"
}
advises_enough messages
advises_enough crowd

# ---- a limit of the program's own cgroup, in cgroup2 or cgroup v1
if awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { found = 1 } END { exit !found }' /proc/mounts; then
        top=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
        path=$(awk -F: '$2 ~ /(^|,)memory(,|$)/ { print $3 }' /proc/self/cgroup) limit=memory.limit_in_bytes events=memory.oom_control
else
        top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
        path=$(awk -F: '$1 == "0" { print $3 }' /proc/self/cgroup) limit=memory.max events=memory.events
fi
here=$top$path
group=${here%/}/hyprof_client_memory_$$
if [ -n "$top" ] && mkdir "$group" 2>/dev/null; then
        if [ -w "$group/$limit" ]; then
                echo 48M >"$group/$limit"
                # shellcheck disable=SC2016
                run group -- bash -c 'echo $$ >"$1/cgroup.procs"; exec "$2" alone' group "$group" "$WORKLOADS/w_client_memory"
                adds_up group
                holds "group: it was not killed for memory" same 0 "$(awk '$1 == "oom_kill" { print $2 }' "$group/$events")"
                figure "group: $(said group peak_kb) kB in use"
                holds "group: a part of the limit" compare "$(said group peak_kb)" "<" 24576
                holds "group: no larger ring is advised than its limit allows" ends_with 1 grep -q -e --client-ring "$TMPDIR/group.err"
                # On a machine where the program is slower, the recorder keeps up, and nothing is lost.
                [ -n "$(lost group)" ] || figure "group: nothing was lost"
                holds "group: but a limit, for what it lost" same "$([ -z "$(lost group)" ] || echo ' memory limit: 32M would have been enough, of which its cgroup leaves')" \
                        "$(grep -o ' memory limit: 32M would have been enough, of which its cgroup leaves' "$TMPDIR/group.err")"
        else
                skips_group "group: the limit" "hardware: the kernel gives the memory controller to no group of cgroup2"
        fi
        rmdir "$group"
else
        skips_group "group: the limit" "hardware: no group of memory can be made here"
fi

# ---- seven children and their parent, which all fill what they may: twice what one may, and their rings
run children --client-ring 16M -- "$WORKLOADS/w_client_memory" children
adds_up children
figure "children: $(said children peak_kb) kB in use, given back after $(said children returned_ms) ms"
holds "children: there are losses" compare "$(reported children .n_zones)" "<" "$(said children zones)"
holds "children: together they fill 32 MB and their rings" compare "$(said children peak_kb)" "<" "(32 + 8 + 4) * 1024"
holds "children: which were given back" compare "$(said children returned_ms)" ">=" 0
