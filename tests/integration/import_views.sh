#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import: every view and every export takes the trace of a file of each format
set -u
. tests/tap.sh
data=$PWD/tests/data/import
cd "$TMPDIR" || exit 2

files() {
        cat <<'END'
iree/local_task_regions.ireeprof
iree/gpu_cut.ireeprof.zst
trace_event/clang_time_trace.json.zst
trace_event/kineto_cuda_simple_add.json.zst
trace_event/kineto_cupti_counters.json.zst
trace_event/node_trace.json.zst
trace_event/ninja_log.txt
tt/profile_log_device.csv.zst
tt/header_v1.csv
tt/report_2025_signposts.csv.zst
perfetto/chrome_headless.pftrace.zst
text/trace_marker.txt
text/kernel_trace_2025.csv
END
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

plan $((3 * $(files | wc -l)))
while read -r file; do
        holds "$file" "$HYPROF" import -q --force "$data/$file" -o t.hyp
        holds "$file in views" views
        holds "$file in exports" exports
done < <(files)
