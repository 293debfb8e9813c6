#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Reports of ops have what tt-perf-report, ttnn-visualizer and tt-metal's process_ops_logs.py read, row by row
set -u
. tests/tap.sh
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 12
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 HYPROF
unset TT_METAL_HOME TT_METAL_PROFILER_DIR TT_METAL_DEVICE_PROFILER
cd "$TMPDIR" || exit 2

# A model of which two ops are captured in a trace that is replayed twice, with an op of the host, one that the chip's
# buffer lost, and a run of the chip that the host knows nothing of.
cat >model.py <<'END_OF_FILE'
import json, os
import hyprof
from tracy import signpost

COLUMNS = ("PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID,"
           " trace id, trace id counter, zone name, type, source line, source file, meta data")
CYCLES = {"Matmul": 5000, "Add": 800}
rows, described, captured = [], set(), []
now, number, is_capturing = 1000000, 0, False
tensor = {"shape": dict.fromkeys("WZYX", "32[30]"), "layout": "TILE", "dtype": "BFLOAT16",
          "storage_type": {"device_id": 0, "memory_config": {"buffer_type": "dram", "memory_layout": "interleaved"}}}

def run(name, op, trace="", replay=""):
    global now
    for zone, first, last in ("BRISC-FW", 0, 0), ("BRISC-KERNEL", 100, -100):
        for cycle, kind in (now + first, "ZONE_START"), (now + CYCLES[name] + last, "ZONE_END"):
            rows.append((cycle, f"0,1,1,BRISC,1,{cycle},0,{op},{trace},{replay},{zone},{kind},49,brisc.cc,"))
    now += CYCLES[name] + 1000

def call(name, is_lost=False):
    global number
    number += 1024
    details = {"op_code": name, "op_type": "tt_dnn_device", "op_hash": len(name), "device_id": 0, "attributes": {"a": "1, 2"},
               "global_call_count": number, "input_tensors": [tensor, tensor], "output_tensors": [tensor]}
    head = f'`TT_DNN_DEVICE_OP: "{name}", {len(name)}, 0, {int(name in described)}, {number}'
    with hyprof.zone("TT_DNN_DEVICE_OP", text=f"id:{number}"):
        with hyprof.zone("CompileProgram"):
            pass
        hyprof.message(head + ("`" if name in described else " ->\n" + json.dumps(details) + "`"))
    described.add(name)
    if is_capturing:
        captured.append((name, number))
    elif not is_lost:
        run(name, number)

def fallback():
    global number
    number += 1024
    details = {"op_code": "(torch) reshape", "op_type": "python_fallback", "global_call_count": number, "attributes": {},
               "input_tensors": [{**tensor, "storage_type": "HOST"}]}
    with hyprof.zone("TT_DNN_FALLBACK_OP", text=f"id:{number}"):
        hyprof.message(f'`TT_DNN_FALLBACK_OP: "(torch) reshape", {number} ->\n' + json.dumps(details) + "`")

call("Matmul")
call("Add", is_lost=True)
fallback()
hyprof.message("`TT_METAL_TRACE_BEGIN: 0, 7`")
is_capturing = True
call("Matmul")
call("Add")
is_capturing = False
hyprof.message("`TT_METAL_TRACE_END: 0, 7`")
signpost("start", "only replays")
for replay in 1, 2:
    hyprof.message("`TT_METAL_TRACE_REPLAY: 0, 7`")
    for name, op in captured:
        run(name, op, 7, replay)
signpost("stop")
call("Add")
run("Add", 97 << 10)
with open(os.path.join(os.environ["TT_METAL_PROFILER_DIR"], ".logs/profile_log_device.csv"), "w") as file:
    print("ARCH: blackhole, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64", COLUMNS, *(row for _, row in sorted(rows)), sep="\n", file=file)
END_OF_FILE
cat >rows.py <<'END_OF_FILE'
import csv, glob, json
def report(name):
    with open(*glob.glob(f"made/reports/{name}/*/ops_*.csv"), newline="") as file:
        return list(csv.DictReader(file))
ops = [row for row in report("all") if row["OP TYPE"] != "signpost"]
END_OF_FILE
check() { # lines of Python
        printf '%s\n' 'from rows import *' "$@" | PYTHONPATH=. "$python" -
}

holds "a model with a trace" ends_with 0 "$python" -m hyprof --no-samples -p -r -o made -n all model.py
cp out summary
# Both readers look these cells up in each row, and end at the first row that has none.
holds "no row lacks a name, a kind, or the device of its run" check \
        'assert all(row["OP CODE"] and row["OP TYPE"] for row in report("all"))' \
        'assert all(row["DEVICE ID"] == "0" for row in ops if row["OP TYPE"] == "tt_dnn_device"), ops'
