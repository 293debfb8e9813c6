#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import: what a table says is in the trace, alone and on a recording's timeline, or counted; what cannot be is refused
set -eu
. tests/tap.sh
plan 60
need jq zstd python3

ops() { "$HYPROF" dump "$1" | grep -c "^$2 "; }
rows_of() { "$HYPROF" dump "$1" | grep "^$2 "; }

# ---- there and back
made=$TMPDIR/made.hyp back=$TMPDIR/back.hyp
"$BUILD/tools/made_trace" many "$made" 2000 100
# The number of a thread counts anew in each trace; a thread without a name is called like its process.
table() { "$HYPROF" csv -u "$1" | cut -d, --complement -f 6,9 | sort; }
"$HYPROF" csv -u "$made" >"$TMPDIR/made.csv"
holds "a table of hyprof csv -u" ends_with 0 "$HYPROF" import "$TMPDIR/made.csv" -o "$back"
holds "says what it was" grep -q "imported .* spans.*made.csv (tracy-csv)" "$TMPDIR/err"
holds "and what to do next" grep -q "^hyprof: *next: hyprof report\|^next: hyprof report" "$TMPDIR/err"
holds "the trace is intact" "$HYPROF" check "$back"
holds "there are zones" compare "$(ops "$back" zone_begin)" ">" 100
holds "the table comes back equal" same "$(table "$made")" "$(table "$back")"
gzip -k "$TMPDIR/made.csv" && zstd -q "$TMPDIR/made.csv"
for packing in gz zst; do
        "$HYPROF" import -q "$TMPDIR/made.csv.$packing" -o "$TMPDIR/$packing.hyp"
        holds "packed as $packing" same "$(table "$made")" "$(table "$TMPDIR/$packing.hyp")"
done
holds "through pipes" sh -c "\"$HYPROF\" import -q - -o - <\"$TMPDIR/made.csv\" | \"$HYPROF\" check -"
head -c "$(($(stat -c %s "$TMPDIR/made.csv.gz") / 2))" "$TMPDIR/made.csv.gz" >"$TMPDIR/cut.gz"
holds "cut packing is read up to there" ends_with 0 "$HYPROF" import "$TMPDIR/cut.gz" -o "$TMPDIR/cut.hyp"
holds "and that is said" grep -q "cut off at" "$TMPDIR/err"
holds "with the spans before" compare "$(ops "$TMPDIR/cut.hyp" zone_begin)" ">" 10

# ---- all kinds of rows
cat >"$TMPDIR/kinds.csv" <<'END'
name,process,thread,thread_name,begin_us,duration_us,key,key_kind,text,value,unit,device,track,lane,instant
main,123,123,main loop,10,100,7,correlation,"a=1, ""b""",,,,,,
inner,123,123,,20.5,30,,,,,,,,,
cross,123,123,,60,100,,,,,,,,,
memory,123,,,15,,,,,4096,bytes,,,,
mark,123,123,,70,,,,hello,,,,,,1
kernel,,,,30,40,7,correlation,,,,gpu 0,,3,
copy,,,,50,40,8,correlation,,,,gpu 0,engine 1,2,
power,,,,33,,,,,55.5,W,gpu 0,,,
bad,123,123,,x,40,,,,,,,,,
worse,123,123,,9,-4,,,,,,,,,
END
kinds=$TMPDIR/kinds.hyp
holds "spans, values, moments, devices" ends_with 0 "$HYPROF" import "$TMPDIR/kinds.csv" -o "$kinds"
holds "malformed rows are counted, with the first" grep -q "2 rows malformed (first at line 10: the begin is not a time)" "$TMPDIR/err"
holds "the trace says it as well" grep -q "n_rows=10 n_malformed=2 first_malformed_at=10" <(rows_of "$kinds" import)
holds "a crossing span has a thread of its own" grep -q 'text="main loop #2"' <(rows_of "$kinds" string)
holds "what nests does not" same 2 "$("$HYPROF" dump "$kinds" | sed -n '/^run thread=1 /,/^run thread=2 /p' | grep -c '^zone_begin')"
holds "zones have keys and texts" same "1 1" "$(ops "$kinds" zone_key) $(ops "$kinds" zone_text)"
holds "spans of devices are in ticks" grep -q "begin_ticks=30000 length_ticks=40000 .*key=7" <(rows_of "$kinds" device_span)
holds "parts of devices are a tree" same 3 "$(ops "$kinds" track)"
holds "values of devices" same 1 "$(ops "$kinds" device_value)"
holds "plots and messages" same "1 1" "$(ops "$kinds" plot_i64) $(ops "$kinds" message_text)"
# Lines are folded where the path of the file is long, anywhere in it: without blanks they are the same.
unfolded() {
        tr -d '\n '
}
holds "report has a line for the file" grep -q "imported.*kinds.csv(csv),10rows,2malformed(thefirstat10:thebeginisnotatime)" \
        <("$HYPROF" report "$kinds" | unfolded)
