#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program of 2,000 threads, attached while it runs: all of them are sampled and named, at once, with as many descriptors as documented
set -eu
. tests/tap.sh
plan 18
need jq
need_sampling

n_threads=2000
[ "$VARIANT" != asan ] || n_threads=200 # a thread costs ten times as much there
n_cpus=$(nproc --all)
online=$(getconf _NPROCESSORS_ONLN)
[ "$n_cpus" = "$online" ] || n_cpus=$online

program=
trap '[ -z "$program" ] || kill -KILL "$program" 2>/dev/null || true' EXIT
mkfifo "$TMPDIR/to" "$TMPDIR/from"

begin() {
        "$WORKLOADS/w_turns" $n_threads <"$TMPDIR/to" >"$TMPDIR/from" &
        program=$!
        exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
        read -r -t 60 _ <&5
}

is_recording() { # trace: something of it has been written
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -le 2000 ] || return 0
                read -r -t 0.1 <> <(:) || true
        done
        return 1
}

# Attaching, one millisecond, detaching: what is not recording.  The least of three times, if the first one is long: others may
# have the processors.
startup_ms() { # scope
        local began_ns took_ms least_ms=1000000
        for _ in 1 2 3; do
                began_ns=$(date +%s%N)
                "$HYPROF" record -q --no-symbolize --scope="$1" -d 1ms -o "$TMPDIR/short.hyp" -p "$program"
                took_ms=$((($(date +%s%N) - began_ns) / 1000000))
                least_ms=$((took_ms < least_ms ? took_ms : least_ms))
                [ "$least_ms" -ge 10000 ] || break
        done
        echo "$least_ms"
}

for scope in cpus threads; do
        wanted=$((4 * n_cpus)) # of the one event; BPF programs and what reports new code have some of their own
        [ $scope = cpus ] || wanted=$((2 * n_cpus * (n_threads + 1)))
        if [ $scope = cpus ] && ! "$HYPROF" record -q --scope=cpus -o "$TMPDIR/try.hyp" -- true 2>"$TMPDIR/try.err"; then
                skips_group "$scope" "$(head -n 1 "$TMPDIR/try.err")"
                continue
        fi
        if [ "$(ulimit -Hn)" != unlimited ] && [ "$(ulimit -Hn)" -lt $((wanted + 100)) ]; then
                skips_group "$scope" "only $(ulimit -Hn) descriptors are allowed"
                continue
        fi
        watch_others
        begin
        took_ms=$(startup_ms "$scope")
        "$HYPROF" record -q --scope="$scope" -o "$TMPDIR/$scope.hyp" -p "$program" 4>&- 5<&- &
        recorder=$!
        holds "$scope: it records" is_recording "$TMPDIR/$scope.hyp"
        exec 4>&- 5<&-
        holds "$scope: it ends with the program" wait $recorder
        wait "$program" || true
        program=
        "$HYPROF" report --json --limit 0 "$TMPDIR/$scope.hyp" >"$TMPDIR/$scope.json"
        n_sampled=$(reported "$scope" '[.threads.rows[] | select(.name // "" | startswith("turn-")) | select(.n_samples > 0)] | length')
        figure "$scope: start and stop $took_ms ms; $(reported "$scope" .n_descriptors) descriptors;\
 $n_sampled of $n_threads threads have samples"
        holds "$scope: every thread has its name" same $n_threads \
                "$(reported "$scope" '[.threads.rows[] | .name // "" | select(startswith("turn-"))] | unique | length')"
        holds "$scope: nearly every one is sampled" compare "$n_sampled" ">=" "0.99 * $n_threads"
        holds "$scope: the samples are where they ran" compare \
                "$(reported "$scope" '[.functions.rows[] | select(.function == "take_turn") | .self_samples] | add')" ">" 0
        n_other=$(($(reported "$scope" .n_descriptors) - wanted))
        holds "$scope: as many descriptors as documented" compare "$n_other" ">=" 0
        holds "$scope: and few more" compare "$n_other" "<=" 40
        holds "$scope: start and stop take less than 10 seconds" compare "$took_ms" "<" 10000
        holds_all_records "$scope: nothing is lost" "$scope"
done
