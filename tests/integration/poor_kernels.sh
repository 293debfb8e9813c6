#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kernels without cgroup v2, containers without /sys, and processors whose counters only count, as many RISC-V boards have them: a program is recorded whole, and one line says what is missing
# shellcheck disable=SC2016,SC2329 # the shell within expands it; holds calls the functions
set -eu
. tests/tap.sh
plan 44
need jq unshare setpriv
need_sampling

# All zones that the program says it had; the recorder says one line, and with one more word another one.
whole() { # name, words of the second line ("" = there is none)
        read_trace "$1"
        same "$(awk '$1 == "zones" { print 2 * $2 }' "$TMPDIR/$1.out")" "$(reported "$1" .n_zones)" &&
                same "" "$(lost_events "$1")" && compare "$(reported "$1" .n_samples)" ">" 20 &&
                same "$([ -n "$2" ] && echo 2 || echo 1)" "$(wc -l <"$TMPDIR/$1.err")" && grep -q "^hyprof: wrote .* 0 lost" "$TMPDIR/$1.err" &&
                grep -q -- "$2" "$TMPDIR/$1.err" && return
        cat "$TMPDIR/$1.err"
        return 1
}
# Refused with one line, and at most one that says what to try.
refused() { # words, words to try ("" = none), command...
        ends_with 125 "${@:3}" && same "$([ -n "$2" ] && echo 2 || echo 1)" "$(wc -l <"$TMPDIR/err")" &&
                grep -q -- "^hyprof: error: .*$1" "$TMPDIR/err" && grep -q -- "$2" "$TMPDIR/err" && return
        cat "$TMPDIR/err"
        return 1
}
notice() { # name: why cycles were not sampled
        reported "$1" '.missing.rows[] | select(.code == "NO_HARDWARE_COUNTERS") | .detail'
}
has_counts() { # name
        compare "$(reported "$1" '[.totals.rows[] | select(.name == "cycles" or .name == "instructions") | .value] | min')" ">" 1000000
}

# ---- counters that only count: refused by the kernel, or promised in vain
program=("$WORKLOADS/w_two_zones" 0.2 2)
for how in refused silent; do
        case $how in
        refused) why="they count, but have no interrupt (RISC-V: no Sscofpmf)" ;;
        silent) why="they count, but their interrupt never comes (virtual machine?)" ;;
        esac
        poor=(env "POOR_COUNTERS=$how" "LD_PRELOAD=$BUILD/tools/poor_counters.so" "$HYPROF")
        holds "$how: doctor says so" grep -qF "  no   hardware counters  $why; cpu-clock is sampled instead of cycles" <("${poor[@]}" doctor 2>&1)
        holds "$how: they are on this machine" same true "$("${poor[@]}" list --json cycles 2>/dev/null | jq '.events.rows[] | select(.name == "cycles") | .is_available')"
        holds "$how: a program is recorded" ends_with 0 "${poor[@]}" record -o "$TMPDIR/clock.hyp" -- "${program[@]}"
        cp "$TMPDIR/out" "$TMPDIR/clock.out" && cp "$TMPDIR/err" "$TMPDIR/clock.err"
        holds "$how: whole, in one line" whole clock ""
        holds "$how: by cpu-clock" grep -q 'samples of cpu-clock' "$TMPDIR/clock.err"
        holds "$how: the trace says why" same "$why" "$(notice clock)"
        holds "$how: counters go after another event" ends_with 0 "${poor[@]}" record -o "$TMPDIR/group.hyp" -e '{cpu-clock,cycles}:S' -- "${program[@]}"
        cp "$TMPDIR/out" "$TMPDIR/group.out" && cp "$TMPDIR/err" "$TMPDIR/group.err"
        holds "$how: in one line" whole group ""
        holds "$how: and count" compare "$(reported group '.function_counters.rows[] | select(.function == "[all]") | .["self_cycles"]')" ">" 1000000
        holds "$how: --stat counts" ends_with 0 "${poor[@]}" record -o "$TMPDIR/stat.hyp" --stat -- "${program[@]}"
        read_trace stat
        holds "$how: cycles and instructions, too" has_counts stat
done
# Others have the processor for nearly all of the time in which the interrupt is waited for.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
others=()
for ((i = 0; i < 8; i++)); do
        taskset -c "$cpu" "$WORKLOADS/w_loop" 1000000000000 &
        others+=($!)
