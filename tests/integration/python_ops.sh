#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# python3 -m hyprof ops: stand-ins for tt-metal's ops, cached, traced, large and malformed, become rows in its columns
set -u
. tests/tap.sh
need sqlite3
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 38
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 HYPROF
unset TT_METAL_HOME TT_METAL_PROFILER_DIR
cd "$TMPDIR" || exit 2

cat >model.py <<'END'
import json, threading, time
import hyprof
from tracy import signpost

def op(number, head, details=None, kind="TT_DNN_DEVICE_OP", seconds=0.0, text=None):
    with hyprof.zone(kind, text=f"id:{number}" if text is None else text):
        with hyprof.zone("CompileProgram"):
            time.sleep(seconds)
        hyprof.message(f"`{kind}: {head}" + ("`" if details is None else " ->\n" + json.dumps(details) + "`"))

tensor = {"shape": {"W": "1[1]", "Z": "1[1]", "Y": "64[50]", "X": "32[32]"}, "layout": "TILE", "dtype": "BFLOAT16"}
on_device = {"device_id": 3, "memory_config": {"buffer_type": "dram", "memory_layout": "interleaved"}}
matmul = {
    "op_code": "Matmul", "op_type": "tt_dnn_device", "op_hash": 77, "device_id": 3, "global_call_count": 1024,
    "device_arch": "wormhole_b0", "parallelization_strategy": "MULTI_CORE", "core_usage": {"count": 56},
    "attributes": {"transpose": "false", "shape": "[1, 2]"},
    "input_tensors": [{**tensor, "storage_type": on_device}],
    "optional_input_tensors": [{**tensor, "storage_type": "HOST"}],
    "output_tensors": [{**tensor, "storage_type": on_device}],
    "kernel_info": {
        "compute_kernels": [{"math_fidelity": "HiFi4", "source": "mm.cpp", "name": "mm/1"}],
        "datamovement_kernels": [{"source": "r.cpp", "name": "r/2"}, {"source": "w.cpp", "name": "w/3"}],
        "kernel_sizes": {"TENSIX_DM_0_MAX_KERNEL_SIZE": 1200, "invented": 5}},
    "performance_model": {"ideal_ns": 10, "compute_ns": 9, "bandwidth_ns": 8, "input_bws": [1.5, 2], "output_bws": [3]},
}
op(1, '"Warm", 5, 0, 1', {"op_code": "Warm", "attributes": {}})
signpost("start", "measured; from, here \"on\"\nand below")
op(1024, '"Matmul", 77, 3, 0, 1024', matmul, seconds=0.02)
time.sleep(0.03)
hyprof.message("`TT_METAL_TRACE_BEGIN: 3, 9`")
op(2048, '"Matmul", 77, 3, 1, 2048')
hyprof.message("`TT_METAL_TRACE_END: 3, 9`")
op(3072, '"Large", 78, 3, 0, 3072', {"op_code": "Large", "attributes": "x" * 200000 + "END", "input_tensors": []})
op(4, '"to_layout", 4', {"op_code": "to_layout", "op_type": "python_fallback"}, kind="TT_DNN_FALLBACK_OP")
signpost("stop")
hyprof.message('`TT_DNN_DEVICE_OP: "Cut", 9, 0, 5 ->\n{"op_code": "C`')
op("9" * 5000, '"Digits", ' + "8" * 5000)
op("\u00b2", '"Square", 1, 2, \u00b2', {"op_code": ["a", "b"], "input_tensors": 7, "kernel_info": [1], "core_usage": 3})
with hyprof.zone("TT_METAL_ENQUEUE"):
    pass
