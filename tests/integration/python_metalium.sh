#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# python3 -m hyprof -r as tt-metal's users call it: a program with a stand-in for ttnn, whose device log its runtime writes
set -u
. tests/tap.sh
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
"$python" -c 'import pytest' 2>/dev/null || skip_all "pytest is not installed"
plan 33
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 HYPROF
unset TT_METAL_HOME TT_METAL_PROFILER_DIR TT_METAL_DEVICE_PROFILER
cd "$TMPDIR" || exit 2

# Operations as tt-metal's runtime describes them, and the log of the chip that runs them: 2 cores, the second 10 cycles later.
cat >ttnn.py <<'END_OF_FILE'
import atexit, json, os
import hyprof

COLUMNS = ("PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID,"
           " trace id, trace id counter, zone name, type, source line, source file, meta data")
CYCLES = {"Matmul": 5000, "Add": 800}
rows, described, state = [], set(), {"number": 0, "cycle": 1000000}
is_full = False  # the chip's buffer: a run leaves no row

def run_on_chip(name, number):
    if os.environ.get("TT_METAL_DEVICE_PROFILER") != "1" or is_full:
        return
    begin, end = state["cycle"], state["cycle"] + CYCLES[name]
    for x in 1, 2:
        for zone, first, last in ("BRISC-FW", begin, end), ("BRISC-KERNEL", begin + 100, end - 100):
            for cycle, kind in (first, "ZONE_START"), (last, "ZONE_END"):
                cycle += 10 * (x - 1)
                rows.append((x, cycle, f"0,{x},1,BRISC,{len(zone)},{cycle},0,{number},,,{zone},{kind},49,brisc.cc,"))
    state["cycle"] = end + 1000

def operation(name):
    state["number"] += 1024
    number, is_hit = state["number"], name in described
    tensor = {"shape": dict.fromkeys("WZYX", "32[30]"), "layout": "TILE", "dtype": "BFLOAT16",
              "storage_type": {"device_id": 0, "memory_config": {"buffer_type": "dram", "memory_layout": "interleaved"}}}
    details = {"op_code": name, "op_type": "tt_dnn_device", "op_hash": len(name), "device_id": 0, "attributes": {"dims": "[1, 2]"},
               "global_call_count": number, "input_tensors": [tensor], "output_tensors": [tensor],
               "performance_model": {"ideal_ns": 10, "compute_ns": 12, "bandwidth_ns": 8, "input_bws": [1], "output_bws": [2]}}
    with hyprof.zone("TT_DNN_DEVICE_OP", text=f"id:{number}"):
        with hyprof.zone("CompileProgram"):
            pass
        head = f'`TT_DNN_DEVICE_OP: "{name}", {len(name)}, 0, {int(is_hit)}, {number}'
        hyprof.message(head + ("`" if is_hit else " ->\n" + json.dumps(details) + "`"))
        described.add(name)
    run_on_chip(name, number)

def matmul(): operation("Matmul")
def add(): operation("Add")

@atexit.register
def write_log():
    if not rows:
        return
    folder = os.path.join(os.environ["TT_METAL_PROFILER_DIR"], ".logs")
    with open(os.path.join(folder, "profile_log_device.csv"), "w") as file:
        print("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64", COLUMNS, sep="\n", file=file)
        print(*(row for _, _, row in sorted(rows)), sep="\n", file=file)
END_OF_FILE
cat >test_model.py <<'END_OF_FILE'
import ttnn
from tracy import Profiler, signpost

def test_layer():
    profiler = Profiler()
    profiler.enable()
    ttnn.matmul()
    signpost("start", "measured; from, here")
    ttnn.matmul()
    ttnn.add()
    profiler.disable()
    signpost("stop")
    ttnn.is_full = True
    ttnn.add()

def test_other():
    raise SystemError("it was not chosen")
END_OF_FILE
cat >rows.py <<'END_OF_FILE'
import csv, glob, sys
def read(folder):
    with open(*glob.glob(folder + "/ops_perf_results_*.csv"), newline="") as file:
        return list(csv.DictReader(file))
END_OF_FILE
tracy() { # exit status, arguments
        ends_with "$1" "$python" -m hyprof --no-samples "${@:2}"
}
check() { # lines of Python
        printf '%s\n' 'import os' 'from rows import *' "$@" | PYTHONPATH=. "$python" -
}