done
trap 'kill "${others[@]}" 2>/dev/null || true' EXIT
poor[1]=POOR_COUNTERS=silent
holds "silent: doctor says so on a busy processor, too" grep -qF "$why" <(taskset -c "$cpu" "${poor[@]}" doctor 2>&1)
kill "${others[@]}"
wait "${others[@]}" 2>/dev/null || true
poor[1]=POOR_COUNTERS=refused
holds "refused: samples of one are refused, with the way to count" refused "the event cycles cannot be sampled .*{cpu-clock,cycles}:S" "" \
        "${poor[@]}" record -o "$TMPDIR/none.hyp" -e cycles -- true
holds "refused: nothing is left behind" [ ! -e "$TMPDIR/none.hyp" ]
poor[1]=POOR_COUNTERS=silent
holds "silent: samples of one were asked for" ends_with 0 "${poor[@]}" record -o "$TMPDIR/silent.hyp" -e cycles -- true
holds "silent: the recorder says why there are none" grep -q "^hyprof: note: no samples: .*: cycles; try -e {cpu-clock,cycles}:S$" "$TMPDIR/err"
holds "silent: and its trace" same "cycles; try -e {cpu-clock,cycles}:S" \
        "$("$HYPROF" report --json --limit 0 "$TMPDIR/silent.hyp" | jq -r '.missing.rows[] | select(.code == "SILENT_COUNTERS") | .detail')"

# ---- without cgroup v2: nothing is mounted there, or only the older hierarchies, or anything else
without() { # kind, command...
        local change
        case $1 in
        unmounted) change='umount -l /sys/fs/cgroup 2>/dev/null; ! grep -q " - cgroup" /proc/self/mountinfo' ;;
        tmpfs) change='umount -l /sys/fs/cgroup 2>/dev/null; mount -t tmpfs none /sys/fs/cgroup' ;;
        v1) change='grep " - cgroup2 " /proc/self/mountinfo | cut -d " " -f 5 | while read -r at; do umount -l "$at"; done
                ! grep -q " - cgroup2 " /proc/self/mountinfo' ;;
        sys) change='umount -l /sys; [ ! -e /sys/devices ]' ;;
        esac
        unshare -m sh -c "$change"' || exit 99; exec "$@"' sh "${@:2}"
}
if ! without unmounted true 2>"$TMPDIR/why"; then
        skips_group "without cgroup v2" "no mount namespace: $(tail -n 1 "$TMPDIR/why")"
        exit 0
fi
for kind in unmounted tmpfs v1; do
        holds "cgroup v2, $kind: a program is recorded" ends_with 0 without $kind "$HYPROF" record -o "$TMPDIR/$kind.hyp" -- "${program[@]}"
        cp "$TMPDIR/out" "$TMPDIR/$kind.out" && cp "$TMPDIR/err" "$TMPDIR/$kind.err"
        holds "cgroup v2, $kind: whole, in one line" whole $kind ""
        holds "cgroup v2, $kind: by CPUs" same cpus "$(reported $kind .scope)"
done
holds "cgroup v2: --scope=cgroup is refused" refused "cgroup2 is not mounted" "" \
        without unmounted "$HYPROF" record -o "$TMPDIR/none.hyp" --scope=cgroup -- true
holds "cgroup v2: --cgroup is refused, with what to do" refused "--cgroup: cgroup2 is not mounted" "^  try: hyprof record -p PID" \
        without unmounted "$HYPROF" record -o "$TMPDIR/none.hyp" --cgroup some -d 1s
holds "cgroup v2: nothing is left behind" [ ! -e "$TMPDIR/none.hyp" ]

# ---- without /sys, as in small containers
holds "without /sys: a program is recorded" ends_with 0 without sys "$HYPROF" record -o "$TMPDIR/sys.hyp" -- "${program[@]}"
cp "$TMPDIR/out" "$TMPDIR/sys.out" && cp "$TMPDIR/err" "$TMPDIR/sys.err"
holds "without /sys: whole, in one line" whole sys ""
holds "without /sys: BPF's absence has its reason" same 1 "$("$HYPROF" report "$TMPDIR/sys.hyp" | tr -s '\n ' ' ' | grep -cF "BPF: /sys is not mounted")"
# Only then is it known that perf has to report the switches: its events are opened again.
holds "without /sys: perf reports the switches" grep -qE '^ +switches +[1-9]' <<<"$("$HYPROF" report "$TMPDIR/sys.hyp")"
