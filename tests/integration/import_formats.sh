#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import: every real file, by its format, has the spans, lengths and moments of its truth
set -u
. tests/tap.sh
need python3 sqlite3 zstd
data=$PWD/tests/data/import
tools=$PWD/tests/tools
cd "$TMPDIR" || exit 2

# file, format, and where another tool's words for the same are, if not in the file itself: IREE's own lines for its container.
table() {
        grep -v '^#' <<'END'
iree/local_sync_matmul.ireeprof ireeprof iree/local_sync_matmul.jsonl.zst
iree/local_sync_matmul.jsonl.zst ireeperf-jsonl
iree/local_task_softmax.ireeprof ireeprof iree/local_task_softmax.jsonl.zst
iree/local_task_softmax.jsonl.zst ireeperf-jsonl
iree/local_task_regions.ireeprof ireeprof iree/local_task_regions.jsonl.zst
iree/local_task_regions.jsonl.zst ireeperf-jsonl
iree/one_of_each_record.ireeprof ireeprof iree/one_of_each_record.jsonl
iree/one_of_each_record.jsonl ireeperf-jsonl
iree/gpu.ireeprof.zst ireeprof iree/gpu.jsonl.zst
iree/gpu.jsonl.zst ireeperf-jsonl
iree/gpu_cut.ireeprof.zst ireeprof --sums
trace_event/chromium_part.json.zst trace-event
trace_event/clang_time_trace.json.zst trace-event
trace_event/kineto_cpu_only.json.zst trace-event
trace_event/kineto_cuda_event_sync.json.zst trace-event
trace_event/kineto_cuda_simple_add.json.zst trace-event
trace_event/kineto_cupti_counters.json.zst trace-event
trace_event/kineto_rocm_mi250.json.zst trace-event
trace_event/kineto_triton.json.zst trace-event
trace_event/ninja_trace.json trace-event
trace_event/ninja_trace.json.gz trace-event
trace_event/node_trace.json.zst trace-event
trace_event/ninja_log.txt ninja-log
tt/profile_log_device.csv.zst tt-device
tt/header_v1.csv tt-device
tt/header_v3.csv tt-device
tt/report_2025_signposts.csv.zst tt-device
tt/report_2025_09.csv.zst tt-device
tt/report_2026_8_chips.csv.zst tt-device
END
}

# Compares, for each name, count, total, first and last in the trace and in the file; and the numbers of values and moments.
facts() { python3 "$tools/foreign_facts.py" "$@"; }
equal_facts() { # file, format, other reader's file or --sums
        local other=$1 format=$2 sums=()
        case $3 in
        --sums) sums=(--sums) ;;
        ?*) other=$3 format=ireeperf-jsonl ;;
        esac
        zstd -qdcf "$data/$other" 2>/dev/null >raw || zcat -f "$data/$other" >raw
        facts "$format" raw "${sums[@]}" >theirs
        "$HYPROF" dump t.hyp | facts dump - "${sums[@]}" >ours
        grep -q ' [1-9]' theirs || { echo "the other reader found nothing" && return 1; }
        diff theirs ours
}

plan $((4 * $(table | wc -l) + 19))
"$BUILD/tools/made_trace" many base.hyp 2000 100
ops() { "$HYPROF" dump "$1" | grep -c "^$2 " || true; }
n_base=$(ops base.hyp zone_begin)
while read -r file format other; do
        holds "$file" ends_with 0 "$HYPROF" import --force "$data/$file" -o t.hyp
        holds "$file is $format" grep -q "($format)" err
        holds "$file: as another reader has it" equal_facts "$file" "$format" "$other"
        "$HYPROF" import -q --force --clock raw --into base.hyp "$data/$file" -o into.hyp
        holds "$file on a recording's timeline" same "$((n_base + $(ops t.hyp zone_begin))) $(ops t.hyp device_span)" \
                "$(ops into.hyp zone_begin) $(ops into.hyp device_span)"
done < <(table)

