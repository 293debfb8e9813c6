#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of a real-time class do not starve the recorder: nothing is lost, and without the right the loss says why
set -eu
. tests/tap.sh
plan 9
need chrt jq prlimit setpriv
need_sampling
chrt -f 98 true 2>/dev/null || skip_all "real-time priorities are not permitted"
[ "$(cat /proc/sys/kernel/sched_rt_runtime_us)" -gt 0 ] || skip_all "real-time programs may take all of a processor"
n_cpus=$(nproc)
[ "$n_cpus" -le 8 ] || skip_all "$n_cpus processors are too many to be taken from the machine"

# Once a line is in the pipe, every processor is taken for a second and a half.
mkfifo "$TMPDIR/go"
cat >"$TMPDIR/spin.sh" <<'END'
read -r line <"$1"
i=0
while [ $((i += 1)) -le "$2" ]; do
        timeout -s KILL 1.5 sh -c 'while :; do :; done' &
done
wait
END

# Recording begins before the programs do, and its command lasts until the last of them has ended, which closes the FIFO
# that they have inherited; what the recorder says is in TMPDIR/NAME.out.
mkfifo "$TMPDIR/alive"
record_spinners() { # name, command in front of hyprof...
        chrt -r 10 sh "$TMPDIR/spin.sh" "$TMPDIR/go" "$n_cpus" 2>/dev/null 3<>"$TMPDIR/alive" &
        local spinner=$!
        # shellcheck disable=SC2016 # sh expands them
        timeout -s KILL 200 "${@:2}" "$HYPROF" record -F 5000 -p "$spinner" -o "$TMPDIR/$1.hyp" -- \
                sh -c 'exec 3<"$1"; echo >"$0"; exec cat <&3' "$TMPDIR/go" "$TMPDIR/alive" \
                >"$TMPDIR/$1.out" 2>&1 || { cat "$TMPDIR/$1.out" && return 1; }
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" >"$TMPDIR/$1.json"
}

count_lost() { # name
        jq '[.missing.rows[] | select(.code == "KERNEL_RING_FULL" or .code == "SAMPLES_LOST") | .count] | add // 0' "$TMPDIR/$1.json"
}

waited='hyprof itself waited for a processor'

# Other programs of such a class may come before it now and then, but not each time.
few_lost() {
        for _ in 1 2 3; do
                record_spinners first || return 1
                [ $(($(count_lost first) * 20)) -gt "$(jq .n_samples "$TMPDIR/first.json")" ] || return 0
        done
}
holds "they are recorded" few_lost
figure "$(count_lost first) of $(jq .n_samples "$TMPDIR/first.json") samples lost"
holds "there are samples of the programs" jq -e '.n_samples > 1000' "$TMPDIR/first.json"
# It loses no sample on a machine of its own; without the priority it loses a third or more.
holds "a recorder that may come first loses hardly any" compare "$(count_lost first) * 20" "<=" "$(jq .n_samples "$TMPDIR/first.json")"

holds "they are recorded without the right" record_spinners later prlimit --rtprio=0 setpriv --bounding-set=-sys_nice
n_lost=$(count_lost later)
figure "$n_lost of $(jq .n_samples "$TMPDIR/later.json") samples lost without the right"
if [ "$n_lost" -gt 0 ]; then
        holds "one that may not says what kept it" grep -q "$waited" "$TMPDIR/later.out"
        holds "and what helps" grep -q 'try: sudo hyprof record' "$TMPDIR/later.out"
else
        skips "one that may not says what kept it" "hardware: nothing was lost"
        skips "and what helps" "hardware: nothing was lost"
fi

# The null case: events are lost for another reason.
holds "an ordinary program is recorded" record plain --no-symbolize --client-ring 8K -- "$WORKLOADS/w_full_ring" flat 0.3
"$HYPROF" report --json --limit 0 "$TMPDIR/plain.hyp" >"$TMPDIR/plain.json"
holds "events of its own are lost" grep -q 'warning: .* events were lost' "$TMPDIR/plain.err"
if [ "$(count_lost plain)" -eq 0 ]; then
        holds "no processor is blamed" same 0 "$(grep -c "$waited" "$TMPDIR/plain.err")"
else
        skips "no processor is blamed" "hardware: the kernel's rings were full as well"
fi