holds "an architecture that only the log knows" check \
        'assert {row["DEVICE ARCH"] for row in ops if row["OP TYPE"] == "tt_dnn_device"} == {"blackhole"}'
holds "ops, replays and signposts in the order in which the host asked for them" check \
        'found = [(r["OP CODE"], r["METAL TRACE REPLAY SESSION ID"]) for r in report("all")]' 'assert found == [("Matmul", ""), ("Add", ""),
        ("(torch) reshape", ""), ("Matmul", ""), ("Add", ""), ("start", ""), ("Matmul", "1"), ("Add", "1"), ("Matmul", "2"), ("Add", "2"),
        ("stop", ""), ("Add", ""), ("unknown", "")], found'
holds "latencies to what the chip ran before" check \
        'assert [r["OP TO OP LATENCY [ns]"] for r in ops] == ["0", "", "", "", "", "1200", "1200", "1200", "1200", "1200", "1200"], ops'
holds "an op that was captured has no times of a device itself" check \
        'assert [r["DEVICE KERNEL DURATION [ns]"] for r in ops[3:7]] == ["", "", "4800", "600"], ops[3:7]'
summary() {
        cat summary
        grep -q '^6 ops took .* on the host; 2 signposts; 4 runs by traces$' summary &&
                grep -Eq '^  Matmul +2 ' summary && grep -Eq '^  Add +3 ' summary &&
                grep -qx "  1 op without a run in the device's log: Add 1" summary &&
                grep -qx "  1 run in the device's log without an op of the host" summary
}
holds "the summary counts calls once" summary
between() {
        "$python" -m hyprof ops made/reports/all/*/hyprof.hyp -o made/reports/all/between --start-signpost start --end-signpost stop >between.txt
        check 'rows = list(csv.DictReader(open("made/reports/all/between", newline="")))' \
                'assert [r["OP CODE"] for r in rows] == ["start", "Matmul", "Add", "Matmul", "Add", "stop"], rows' &&
                grep -q '^0 ops took 0 ns on the host; 2 signposts; 4 runs by traces$' between.txt
}
holds "between signposts: the replays that the host asked for there" between
# As process_ops_logs.py reads them: an op that it finds no message for, or a child of none, ends it.
holds "tracy_ops_times.csv names only ops of tracy_ops_data.csv" check 'found, known = {}, {}' \
        'for row in csv.DictReader(open("made/.logs/tracy_ops_data.csv", newline=""), delimiter=";", quotechar="`"):
    head, _, details = row["MessageName"].partition(" ->\n")
    if "_OP:" not in head:
        continue
    one = json.loads(details) if details else dict(known[head.split(",")[1]], global_call_count=int(head.split(",")[4]))
    known[head.split(",")[1]] = found[one["global_call_count"]] = one' \
        'times = list(csv.DictReader(open("made/.logs/tracy_ops_times.csv", newline="")))' \
        'numbers = [int(row["zone_text"].split(":")[-1]) for row in times if "TT_DNN" in row["name"] or "TT_METAL" in row["name"]]' \
        'assert sorted(numbers) == [1024, 2048, 3072, 4096, 5120, 6144] and set(numbers) <= set(found), (numbers, found)' \
        'children = [int(row["special_parent_text"].split(":")[-1]) for row in times if "id:" in row["special_parent_text"]]' \
        'assert len(children) == 5 and set(children) <= set(found), children' \
        'assert all(int(row["ns_since_start"]) > 0 and int(row["exec_time_ns"]) >= 0 for row in times)'
holds "begins, ends and replays of a trace, with two numbers each" check \
        'rows = csv.DictReader(open("made/.logs/tracy_ops_data.csv", newline=""), delimiter=";", quotechar="`")' \
        'found = [(row["MessageName"].split(":")[0], row["MessageName"].split(":")[-1].strip().split(",")) for row in rows if "TRACE" in row["MessageName"]]' \
        'assert found == [("TT_METAL_TRACE_" + word, ["0", " 7"]) for word in ("BEGIN", "END", "REPLAY", "REPLAY")], found'
alone() {
        printf 'from tracy import signpost\nsignpost("alone")\n' >alone.py
        ends_with 0 "$python" -m hyprof --no-samples -r -o made --no-device -n alone alone.py
}
holds "a report without ops" alone
holds "has the columns of a first tensor as well" check \
        'assert {"INPUT_0_MEMORY", "INPUT_0_Y_PAD[LOGICAL]", "OUTPUT_0_DATATYPE"} <= set(report("alone")[0])'