holds "check as well" grep -q "imported.*kinds.csv(csv),10rows,2malformed" <("$HYPROF" check "$kinds" | unfolded)
holds "and both for programs" same "10 2 10 true
10 2 10 true" "$({ "$HYPROF" report --json "$kinds" && "$HYPROF" check --json "$kinds"; } |
        jq -r '.imports.rows[0] | "\(.n_rows) \(.n_malformed) \(.first_malformed_at) \(.first_malformed == "the begin is not a time")"')"
holds "values and keys are counted" same "1 1" "$("$HYPROF" report --json "$kinds" | jq -r '[.also_recorded.rows[] |
        select((.kind == "devices" and .what == "values") or (.kind == "in_zones" and .what == "keys")) | .count] | "\(.[0]) \(.[1])"')"
holds "by exports without a place for them" ends_with 0 "$HYPROF" export firefox "$kinds" -o "$TMPDIR/kinds.json.gz"
holds "as left out" grep -q "1 values and moments of devices" "$TMPDIR/err"
holds "no device is a process" same 123 "$(rows_of "$kinds" process | sed 's/.*pid=\([0-9]*\).*/\1/' | awk '$1 < 1073741824')"

# ---- a recording and its clocks
base=$TMPDIR/base.hyp
"$BUILD/tools/made_trace" many "$base" 2000 100
start=$("$HYPROF" dump "$base" | awk '/^zone_begin/ { sub(/.*time_ns=/, ""); print $1; exit }')
python3 - "$start" >"$TMPDIR/raw.csv" <<'END'
import sys
start = int(sys.argv[1])
print("name,process,thread,begin,duration,clock")
for i in range(50):
    print(f"imported,999999,999999,{start + 1000 * i},500,raw")
END
holds "onto a recording's timeline" ends_with 0 "$HYPROF" import "$TMPDIR/raw.csv" --into "$base" -o "$TMPDIR/into.hyp"
holds "with the bound" grep -q "CLOCK_MONOTONIC_RAW, placed within 0 ns" "$TMPDIR/err"
holds "all zones of both" same "$(($(ops "$base" zone_begin) + 50))" "$(ops "$TMPDIR/into.hyp" zone_begin)"
holds "the first one where it was" same "$start" "$(rows_of "$TMPDIR/into.hyp" thread | sed -n 's/.*tid=999999 start_ns=\([0-9]*\) .*/\1/p')"
holds "the recording's events are as they were" same "$("$HYPROF" csv -u "$base" | sort)" \
        "$("$HYPROF" csv -u "$TMPDIR/into.hyp" | grep -v '^imported,' | sort)"