# ---- nanoseconds of ticks
of_report() { # the sum of two columns of a report, which tt-metal computed
        zstd -qdcf "$data/$1" | python3 -c 'import csv, sys
print(sum(int(r[c] or 0) for r in csv.DictReader(sys.stdin) for c in ("HOST DURATION [ns]", "DEVICE FW DURATION [ns]")))'
}
for file in tt/report_2025_signposts.csv.zst tt/report_2025_09.csv.zst tt/report_2026_8_chips.csv.zst; do
        "$HYPROF" import -q --force "$data/$file" -o t.hyp
        rm -f t.db && "$HYPROF" query -q --sqlite t.db t.hyp
        holds "$file: its own nanoseconds" same "$(of_report "$file")" \
                "$(sqlite3 t.db 'SELECT (SELECT sum(duration_ns) FROM zones) + (SELECT sum(duration_ns) FROM device_spans)')"
done
# Dispatches that begin or end further from their truth than the bound that is stated; the timeline is CLOCK_MONOTONIC.
misplaced() {
        zstd -qdcf "$data/iree/gpu.truth.json.zst" | python3 -c '
import json, sqlite3, sys
db = sqlite3.connect("t.db")
start = int(db.execute("SELECT value FROM meta WHERE key = ?", ("start_raw_ns",)).fetchone()[0])
found = {tuple(row[:3]): row[3:] for row in db.execute("""SELECT d.name, t.path, s.key, begin_ns, end_ns, bound_ns
        FROM device_spans s JOIN devices d ON d.id = s.device JOIN device_tracks t ON t.device = d.id AND t.lane = s.lane""")}
n_wrong = 0
dispatches = json.load(sys.stdin)["dispatches"].values()
for d in dispatches:
    begin, end, bound = found["device %d" % d["device"], "queue %d" % d["queue"], d["submission"]]
    n_wrong += max(abs(start + begin - d["begin_mono_ns"]), abs(start + end - d["end_mono_ns"])) > bound + 1
print(len(dispatches), n_wrong)'
}
"$HYPROF" import -q --force "$data/iree/gpu.ireeprof.zst" -o t.hyp
rm -f t.db && "$HYPROF" query -q --sqlite t.db t.hyp
holds "ticks of devices are placed within their bound" same "299 0" "$(misplaced)"
# Dispatches whose delay, from submitted to begun, is further from the truth than the bound of their place.
misdelayed() {
        zstd -qdcf "$data/iree/gpu.jsonl.zst" >raw
        zstd -qdcf "$data/iree/gpu.truth.json.zst" | python3 -c '
import json, sqlite3, sys
submitted = {}
for row in map(json.loads, open("raw")):
    if row["record_type"] == "queue_event":
        submitted[row["physical_device_ordinal"], row["queue_ordinal"], row["submission_id"]] = row["host_time_ns"]
found = {tuple(row[:3]): row[3:] for row in sqlite3.connect("t.db").execute("""SELECT d.name, t.path, s.key,
        begin_ns - h.zone_begin_ns, bound_ns FROM device_spans s JOIN device_hosts h ON h.span = s.id
        JOIN devices d ON d.id = s.device JOIN device_tracks t ON t.device = d.id AND t.lane = s.lane""")}
n_wrong = 0
dispatches = json.load(sys.stdin)["dispatches"].values()
for d in dispatches:
    delay, bound = found["device %d" % d["device"], "queue %d" % d["queue"], d["submission"]]
    true = d["begin_mono_ns"] - submitted[d["device"], d["queue"], d["submission"]]
    n_wrong += abs(delay - true) > bound + 1
print(len(dispatches), n_wrong)'
}
holds "the queue delay of IREE's dispatches is right within it" same "299 0" "$(misdelayed)"

# ---- packing that breaks off: what came before is there, by every reader
while read -r file; do
        zstd -dcf "$data/$file" >cut.raw 2>err || cp "$data/$file" cut.raw
        gzip -c cut.raw >cut.gz
        head -c "$(($(stat -c %s cut.gz) * 2 / 3))" cut.gz >cut.part
        holds "$file, cut in its packing" ends_with 0 "$HYPROF" import --force cut.part -o cut.hyp
        holds "$file: where it was cut is said" grep -Eq 'cut off at (line|byte) [0-9]+' err
done <<'END'
iree/gpu.ireeprof.zst
iree/gpu.jsonl.zst
trace_event/kineto_cpu_only.json.zst
trace_event/ninja_log.txt
tt/profile_log_device.csv.zst
tt/report_2025_09.csv.zst
END
holds "a .cpuprofile of few keys" ends_with 1 "$HYPROF" import "$data/trace_event/hostile/not_ours.json" -o no.hyp
holds "is called one" grep -q 'it is a .cpuprofile' err