# ---- what users type, and what they find then
holds "a module and its arguments in one word" tracy 0 -p -r -o made -m "pytest -q test_model.py::test_layer -k 'layer or nothing'"
cp out summary
cp err said
one_test() { grep -q '^1 passed' summary && ! grep 'other' summary; }
holds "they reach it as a shell would read them" one_test
folder=$(echo made/reports/*)
folder_is_dated() { echo "$folder" | grep -Ex 'made/reports/[0-9]{4}(_[0-9]{2}){5}'; }
holds "a report in a folder of its date" folder_is_dated
holds "named after it" [ -s "$folder/ops_perf_results_$(basename "$folder").csv" ]
holds "with the log of the device" cmp made/.logs/profile_log_device.csv "$folder/profile_log_device.csv"
holds "and a trace" ends_with 0 "$HYPROF" check "$folder/hyprof.hyp"
has_both() { "$HYPROF" report --devices --json "$folder/hyprof.hyp" | jq -e '.devices.rows[0].count == 12'; }
holds "that has the spans of the device" has_both
columns() {
        check "rows = read('$folder')" 'found = [[r[c] for c in ("OP CODE", "GLOBAL CALL COUNT", "CORE COUNT", "DEVICE FW DURATION [ns]",
        "DEVICE KERNEL DURATION [ns]", "DEVICE KERNEL FIRST TO LAST START [ns]", "PM FPU UTIL (%)")] for r in rows]' 'assert found == [
        ["Matmul", "1024", "2", "5010", "4810", "10", "0.249"], ["start"] + [""] * 6, ["Matmul", "2048", "2", "5010", "4810", "10", "0.249"],
        ["Add", "3072", "2", "810", "610", "10", "1.967"], ["stop"] + [""] * 6, ["Add", "4096", "", "", "", "", ""]], found'
}
holds "a row for each op and signpost, with the columns of the device" columns
holds "an op whose run the device lost is named" grep -qx "  1 op without a run in the device's log: Add 1" summary
times() {
        check 'rows = list(csv.DictReader(open("made/.logs/tracy_ops_times.csv")))' \
                'ops = [r for r in rows if r["name"] == "TT_DNN_DEVICE_OP"]' \
                'assert [r["zone_text"] for r in ops] == ["id:1024", "id:2048", "id:3072", "id:4096"], ops' \
                'assert all(r["src_file"].endswith("ttnn.py") and int(r["src_line"]) > 0 and int(r["exec_time_ns"]) > 0 for r in ops)' \
                'assert [(r["name"], r["special_parent_text"]) for r in rows[1::2]] == [("CompileProgram", r["zone_text"]) for r in ops]'
}
holds "tracy_ops_times.csv: ops and their child functions" times
data() {
        check 'rows = list(csv.DictReader(open("made/.logs/tracy_ops_data.csv", newline=""), delimiter=";", quotechar="`"))' \
                'texts = [r["MessageName"] for r in rows]' 'assert all(int(r["total_ns"]) > 0 for r in rows)' 'import json' \
                'assert [t.split(":")[0] for t in texts] == ["TT_DNN_DEVICE_OP", "TT_SIGNPOST"] + ["TT_DNN_DEVICE_OP"] * 2 + ["TT_SIGNPOST", "TT_DNN_DEVICE_OP"], texts' \
                'assert json.loads(texts[0].split(" ->\n")[1])["op_code"] == "Matmul" and texts[2].endswith(", 1, 2048")' \
                'assert texts[1] == "TT_SIGNPOST: start\nmeasured; from, here", texts[1]'
}
holds "tracy_ops_data.csv: messages as they were sent" data
holds "--process-logs-only: the same again" tracy 0 --process-logs-only -o made -n again
again() {
        check "import glob" "import os" "again, = glob.glob('made/reports/again/*')" "assert read(again) == read('$folder')" \
                'name, = glob.glob(again + "/*.csv"), ' 'assert f"{again}/ops_perf_results_again_{os.path.basename(again)}.csv" in name, name'
}
holds "under the name that -n gives" again
holds "a second run" tracy 0 -p -r -o made --no-device -m pytest -q test_model.py::test_layer
of_its_own() {
        local last
        last=$(find made/reports -mindepth 1 -maxdepth 1 -name '2*' | sort | tail -n 1)
        [ "$last" != "$folder" ] && [ ! -e made/.logs/profile_log_device.csv ] && [ ! -e "$last/profile_log_device.csv" ] &&
                check "rows = read('$last')" 'assert len(rows) == 6 and all(r["DEVICE FW DURATION [ns]"] == "" for r in rows)'
}
holds "has a folder of its own, and no log of the run before; --no-device: no columns of devices" of_its_own
no_words_of_devices() { ! grep device err out; }
holds "nor words about them" no_words_of_devices

# ---- the runtime's environment
cat >environment.py <<'END_OF_FILE'
import os
print(*sorted(f"{name.removeprefix('TT_METAL_').removeprefix('PROFILER_')}={value}" for name, value in os.environ.items()
              if name.startswith(("TT_METAL_", "TTNN_"))))
END_OF_FILE
environment() { # variables, options
        rm -rf e
        tracy 0 -o e "${@:2}" environment.py && same "$1" "$(sed "s:$PWD/::g" out | head -n 1)"
}
default="DIR=e TRACE_TRACKING=1 TTNN_OP_PROFILER=1"
holds "with -r" environment "CPP_POST_PROCESS=1 DEVICE_PROFILER=1 $default" -r
holds "without" environment "DIR=e"
holds "--no-device, which undoes what was set" env TT_METAL_DEVICE_PROFILER=1 TT_METAL_PROFILER_NO_CACHE_OP_INFO=1 bash -c "$(declare -f environment tracy ends_with same)
        python='$python' environment 'CPP_POST_PROCESS=1 $default' -r --no-device"
holds "options that exclude the runtime's analysis" environment "DEVICE_PROFILER=1 DIR=e SUM=1 TRACE_TRACKING=1 TTNN_OP_PROFILER=1" -r --enable-sum-profiling
holds "traces of the NoC, counters, switches" environment \
        "DEVICE_PROFILER=1 DEVICE_PROFILER_NOC_EVENTS=1 DEVICE_PROFILER_NOC_EVENTS_RPT_PATH=e/.logs DIR=e DISABLE_DUMP_TO_FILES=1 DISABLE_PUSH_TO_TRACY=1 PROFILE_PERF_COUNTERS=47 TRACE_TRACKING=1 TTNN_OP_PROFILER=1" \
        -r --collect-noc-traces --profiler-capture-perf-counters fpu,all --disable-device-data-dump-to-files --disable-device-data-push-to-tracy
bad_words() {
        tracy 2 --profiler-capture-perf-counters fpu,gpu environment.py && grep -q "there is no group 'gpu' of counters; there are: fpu, pack" err &&
                tracy 2 -m "pytest 'x" && grep -q "pytest 'x: No closing quotation" err &&
                tracy 1 --process-logs-only -o nowhere && grep -q 'no report of ops: there is no recording nowhere/.logs/hyprof.hyp' err
}
holds "bad input gets words" bad_words
holds "the folder of the environment" env TT_METAL_PROFILER_DIR="$PWD/there" "$python" -m hyprof --no-samples -r environment.py
holds "is where the report goes" [ -n "$(find there/reports -name 'ops_perf_results_*.csv')" ]

# ---- a program that is none of Python's, and a log that is none
cp /bin/echo program
of_a_program() { tracy 0 -o program-out program --some words && same "--some words" "$(cat out)" && "$HYPROF" check program-out/hyprof.hyp; }
holds "an ELF file is recorded as it is" of_a_program
cat >breaks_log.py <<'END_OF_FILE'
import os, ttnn
ttnn.add()
ttnn.rows.clear()
with open(os.environ["TT_METAL_PROFILER_DIR"] + "/.logs/profile_log_device.csv", "w") as file:
    file.write("no log\n")
END_OF_FILE
broken() {
        tracy 0 -r -o broken breaks_log.py && grep -q 'columns about devices stay empty: hyprof import cannot read broken/.logs' err &&
                [ -n "$(find broken/reports -name 'ops_perf_results_*.csv')" ]
}
holds "a device log that cannot be read: a report without its columns" broken
no_log() { tracy 0 -r -o none environment.py && grep -q 'columns about devices stay empty: the program wrote no none/.logs/profile_log_device.csv' err; }
holds "none at all: it is said" no_log

# ---- the modules that tests of models import
cat >perf.py <<'END_OF_FILE'
import os, subprocess, sys
from pathlib import Path
from tracy import Profiler, signpost, process_ops_logs
from tracy.common import (PROFILER_ARTIFACTS_DIR, PROFILER_DEVICE_SIDE_LOG, PROFILER_LOGS_DIR, PROFILER_OUTPUT_DIR, TT_METAL_HOME,
                          clear_profiler_runtime_artifacts, generate_logs_folder, rm)
from tracy.device_post_proc_config import default_setup
from tracy.process_device_log import extract_device_info, import_log_run_stats
from tracy.process_model_log import (get_latest_ops_log_filename, get_profiler_folder, get_samples_per_s, post_process_ops_log,
                                     run_device_profiler)
from tracy.process_ops_logs import get_device_data_generate_report, process_ops

def profiles():
    clear_profiler_runtime_artifacts()
    run_device_profiler("pytest -q test_model.py::test_layer -k 'layer or nothing'", "bert", device_analysis_types=["x"])
    kernel, host = "DEVICE KERNEL DURATION [ns]", "HOST DURATION [ns]"
    assert post_process_ops_log("bert", [kernel])[kernel] == 2 * 4810 + 610
    assert post_process_ops_log("bert", [kernel], has_signposts=True)[kernel] == 4810 + 610
    assert post_process_ops_log("bert", [kernel, host], op_name="Add")[kernel] == 610
    path = get_latest_ops_log_filename("bert")
    assert path.parent.parent == Path("generated/profiler/bert/reports").resolve() and path.exists(), path
    assert get_samples_per_s(2e9, 8) == 4

def fails():
    run_device_profiler("pytest -q test_model.py::test_nowhere", "bad", check_test_return_code=False)
    try:
        run_device_profiler("pytest -q test_model.py::test_nowhere", "bad")
    except subprocess.CalledProcessError as error:
        assert error.returncode == 4, error

def reports_again():
    folder = get_profiler_folder("bert")
    before = get_latest_ops_log_filename("bert").read_text()
    process_ops(folder, None, True)
    assert get_latest_ops_log_filename("bert").read_text() == before
    process_ops(folder, "alone", False, device_only=True)
    table = folder / "reports/alone/ops_perf_results_alone.csv"
    assert [line.split(",")[2] for line in table.read_text().splitlines()[1:]] == ["1024", "2048", "3072"]
    try:
        process_ops("/nowhere")
    except RuntimeError as error:
        assert "stderr says why" in str(error)

def reads_logs():
    logs = generate_logs_folder(get_profiler_folder("bert"))
    log = logs / PROFILER_DEVICE_SIDE_LOG
    assert extract_device_info(log) == ("wormhole_b0", 1000, 64)
    rows = get_device_data_generate_report(logs, None, None, None, export_csv=False, cleanup_device_log=True)
    assert [(row["GLOBAL CALL COUNT"], row["DEVICE KERNEL DURATION [ns]"]) for row in rows] == [
        (1024, "4810"), (2048, "4810"), (3072, "610")], rows
    assert not log.exists() and get_device_data_generate_report(logs, None, None, None) == []

def refuses():
    setup = default_setup()
    setup.deviceInputLog = "x"
    for call in (lambda: import_log_run_stats(setup), lambda: process_ops_logs.import_tracy_op_logs("x")):
        try:
            call()
        except NotImplementedError as error:
            assert "() is not in hyprof's package: " in str(error), error
        else:
            raise AssertionError("it was called")

{name: value for name, value in globals().items() if callable(value)}[sys.argv[1]]()
END_OF_FILE
perf() { ends_with 0 env PYTHONPATH="$BUILD/python:$BUILD/python/hyprof/compat" "$python" perf.py "$1"; }
holds "run_device_profiler, and the newest report" perf profiles
holds "of a command that fails" perf fails
holds "process_ops" perf reports_again
holds "the device log alone" perf reads_logs
holds "what is not there says so when it is called" perf refuses
as_module() {
        rm -rf generated && ends_with 0 env PYTHONPATH="$BUILD/python:$BUILD/python/hyprof/compat" "$python" -m tracy -p -r -m pytest -q test_model.py::test_layer &&
                [ -n "$(find generated/profiler/reports -name 'ops_perf_results_*.csv')" ]
}
holds "python -m tracy" as_module