signpost("start")
op(6, '"Late", 80, 0, 6', {"op_code": "Late"})
END
cat >rows.py <<'END'
import csv, sys
csv.field_size_limit(1 << 24)
def read(path):
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        return reader.fieldnames, list(reader)
END
check() { # lines of Python
        printf '%s\n' 'from rows import *' 'columns, rows = read("ops.csv")' 'named = {row["GLOBAL CALL COUNT"]: row for row in rows}' "$@" |
                PYTHONPATH=. "$python" -
}
ops() { # status, arguments
        ends_with "$1" "$python" -m hyprof ops "${@:2}"
}
codes() { # file
        PYTHONPATH=. "$python" -c 'from rows import *; print(*(r["OP CODE"][:9] for r in read(sys.argv[1])[1]))' "$1"
}

holds "stand-ins for ops" ends_with 0 "$python" -m hyprof --no-samples -p model.py
holds "a report" ops 0 hyprof.hyp -o ops.csv --child-functions CompileProgram,INPUT_0_X
cp out summary
# Each column of tt-metal's, in its order: hand-written from reports of its own.
cat >columns <<'END'
OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,AVAILABLE WORKER CORE COUNT
PARALLELIZATION STRATEGY,HOST START TS,HOST END TS,HOST DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE
OP TO OP LATENCY [ns],OP TO OP LATENCY BR/NRISC START [ns],DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns]
DEVICE KERNEL DURATION DM START [ns],DEVICE KERNEL DURATION PER CORE MIN [ns],DEVICE KERNEL DURATION PER CORE MAX [ns]
DEVICE KERNEL DURATION PER CORE AVG [ns],DEVICE KERNEL FIRST TO LAST START [ns],DEVICE BRISC KERNEL DURATION [ns]
DEVICE NCRISC KERNEL DURATION [ns],DEVICE TRISC0 KERNEL DURATION [ns],DEVICE TRISC1 KERNEL DURATION [ns]
DEVICE TRISC2 KERNEL DURATION [ns],DEVICE ERISC KERNEL DURATION [ns],DEVICE COMPUTE CB WAIT FRONT [ns]
DEVICE COMPUTE CB RESERVE BACK [ns],DISPATCH TOTAL CQ CMD OP TIME [ns],DISPATCH GO SEND WAIT TIME [ns]
INPUT_0_W_PAD[LOGICAL],INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],INPUT_0_X_PAD[LOGICAL],INPUT_0_LAYOUT
INPUT_0_DATATYPE,INPUT_0_MEMORY,INPUT_1_W_PAD[LOGICAL],INPUT_1_Z_PAD[LOGICAL],INPUT_1_Y_PAD[LOGICAL]
INPUT_1_X_PAD[LOGICAL],INPUT_1_LAYOUT,INPUT_1_DATATYPE,INPUT_1_MEMORY,OUTPUT_0_W_PAD[LOGICAL],OUTPUT_0_Z_PAD[LOGICAL]
OUTPUT_0_Y_PAD[LOGICAL],OUTPUT_0_X_PAD[LOGICAL],OUTPUT_0_LAYOUT,OUTPUT_0_DATATYPE,OUTPUT_0_MEMORY
METAL TRACE ID,METAL TRACE REPLAY SESSION ID,COMPUTE KERNEL SOURCE,COMPUTE KERNEL HASH,DATA MOVEMENT KERNEL SOURCE
DATA MOVEMENT KERNEL HASH,PROGRAM HASH,PROGRAM CACHE HIT,TENSIX DM 0 MAX KERNEL SIZE [B],TENSIX DM 1 MAX KERNEL SIZE [B]
TENSIX COMPUTE 0 MAX KERNEL SIZE [B],TENSIX COMPUTE 1 MAX KERNEL SIZE [B],TENSIX COMPUTE 2 MAX KERNEL SIZE [B]
ACTIVE ETH DM 0 MAX KERNEL SIZE [B],ACTIVE ETH DM 1 MAX KERNEL SIZE [B],IDLE ETH DM 0 MAX KERNEL SIZE [B]
IDLE ETH DM 1 MAX KERNEL SIZE [B],PM IDEAL [ns],PM COMPUTE [ns],PM BANDWIDTH [ns],PM REQ I BW,PM REQ O BW,PM FPU UTIL (%)
NOC UTIL (%),MULTICAST NOC UTIL (%),DRAM BW UTIL (%),DRAM BW UTIL PER CTRL (%),ETH BW UTIL (%),NPE CONG IMPACT (%)
CompileProgram_TT_HOST_FUNC [ns]
END
holds "its columns, in their order" same "$(paste -sd , columns)" "$(head -n 1 ops.csv | tr -d '\r')"
holds "a row for each op and signpost, in the order of their begins" same \
        "Warm start Matmul Matmul Large to_layout stop Cut TT_DNN_DE Digits TT_DNN_DE ['a'; 'b' start Late" "$(codes ops.csv)"
