#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import: every real file, by its format, has the spans, lengths and moments of its truth, and every view takes the trace
set -u
. tests/tap.sh
need sqlite3 zstd
data=$PWD/tests/data/import
cd "$TMPDIR" || exit 2

# file, format, spans of threads and devices, values, moments, ns of all spans, ns from the first begin to the last end, and
# the ns of all spans with one name.  All sums of trace-event JSON with X events only are those that another reader makes in
# decimals, as are all of one name; of IREE's programs those of one name are `iree-profile statistics`', of header_v3 those
# of its rows.  The rest is what hyprof made of the files when this was written: it may not change unnoticed.
table() {
        grep -v '^#' <<'END'
iree/local_sync_matmul.ireeprof ireeprof 0 30 0 0 26773392 13468178 main_dispatch_0_matmul_64x64x64_f32=13371834
iree/local_sync_matmul.jsonl.zst ireeperf-jsonl 0 30 0 0 26773392 13468178 main_dispatch_0_matmul_64x64x64_f32=13371834
iree/local_task_softmax.ireeprof ireeprof 0 30 0 0 38484779 45149374 main_dispatch_1_softmax_64x64xf32=15604888
iree/local_task_softmax.jsonl.zst ireeperf-jsonl 0 30 0 0 38484779 45149374 main_dispatch_1_softmax_64x64xf32=15604888
iree/local_task_regions.ireeprof ireeprof 0 50 0 0 167173829 57398493 command_region=55948049
iree/local_task_regions.jsonl.zst ireeperf-jsonl 0 50 0 0 167173829 57398493 command_region=55948049
iree/one_of_each_record.ireeprof ireeprof 0 5 0 0 930 2045 -
iree/one_of_each_record.jsonl ireeperf-jsonl 0 5 0 0 930 2045 -
iree/gpu.ireeprof.zst ireeprof 0 899 0 0 127093495 20665161 -
iree/gpu.jsonl.zst ireeperf-jsonl 0 899 0 0 127093495 20665161 -
iree/gpu_cut.ireeprof.zst ireeprof 0 674 0 0 94753514 16266892 -
trace_event/chromium_part.json.zst trace-event 3159 0 0 321 548126000 176388000 -
trace_event/clang_time_trace.json.zst trace-event 4733 0 94 0 16700374000 2499812000 ExecuteCompiler=2499812000
trace_event/kineto_cpu_only.json.zst trace-event 2467 0 0 0 250549000 75542000 aten::to=6606000
trace_event/kineto_cuda_event_sync.json.zst trace-event 24 9 0 2 11285000 3154000 aten::sum=73000
trace_event/kineto_cuda_simple_add.json.zst trace-event 699 139 0 2 306668311000 41602354000 aten::empty_strided=24610368000
trace_event/kineto_cupti_counters.json.zst trace-event 2247 77 0 3 109939346000 11849544000 aten::conv2d=5474764000
trace_event/kineto_rocm_mi250.json.zst trace-event 95 18 0 10 52276266 9761878 ProfilerStep#1=10319659
trace_event/kineto_triton.json.zst trace-event 7 1 0 2 13693360730 13690136806 triton_poi_fused_add_cos_sin_0=97572
trace_event/ninja_trace.json trace-event 4 0 0 0 2976000000 2579000000 prog=227000000
trace_event/ninja_trace.json.gz trace-event 4 0 0 0 2976000000 2579000000 prog=227000000
trace_event/node_trace.json.zst trace-event 48 0 0 6 41743000 28402000 V8.GCScavenger=848000
trace_event/ninja_log.txt ninja-log 4 0 0 0 2976000000 2579000000 prog=227000000
tt/profile_log_device.csv.zst tt-device 0 1040 0 0 5657319 269723 -
tt/header_v1.csv tt-device 0 0 0 0 0 0 -
tt/header_v3.csv tt-device 0 4 0 0 102405 921161445 BRISC-FW=97565
tt/report_2025_signposts.csv.zst tt-device 21 21 0 6 13925118 2972247340 -
tt/report_2025_09.csv.zst tt-device 621 621 0 50 1069063589 85214810146 -
tt/report_2026_8_chips.csv.zst tt-device 208 208 0 0 91285227 90331848650 -
END
}

sums="WITH s AS (SELECT begin_ns AS b, begin_ns + duration_ns AS e, duration_ns AS d FROM zones
                 UNION ALL SELECT begin_ns, end_ns, duration_ns FROM device_spans)
      SELECT (SELECT count(*) FROM zones), (SELECT count(*) FROM device_spans), (SELECT count(*) FROM plots),
             (SELECT count(*) FROM messages), coalesce(sum(d), 0), coalesce(max(e) - min(b), 0) FROM s"
of_name() { # names have no blanks in the table
        sqlite3 t.db "SELECT sum(d) FROM (SELECT location AS l, duration_ns AS d FROM zones
                UNION ALL SELECT location, duration_ns FROM device_spans)
                JOIN locations ON id = l WHERE replace(name, ' ', '_') = '$1'"
}

views() {
        local r=0
        "$HYPROF" check t.hyp >view.txt || r=1
        "$HYPROF" report t.hyp >view.txt || r=1
        "$HYPROF" report --devices t.hyp >view.txt || r=1
        "$HYPROF" report --json t.hyp >view.txt || r=1
        "$HYPROF" csv -u t.hyp >view.txt || r=1
        return $r
}

exports() {
        local r=0 format
        for format in perfetto chrome firefox html; do
                "$HYPROF" export "$format" -q --force t.hyp -o "t.$format" && [ -s "t.$format" ] || r=1
        done
        return $r
}

plan $((6 * $(table | wc -l) + $(table | grep -c '=') + 14))
"$BUILD/tools/made_trace" many base.hyp 2000 100
ops() { "$HYPROF" dump "$1" | grep -c "^$2 " || true; }
n_base=$(ops base.hyp zone_begin)
while read -r file format zones spans values moments total extent name; do
        rm -f t.db
        holds "$file" ends_with 0 "$HYPROF" import --force "$data/$file" -o t.hyp
        holds "$file is $format" grep -q "($format)" err
        "$HYPROF" query -q --sqlite t.db t.hyp
        holds "$file: as many, as long, as far" same "$zones $spans $values $moments $total $extent" "$(sqlite3 -separator ' ' t.db "$sums")"
        [ "$name" = - ] || holds "$file: ${name%=*}" same "${name##*=}" "$(of_name "${name%=*}")"
        "$HYPROF" import -q --force --clock raw --into base.hyp "$data/$file" -o into.hyp
        holds "$file on a recording's timeline" same "$((n_base + zones)) $spans" "$(ops into.hyp zone_begin) $(ops into.hyp device_span)"
        holds "$file in views" views
        holds "$file in exports" exports
done < <(table)

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
