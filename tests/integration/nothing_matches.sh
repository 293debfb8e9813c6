#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Filters that leave nothing end every command with status 1, one line that says which, and what may be meant or to be tried
set -eu
. tests/tap.sh
plan 65

need jq
made=$BUILD/tools/made_trace
trace=$TMPDIR/many.hyp
"$made" many "$trace" 4000 400
"$made" zones "$TMPDIR/zones.hyp"

# Nothing on standard output, one error with these words, one line with what to try.
misses() { # words, command...
        ends_with "${status:-1}" "$HYPROF" "${@:2}" || return 1
        cat "$TMPDIR/err"
        [ ! -s "$TMPDIR/out" ] || { echo "there is output" && return 1; }
        same 1 "$(grep -c '^hyprof: error: ' "$TMPDIR/err")" || return 1
        same "${tries:-1}" "$(grep -c '^  try: hyprof ' "$TMPDIR/err")" || return 1
        grep -qF -- "$1" "$TMPDIR/err"
}

# ---- every command that takes filters
on_cpu="on CPU 99; there are: 1"
for view in "" --functions --lines --top-down --zones --threads --modules --off-cpu --cpus --locks --messages "--zone zone_3" --json "--format md"; do
        # shellcheck disable=SC2086 # words
        holds "report $view" misses "$on_cpu" report $view --cpu 99 "$trace"
done
holds "why" misses "$on_cpu" why --zone zone_3 --cpu 99 "$trace"
holds "csv" misses "$on_cpu" csv --cpu 99 "$trace"
holds "csv -u" misses "$on_cpu" csv -u --cpu 99 "$trace"
holds "query" misses "$on_cpu" query --sqlite "$TMPDIR/out.db" --cpu 99 "$trace"
holds "query: no database is left" test ! -e "$TMPDIR/out.db"
for format in folded firefox perfetto speedscope pprof chrome callgrind; do
        holds "export $format" misses "$on_cpu" export "$format" -o "$TMPDIR/out.$format" --cpu 99 "$trace"
        holds "export $format: no file is left" test ! -e "$TMPDIR/out.$format"
done
holds "dump" misses "$on_cpu" dump --cpu 99 "$trace"
holds "annotate" misses "$on_cpu" annotate --cpu 99 "$trace" function_0
status=2 tries=0 holds "diff, whose 1 is an answer" misses "$on_cpu" diff --cpu 99 "$trace" "$trace"

# ---- every filter
holds "a zone that is never nested so" misses "'zone_3/zone_4' in this trace is nested this way; it occurs as" report --zone zone_3/zone_4 "$trace"
holds "its way to go on" grep -qF "try: hyprof report --zones $trace" "$TMPDIR/err"
tries=0 holds "a range in which nothing is" misses "after the end of the recording, which lasts 0.000000040 s" report --from 1h "$TMPDIR/zones.hyp"
holds "a module" misses "no module 'maed' in this trace; did you mean 'made'?" report --module maed "$trace"
tries=0 holds "an event" misses "no sample event 'cycles' in this trace; there are: cpu-clock" report -e cycles "$trace"
holds "a zone that is nearly right" misses "no zone 'zone-47' in this trace; did you mean 'zone_47'?" why --zone zone-47 "$trace"
holds "a function that is nearly right" misses "no function 'funtion_40' in this trace; did you mean 'function_40'?" report --function funtion_40 "$trace"
holds "the same for annotate" misses "did you mean 'function_40'?" annotate "$trace" funtion_40
status=2 tries=0 holds "the unit of diff" misses "no zone 'zone-3' in this trace; did you mean 'zone_3'?" diff --per zone-3 "$trace" "$trace"
holds "a thread that is not there" misses "no thread 't77'" report --thread t77 "$trace"
holds "a view in which nothing is left" misses "nothing that this view shows passes the filters: CPU 1" report --locks --cpu 1 "$trace"
cat >"$TMPDIR/device.csv" <<'END'
name,process,thread,begin_us,duration_us,device
idle,1,1,1000,10,
gemm,,,1000,10,gpu 0
END
"$HYPROF" import -q "$TMPDIR/device.csv" -o "$TMPDIR/device.hyp"
holds "a zone that handed nothing to a device" misses "nothing that this view shows passes the filters: zone idle" \
        report --devices --zone idle "$TMPDIR/device.hyp"
tries=0 holds "a range in which no device did anything" misses "nothing that this view shows passes the filters: from 0.001005000 s" \
        report --devices --from 1005us "$TMPDIR/device.hyp"
holds "devices: what passes is shown" ends_with 0 "$HYPROF" report --devices --to 1005us "$TMPDIR/device.hyp"
holds "devices: without filters" ends_with 0 "$HYPROF" report --devices "$TMPDIR/device.hyp"
holds "without filters that is an answer" ends_with 0 "$HYPROF" report --locks "$trace"
holds "what passes is shown" ends_with 0 "$HYPROF" report --zones --cpu 1 "$trace"

# ---- what passes, as lines
lines() { "$HYPROF" dump "$@" "$trace" | grep -vE '^(chunk|run|index) ' | sort; }
holds "dump: a filter that lets all pass" same "$(lines | md5sum)" "$(lines --to 1h | md5sum)"
holds "dump: of one zone, whole ones" same "$("$HYPROF" report --zone zone_3 --json --limit 0 "$trace" | jq '.count * 2')" \
        "$("$HYPROF" dump --zone zone_3 "$trace" | grep -c '^zone_[be]')"
holds "dump: the tables are there" same "$(lines | grep -c '^location ')" "$("$HYPROF" dump --zone zone_3 "$trace" | grep -c '^location ')"
holds "dump --extract takes none" ends_with 2 "$HYPROF" dump --extract "$TMPDIR/folder" --cpu 1 "$trace"

# ---- names that perf has for filters
same_answer() { # words of one, words of the other
        # shellcheck disable=SC2086 # words
        same "$("$HYPROF" report --threads --json --limit 0 $1 "$trace")" "$("$HYPROF" report --threads --json --limit 0 $2 "$trace")"
}
holds "--time" same_answer "--time 0.0001s,1ms" "--from 0.0001s --to 1ms"
holds "--time FROM," same_answer "--time 100us," "--from 100us"
holds "--time ,TO" same_answer "--time ,1ms" "--to 1ms"
holds "--tid" same_answer "--tid t2" "--thread t2"
for times in 1s "," "2s,1s" "x,y"; do
        holds "--time $times: status 2" ends_with 2 "$HYPROF" report --time $times "$trace"
done