holds "an op: facts of its JSON" check 'r = named["1024"]' 'assert [r[c] for c in ("OP TYPE", "DEVICE ID", "DEVICE ARCH", "ATTRIBUTES",
        "MATH FIDELITY", "CORE COUNT", "PARALLELIZATION STRATEGY", "PROGRAM HASH", "PROGRAM CACHE HIT", "METAL TRACE ID")] == [
        "tt_dnn_device", "3", "wormhole_b0", "{'"'transpose': 'false'; 'shape': '[1; 2]'"'}", "HiFi4", "56", "MULTI_CORE", "77", "False", ""], r'
holds "its tensors" check 'r = named["1024"]' 'assert [r[c] for c in ("INPUT_0_Y_PAD[LOGICAL]", "INPUT_0_LAYOUT", "INPUT_0_DATATYPE",
        "INPUT_0_MEMORY", "INPUT_1_MEMORY", "OUTPUT_0_MEMORY")] == ["64[50]", "TILE", "BFLOAT16", "DEV_3_DRAM_INTERLEAVED", "HOST",
        "DEV_3_DRAM_INTERLEAVED"], r'
holds "its kernels and model" check 'r = named["1024"]' 'assert [r[c] for c in ("COMPUTE KERNEL SOURCE", "DATA MOVEMENT KERNEL HASH",
        "TENSIX DM 0 MAX KERNEL SIZE [B]", "PM IDEAL [ns]", "PM REQ I BW")] == ["['"'mm.cpp'"']", "['"'r/2'; 'w/3'"']", "1200", "10", "[1.5; 2]"], r'
holds "its times on the host" check 'r = named["1024"]' \
        'assert int(r["HOST END TS"]) - int(r["HOST START TS"]) == int(r["HOST DURATION [ns]"]) >= 20000000' \
        'assert 20000000 <= int(r["CompileProgram_TT_HOST_FUNC [ns]"]) <= int(r["HOST DURATION [ns]"])'
holds "from the cache: what the first call said" check 'r = named["2048"]' 'assert [r[c] for c in ("OP CODE", "ATTRIBUTES", "INPUT_0_MEMORY",
        "PROGRAM CACHE HIT")] == ["Matmul", named["1024"]["ATTRIBUTES"], "DEV_3_DRAM_INTERLEAVED", "True"], r'
holds "captured in a trace" check 'assert named["2048"]["METAL TRACE ID"] == "9" and named["3072"]["METAL TRACE ID"] == ""'
holds "texts over 64 KiB are whole" check 'assert named["3072"]["ATTRIBUTES"] == "x" * 200000 + "END"'
holds "an op of the host" check 'assert [named["4"][c] for c in ("OP CODE", "OP TYPE")] == ["to_layout", "python_fallback"]'
holds "signposts" check 'r = [r for r in rows if r["OP TYPE"] == "signpost"]' \
        'assert [(x["OP CODE"], x["ATTRIBUTES"]) for x in r] == [("start", "measured; from, here \"on\"\nand below"), ("stop", ""), ("start", "")]' \
        'assert all(int(x["HOST START TS"]) > 0 and x["HOST END TS"] == x["GLOBAL CALL COUNT"] == "" for x in r)'
