#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import of several files: keys of one kind and number join within a file or a set of files, not with those of others
set -u
. tests/tap.sh
plan 11
need jq
cd "$TMPDIR" || exit 2

# Two ranks: each has an operation and its kernel, all with the number 7.
for rank in 0 1; do
        cat >"rank$rank.json" <<END
{"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "launch_$rank", "pid": 10, "tid": 1$rank, "ts": 1${rank}00, "dur": 5, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "kernel_$rank", "pid": 0, "tid": 7, "ts": 1${rank}20, "dur": $((rank + 1)), "args": {"stream": 7, "correlation": 7}}]}
END
done
# Two runs of rocprofv3, each with its calls and its kernels in tables of their own.
for run in 1 2; do
        printf '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n"HIP","call_%s",5,%s,7,%s000,%s010\n' \
                "$run" "$run" "$run" "$run" >"run${run}_hip_api_trace.csv"
        printf '"Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n"KERNEL_DISPATCH",1,1,1,"k",7,%s100,%s10%s\n' \
                "$run" "$run" "$run" >"run${run}_kernel_trace.csv"
done
imported() { "$HYPROF" import -q --force -o "$@"; }
joined() { # trace: each operation with the ns of its kernels
        "$HYPROF" report --devices --json "$1" | jq -r '[.host_operations.rows[] | "\(.name)=\(.spans)x\(.total_ns)"] | sort | join(" ")'
}
kinds() { "$HYPROF" report --devices --json "$1" | jq -r '[.keys.rows[].space] | sort | join(", ")'; }

holds "one file" imported one.hyp rank0.json
holds "its kind is called as in the file" same correlation "$(kinds one.hyp)"
holds "two files" imported two.hyp rank0.json rank1.json
holds "each kernel belongs to the operation of its file" same "launch_0=1x1000 launch_1=1x2000" "$(joined two.hyp)"
holds "each kind says its file" same "correlation (rank0.json), correlation (rank1.json)" "$(kinds two.hyp)"
mkdir other && cp rank1.json other/rank0.json
imported same.hyp rank0.json other/rank0.json
holds "files of one name are two" same "launch_0=1x1000 launch_1=1x2000" "$(joined same.hyp)"
imported later.hyp --clock raw --into one.hyp rank1.json
holds "one after the other" same "launch_0=1x1000 launch_1=1x2000" "$(joined later.hyp)"
imported tables.hyp run1_hip_api_trace.csv run1_kernel_trace.csv
holds "tables of one run join" same "call_1=1x1" "$(joined tables.hyp)"
imported runs.hyp run1_hip_api_trace.csv run2_kernel_trace.csv run1_kernel_trace.csv run2_hip_api_trace.csv
holds "those of two runs join within a run" same "call_1=1x1 call_2=1x2" "$(joined runs.hyp)"
gzip -k run2_kernel_trace.csv
imported packed.hyp run1_hip_api_trace.csv run1_kernel_trace.csv run2_hip_api_trace.csv run2_kernel_trace.csv.gz
holds "packed as well" same "call_1=1x1 call_2=1x2" "$(joined packed.hyp)"
imported halves.hyp run1_hip_api_trace.csv run2_kernel_trace.csv
holds "files with one of both sides alone are parts of one" same "call_1=1x2" "$(joined halves.hyp)"