holds "intact" "$HYPROF" check "$TMPDIR/into.hyp"
cp "$base" "$TMPDIR/place.hyp"
holds "in its place" ends_with 0 "$HYPROF" import -q "$TMPDIR/raw.csv" --into "$TMPDIR/place.hyp"
holds "the same" same "$(ops "$TMPDIR/into.hyp" zone_begin)" "$(ops "$TMPDIR/place.hyp" zone_begin)"
sed 's/,raw$/,/; s/,clock$/,clock/' "$TMPDIR/raw.csv" >"$TMPDIR/unknown.csv"
holds "an unknown clock is refused" ends_with 1 "$HYPROF" import "$TMPDIR/unknown.csv" --into "$base" -o "$TMPDIR/no.hyp"
holds "with the option that states it" grep -q "try: .*--clock" "$TMPDIR/err"
holds "and then taken" ends_with 0 "$HYPROF" import --clock raw "$TMPDIR/unknown.csv" --into "$base" -o "$TMPDIR/said.hyp"
holds "one of which there is no reading is refused" ends_with 1 "$HYPROF" import --clock boottime "$TMPDIR/unknown.csv" --into "$base" -o "$TMPDIR/no.hyp"
holds "nothing is left over" test ! -e "$TMPDIR/no.hyp"
head -c "$(($(stat -c %s "$base") / 2))" "$base" >"$TMPDIR/short.hyp"
holds "a recording that is cut off is not added to" ends_with 1 "$HYPROF" import "$TMPDIR/raw.csv" --into "$TMPDIR/short.hyp"

# ---- twice, nothing at all, no reader
ln "$TMPDIR/raw.csv" "$TMPDIR/link.csv"
holds "a file that is given twice is refused" ends_with 1 "$HYPROF" import "$TMPDIR/raw.csv" "$TMPDIR/link.csv" -o "$TMPDIR/no.hyp"
holds "by its name" grep -q "link.csv is given twice" "$TMPDIR/err"
holds "one that the trace has already is taken" ends_with 0 "$HYPROF" import "$TMPDIR/raw.csv" --into "$TMPDIR/place.hyp" -o "$TMPDIR/again.hyp"
holds "with a warning" grep -q "warning: .*raw.csv was imported into this trace before" "$TMPDIR/err"
printf 'name,begin,end\na,x,1\nb,2,y\n' >"$TMPDIR/bad.csv"
holds "rows that are all malformed make no trace" ends_with 1 "$HYPROF" import "$TMPDIR/bad.csv" -o "$TMPDIR/no.hyp"
holds "why is said" grep -q "2 rows malformed (first at line 2: the begin is not a time)" "$TMPDIR/err"
mkfifo "$TMPDIR/fifo"
# shellcheck disable=SC2094 # the reader goes before the writer begins
exec 9<>"$TMPDIR/fifo" 8>"$TMPDIR/fifo" 9<&-
holds "import to a pipe whose reader has gone ends without an error" sh -c "\"$HYPROF\" import -q \"$TMPDIR/raw.csv\" -o - >&8 2>\"$TMPDIR/err\" && ! grep . \"$TMPDIR/err\""
exec 8>&-

# ---- what is nearly one of the formats
printf '{"head":{"callFrame":{"functionName":"(root)"}}}' >"$TMPDIR/heap"
holds "a .heapprofile is refused" ends_with 1 "$HYPROF" import "$TMPDIR/heap" -o "$TMPDIR/no.hyp"
holds "and named" grep -q 'it is a .heapprofile' "$TMPDIR/err"
printf 'xz 4711 12.345678: 250000 cpu-clock:ppp: \n\tffffffff81 finish_task_switch+0x1 ([kernel.kallsyms])\n\n' >"$TMPDIR/script"
holds "the text of perf script is refused" ends_with 1 "$HYPROF" import "$TMPDIR/script" -o "$TMPDIR/no.hyp"
holds "with the file that it was made of" grep -q 'try: hyprof import the perf.data' "$TMPDIR/err"
zstd -dqc tests/data/import/tt/sync_device_info.csv.zst >"$TMPDIR/sync.csv"
holds "readings of clocks alone are named" ends_with 1 "$HYPROF" import "$TMPDIR/sync.csv" -o "$TMPDIR/no.hyp"
holds "with the log that they belong to" grep -q "try: hyprof import the folder" "$TMPDIR/err"

# ---- a foreign file in the place of a trace
holds "every command names import" ends_with 1 "$HYPROF" report "$TMPDIR/raw.csv"
holds "with the file" grep -q "try: hyprof import .*raw.csv" "$TMPDIR/err"
cp "$TMPDIR/raw.csv" "$TMPDIR/after.csv"
holds "diff, too" ends_with 2 "$HYPROF" diff "$TMPDIR/raw.csv" "$TMPDIR/after.csv"
holds "with the file that it tried" grep -q "try: hyprof import .*raw.csv" "$TMPDIR/err"