holds "columns about devices are empty" check 'empty = columns[columns.index("DEVICE FW START CYCLE"):columns.index("INPUT_0_W_PAD[LOGICAL]")]' \
        'assert len(empty) == 21 and all(row[c] == "" for row in rows for c in empty)'
summary() {
        local line
        cat summary
        for line in '^11 ops took [0-9.]+ ms on the host; 3 signposts$' '^  Matmul +2 ' '^  Warm +1 ' '^  rows: ops.csv$' \
                '^  [0-9.]+ ms in [0-9]+ gaps between ops of one thread; the longest, [3-9][0-9.]* ms, before Matmul 2048$' \
                '^  1 message with malformed JSON; the ops have no attributes$' '^  3 ops without a zone, and so without a duration$'; do
                grep -Eq "$line" summary || return 1
        done
        line=$(sed -n '/^  op /,/^$/s/.* \([0-9.]*\)%.*/\1/p' summary) # the most time comes first
        same 6 "$(wc -w <<<"$line")" && same "$line" "$(sort -rn <<<"$line")"
}
holds "the summary: time by op, the gaps" summary
holds "--start-signpost" ops 0 hyprof.hyp -o from.csv --start-signpost stop
holds "from there on" same "stop Cut TT_DNN_DE Digits TT_DNN_DE ['a'; 'b' start Late" "$(codes from.csv)"
holds "--end-signpost" ops 0 hyprof.hyp -o between.csv --start-signpost start --end-signpost stop
lacks_nothing() { ! grep -E 'JSON|without' out; }
holds "what ops outside of the bounds lack is not counted" lacks_nothing
holds "from the first to the first after it" same "start Matmul Matmul Large to_layout stop" "$(codes between.csv)"
standard_output() { ops 0 hyprof.hyp -o - --end-signpost start && cp out piped.csv && same "Warm start" "$(codes piped.csv)"; }
holds "-o -" standard_output
"$HYPROF" query -q --sqlite ops.db hyprof.hyp
holds "a database that query wrote" ops 0 ops.db -o from_db.csv --child-functions CompileProgram
holds "has the same rows" cmp ops.csv from_db.csv
# Runs on devices: one, two replays of a trace, and one that the host does not know; the other ops lack theirs.
cp ops.db devices.db
sqlite3 devices.db 'DROP TABLE IF EXISTS device_ops; CREATE TABLE device_ops(chip INTEGER, run_host_id INTEGER, trace INTEGER, replay INTEGER, cores INTEGER,
        "DEVICE FW START CYCLE" INTEGER, "DEVICE FW DURATION [ns]" INTEGER, "OP TO OP LATENCY [ns]" INTEGER);
        INSERT INTO device_ops VALUES(3, 1024, NULL, NULL, 64, 2170884415953, 11725, 0), (3, 2048, 9, 1, 64, 5, 6, NULL),
        (3, 2048, 9, 2, 64, 7, 8, -9), (3, 5120, NULL, NULL, 8, 9, 10, 11), (2, 3072, NULL, NULL, 8, 9, 10, 11)'
holds "a database with runs on devices" ops 0 devices.db -o devices.csv
cp out devices.txt
on_devices() { # lines of Python
        check 'rows = read("devices.csv")[1]' 'of = lambda n: [r for r in rows if r["GLOBAL CALL COUNT"] == n]' "$@"
}
holds "an op has its columns, and keeps those of the host" on_devices 'r, = of("1024")' 'assert [r[c] for c in ("OP CODE", "DEVICE ID",
        "CORE COUNT", "DEVICE FW START CYCLE", "DEVICE FW DURATION [ns]", "OP TO OP LATENCY [ns]", "DEVICE ERISC KERNEL DURATION [ns]")] == [
        "Matmul", "3", "56", "2170884415953", "11725", "0", ""], r'
