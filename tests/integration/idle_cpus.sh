#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --idle: CPUs were idle for as long as the kernel says, each time between two recorded threads; without BPF one line
set -eu
. tests/tap.sh
plan 11
need jq
need_sampling

cpus='grep ^cpu[0-9] /proc/stat'
# Milliseconds that all CPUs together were idle between the first and the second of two lists of /proc/stat.
idle_between() {
        awk -v tick_ms="$((1000 / $(getconf CLK_TCK)))" '!($1 in first) { first[$1] = $5 + $6; next } { sum += $5 + $6 - first[$1] }
                END { print sum * tick_ms }'
}
# A value of META.
fact() { # name, key
        awk -v key="$2" '$1 == "string" { id = substr($2, 4); text = $0; sub(/^[^"]*"/, "", text); sub(/"$/, "", text); words[id] = text }
                $1 == "meta" && words[substr($3, 5)] == key { print words[substr($4, 7)] }' "$TMPDIR/$1.dump"
}
# The same by the trace.
idle_in() { # name
        awk -v after="$(fact "$1" cpu_idle)" '$1 == "switch_in" && match($0, / idle_ns=[0-9]+/) { sum += substr($0, RSTART + 9, RLENGTH - 9) }
                END { n = split(after, cpus, ";"); for (i = 1; i < n; i++) sum += substr(cpus[i], index(cpus[i], "=") + 1); print sum / 1e6 }' \
                "$TMPDIR/$1.dump"
}
# The share of switches to a recorded thread whose CPU was idle for longer than no recorded thread had it; on a slow
# machine a few switches are estimates.
share_too_long() { # name
        awk '
                $1 != "switch_in" && $1 != "switch_out" { next }
                { for (i = 2; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] } print v["time_ns"], $1 == "switch_in", v["cpu"], v["idle_ns"] + 0 }' \
                "$TMPDIR/$1.dump" | sort -n -k 1,1 -k 2,2 |
                awk -v start_ns="$(fact "$1" start_raw_ns)" '
                        !$2 { out_ns[$3] = $1; next }
                        { gap_ns = $1 - ($3 in out_ns ? out_ns[$3] : start_ns) }
                        $4 > (gap_ns > 0 ? gap_ns : 0) + 5000 { n++ }
                        END { print n / (NR + 1) }'
}
n_with_idle() { # name
        grep -c '^switch_in .* idle_ns=[1-9]' "$TMPDIR/$1.dump" || true
}

# Few samples are enough.
$cpus >"$TMPDIR/around"
holds "record" ends_with 0 record idle -F 99 --off-cpu --idle sh -c "$cpus; \"\$0\" sleep 300; sleep 1; $cpus" "$WORKLOADS/w_wakers"
$cpus >>"$TMPDIR/around"
"$HYPROF" report --json --limit 0 "$TMPDIR/idle.hyp" >"$TMPDIR/idle.json"
reason=$(reported idle '.missing.rows[] | select(.code == "WAITING_BY_PERF") | .detail')
if [ -n "$reason" ]; then
        skips_group "idle times by BPF" "$reason"
        exit
fi
"$HYPROF" dump "$TMPDIR/idle.hyp" >"$TMPDIR/idle.dump"
found=$(idle_in idle)
inside=$(grep '^cpu' "$TMPDIR/idle.out" | idle_between)
around=$(idle_between <"$TMPDIR/around")
figure "idle: $found ms; by /proc/stat $inside ms inside, $around ms around"
holds "the trace says that it has idle times" same 1 "$(fact idle idle)"
# /proc/stat counts ticks of 10 ms, and pauses of up to 20 us as well.
holds "at least what /proc/stat says of the time inside" compare "$found" ">=" "0.9 * $inside - 30 * $(nproc)"
holds "at most what it says of the time around" compare "$found" "<=" "1.1 * $around + 30 * $(nproc)"
holds "and never longer than the CPU had no recorded thread" compare "$(share_too_long idle)" "<" 0.02

holds "record the whole machine" record all -F 99 -a --off-cpu --idle -d 1s
"$HYPROF" dump "$TMPDIR/all.hyp" >"$TMPDIR/all.dump"
holds "all: never longer either" compare "$(share_too_long all)" "<" 0.02

holds "record without" record plain -F 99 --off-cpu "$WORKLOADS/w_wakers" sleep 10
"$HYPROF" dump "$TMPDIR/plain.hyp" >"$TMPDIR/plain.dump"
holds "without --idle the trace has none" same "0  " "$(n_with_idle plain) $(fact plain idle) $(fact plain cpu_idle)"

if unshare -pf --mount-proc true 2>/dev/null; then
        holds "no BPF: the rest is recorded" ends_with 0 unshare -pf --mount-proc "$HYPROF" record --off-cpu --idle -o "$TMPDIR/no.hyp" true
        holds "no BPF: one line says it" same 1 "$(grep -c '^hyprof: note: no idle times of CPUs (--idle): BPF: .*namespace' "$TMPDIR/err")"
else
        skips "no BPF: the rest is recorded" "a PID namespace cannot be made"
        skips "no BPF: one line says it" "a PID namespace cannot be made"
fi