holds "a replayed op has a row for its call and for each replay" on_devices 'assert [[r[c] for c in ("OP CODE", "METAL TRACE ID",
        "METAL TRACE REPLAY SESSION ID", "DEVICE FW DURATION [ns]", "OP TO OP LATENCY [ns]")] for r in of("2048")] == [
        ["Matmul", "9", "", "", ""], ["Matmul", "9", "1", "6", ""], ["Matmul", "9", "2", "8", "-9"]], of("2048")'
holds "runs without an op are kept; another chip's is not taken" on_devices \
        'assert [(r["OP CODE"], r["DEVICE ID"]) for r in of("5120")] == [("unknown", "3")]' \
        'assert [(r["OP CODE"], r["DEVICE ID"], r["DEVICE FW DURATION [ns]"]) for r in of("3072")] == [("Large", "3", ""), ("unknown", "2", "10")]'
lacking() {
        cat devices.txt
        grep -Eq "^  [0-9]+ ops without a run in the device's log: .*Large 1" devices.txt &&
                grep -q "^  2 runs in the device's log without an op of the host" devices.txt && ! grep "device's log" summary
}
holds "what has no counterpart is counted and named" lacking

bad_input() {
        ops 1 hyprof.hyp --start-signpost none && grep -q "there is no signpost 'none'; there are: start, stop" err &&
                ops 1 hyprof.hyp --start-signpost stop --end-signpost ended && grep -q "there is no signpost 'ended' after the first" err &&
                ops 1 nowhere.hyp && grep -q 'cannot open nowhere.hyp: No such file' err &&
                ops 1 model.py && grep -q 'hyprof query cannot read model.py' err &&
                ops 1 hyprof.hyp -o nowhere/ops.csv && grep -q 'cannot write nowhere/ops.csv' err &&
                ops 1 --hyprof /no/such hyprof.hyp && grep -q "there is no program '/no/such'" err && ops 2
}
holds "bad input gets words" bad_input

# Numbers begin anew in each process, come again in one, and another thread than the zone's may send the message.
cat >again.py <<'END'
import json, multiprocessing, threading, time
import hyprof

def send(number, name, device, text=""):
    hyprof.message(f'`TT_DNN_DEVICE_OP: "{name}", 7, {device}, 0, {number}' + text + "`")

def op(number, name, device, seconds):
    with hyprof.zone("TT_DNN_DEVICE_OP", text=f"id:{number}"):
        send(number, name, device, " ->\n" + json.dumps({"attributes": name}))
        time.sleep(seconds)

def rank(number, wait, wake):
    wait.wait()
    hyprof.message(f"`TT_METAL_TRACE_BEGIN: 0, {number + 40}`")
    op(1, f"rank{number}", 0, 0.01 * number)
    wait.clear()
    wake.set()
    wait.wait()
    with hyprof.zone("TT_DNN_DEVICE_OP", text="id:2"):
        send(2, f"cached{number}", 0)
    wake.set()

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    events = [context.Event(), context.Event()]
    ranks = [context.Process(target=rank, args=(i + 1, events[i], events[1 - i])) for i in range(2)]
    for process in ranks:
        process.start()
    events[0].set()
    for process in ranks:
        process.join()
    op(1, "first", 5, 0.04)
    op(1, "second", 6, 0.0)
    with hyprof.zone("TT_DNN_DEVICE_OP", text="id:9"):
        thread = threading.Thread(target=send, args=(9, "elsewhere", 8))
        thread.start()
        thread.join()
END
table_of() { find "generated/profiler/reports/$1" -name 'ops_perf_results_*.csv'; } # name of the report
again() {
        ends_with 0 "$python" -m hyprof --no-samples -r -n again again.py && ! grep 'without a zone' out
}
holds "numbers that come again, in other processes and in one" again
each_has_its_own() {
        cut -d , -f 1-4,6,11-13 "$(table_of again)"
        check "rows = read('$(table_of again)')[1]" \
                'found = [[r[c] for c in ("OP CODE", "GLOBAL CALL COUNT", "DEVICE ID", "ATTRIBUTES", "METAL TRACE ID")] for r in rows]' \
                'assert found == [["rank1", "1", "0", "rank1", "41"], ["rank2", "1", "0", "rank2", "42"],
        ["cached1", "2", "0", "rank1", "41"], ["cached2", "2", "0", "rank2", "42"],
        ["first", "1", "5", "first", ""], ["second", "1", "6", "second", ""], ["elsewhere", "9", "8", "", ""]], found' \
                'ms = [int(r["HOST DURATION [ns]"]) / 1e6 for r in rows]' 'assert ms[0] >= 10 and ms[1] >= 20 and ms[4] >= 40, ms'
}
holds "each row has its own name, device, attributes and duration" each_has_its_own

cat >no_object.py <<'END'
import hyprof
for number, text in enumerate(("[1, 2]", "7", "null", "", "{}")):
    with hyprof.zone("TT_DNN_DEVICE_OP", text=f"id:{number}"):
        hyprof.message(f'`TT_DNN_DEVICE_OP: "op {number}", {number + 20}, 3, 0, {number} ->\n{text}`')
END
no_object() {
        ends_with 0 "$python" -m hyprof --no-samples -r -n object no_object.py &&
                { grep '4 messages with malformed JSON' out || { cat out && return 1; }; } &&
                check "rows = read('$(table_of object)')[1]" 'found = [(r["OP CODE"], r["PROGRAM HASH"], r["DEVICE ID"]) for r in rows]' \
                        'assert found == [(f"op {i}", str(20 + i), "3") for i in range(5)], found'
}
holds "JSON that is not an object is malformed; the line above it counts" no_object

# Each is refused or malformed in a moment, though none of it is of a form that is seen.
cat >long.py <<'END'
from hyprof import ops
for end in (" ", "-", " -", " ->", "`", "\\", "x", ",", "\n", " \n"):
    for begin in ('`TT_OP: "x', '`TT_OP: "x"', '`TT_OP: "x" ->', '`TT_OP: "x", 1 ->\n{'):
        ops._parse_op(begin + end * 1000000 + "\n!", 0, 1)
END
holds "a message of a megabyte takes no longer than its length" ends_with 0 timeout 60 "$python" long.py

# A report says on stderr what it may lack, whatever it writes.
"$HYPROF" query -q --force --sqlite losses.db generated/profiler/.logs/hyprof.hyp
ops_of() { # exit status, arguments of ops
        ends_with "$1" "$python" -m hyprof ops "${@:2}"
}
missing_said() { # 1 or 0: is it said
        same "$1" "$(grep -cx 'hyprof ops: events of the program are missing, and so ops may be; try: hyprof report losses.db' err)"
}
nothing_lost() { sqlite3 losses.db 'INSERT INTO losses VALUES (13, NULL, 5, 0)' && ops_of 0 losses.db && missing_said 0; }
some_lost() { sqlite3 losses.db 'INSERT INTO losses VALUES (19, NULL, 5, 0)' && ops_of 0 losses.db -o - && missing_said 1; }
holds "timestamps that were adjusted are no loss" nothing_lost
holds "messages that were dropped are" some_lost
cut_off() {
        head -c "$(($(stat -c %s generated/profiler/.logs/hyprof.hyp) * 9 / 10))" generated/profiler/.logs/hyprof.hyp >cut.hyp && ops_of 0 cut.hyp &&
                grep -q '^hyprof: warning: cut.hyp: cut off at byte' err
}
holds "a trace that is cut off is warned of" cut_off
no_room() { ops_of 1 losses.db -o /dev/full && grep -x 'hyprof ops: cannot write /dev/full: No space left on device' err; }
no_room_for_text() {
        "$python" -m hyprof ops losses.db >/dev/full 2>err
        same 1 $? && grep -x 'hyprof ops: cannot write standard output: No space left on device' err
}
holds "no room for the rows" no_room
holds "no room for standard output" no_room_for_text
