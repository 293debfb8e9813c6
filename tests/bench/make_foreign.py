#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A large file of another tool.  Usage: make_foreign.py FORMAT ROWS >FILE, in the sources' folder."""
import json
import struct
import subprocess
import sys
from typing import Callable, Iterator

DATA = "tests/data/import"


def unpacked(path: str) -> bytes:
    return subprocess.run(["zstd", "-dcq", f"{DATA}/{path}"], check=True, stdout=subprocess.PIPE).stdout


def trace_event(n: int) -> Iterator[str]:
    """As many bytes a row as PyTorch writes; a tenth of the rows are kernels on a device."""
    yield '{"schemaVersion": 1,"deviceProperties": [{"id": 0}],"traceEvents": [\n'
    for i in range(n):
        us = f"17121954{i * 11:08d}.{i % 1000:03d}"
        end = "},\n" if i + 1 < n else "}\n"
        if i % 10 == 9:
            yield ('{"ph": "X","cat": "kernel","name": "void at::native::elementwise_kernel_%d","pid": 0,"tid": 7,"ts": %s,'
                   '"dur": %d.%03d,"args": {"External id": %d,"device": 0,"stream": 7,"correlation": %d,"grid": [%d,1,1]}'
                   % (i % 97, us, i % 50, i % 1000, i, i, i % 512)) + end
        else:
            yield ('{"ph": "X","cat": "cpu_op","name": "aten::operation_%d","pid": 1102,"tid": %d,"ts": %s,"dur": %d.%03d,'
                   '"args": {"External id": %d,"Record function id": 0,"Ev Idx": %d}'
                   % (i % 331, 1102 + i % 4, us, i % 50, i % 1000, i, i)) + end
    yield '],"displayTimeUnit": "ns"}\n'


def iree_lines(n: int) -> Iterator[str]:
    lines = unpacked("iree/gpu.jsonl.zst").decode().splitlines()
    work = [(line, json.loads(line)) for line in lines if '"record_type":"dispatch_event"' in line and '"valid":true' in line]
    yield from (line + "\n" for line in lines if '"dispatch_event"' not in line)
    for i in range(n):
        line, row = work[i % len(work)]
        by = i // len(work) * 2500000
        line = line.replace(str(row["start_tick"]), str(row["start_tick"] + by), 1)
        line = line.replace(str(row["end_tick"]), str(row["end_tick"] + by), 1)
        yield line.replace(f'"submission_id":{row["submission_id"]}', f'"submission_id":{i}', 1) + "\n"


def iree_container(n: int) -> Iterator[bytes]:
    """The chunks of dispatches of a file again and again, later each time."""
    data = unpacked("iree/gpu.ireeprof.zst")
    at = struct.unpack_from("<I", data, 8)[0]
    yield data[:16] + bytes(8)
    work = []
    while at < len(data):
        length = struct.unpack_from("<Q", data, at)[0]
        record = bytearray(data[at:at + length])
        header, n_type, n_name = struct.unpack_from("<III", record, 56)
        if b"profile.dispatch-events" in record[:header + n_type]:
            work.append((record, header + n_type + n_name))
        yield bytes(record)
        at += length
    done = 0
    while done < n:
        for record, first in work:
            row = first
            while row < len(record):
                begin, end = struct.unpack_from("<QQ", record, row + 72)
                struct.pack_into("<QQ", record, row + 72, begin + 2500000, end + 2500000)
                row += struct.unpack_from("<I", record, row)[0]
                done += 1
            yield bytes(record)


def tt_device(n: int) -> Iterator[str]:
    yield "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
    yield ("PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, "
           "trace id counter, zone name, type, source line, source file, meta data\n")
    for i in range(n // 4):
        op, core = divmod(i, 320)
        risc = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")[core % 5]
        at = f"0,{core // 5 % 8 + 1},{core // 40 + 1},{risc}"
        begin = 10000000 + op * 20000 + core
        for timer, kind, what, time in ((1001, "FW", "START", 0), (1002, "KERNEL", "START", 500),
                                        (1002, "KERNEL", "END", 9000), (1001, "FW", "END", 9900)):
            yield (f"{at},{timer},{begin + time},0,{op * 1024},,,{risc}-{kind},ZONE_{what},10,"
                   "tt_metal/hw/firmware/src/brisc.cc,\n")


def ninja_log(n: int) -> Iterator[str]:
    yield "# ninja log v5\n"
    for i in range(n):
        end = i * 3 + 100 + i % 100
        yield f"{i * 3}\t{end}\t{1700000000000000000 + end * 1000000}\tobj/folder/file{i}.o\t{i * 2654435761 % 2**64:x}\n"


def ftrace(n: int) -> Iterator[str]:
    yield "# tracer: nop\n#\n"
    for i in range(n // 2):
        head = f"         python3-{28269 + i % 4}   [00{i % 2}] d..2.  {3258 + i / 50000:.6f}: tracing_mark_write: "
        yield f"{head}B|{28269 + i % 4}|operation {i % 331}\n{head}E|{28269 + i % 4}\n"


def otlp(n: int) -> Iterator[str]:
    """Requests with four calls each, as the collector's file exporter writes them: 500 spans a line."""
    for batch in range(n // 500):
        spans = []
        for i in range(batch * 500, batch * 500 + 500):
            request, part = divmod(i, 5)
            begin = 1700000000000000000 + request * 20000 + part * 3000
            parent = f"{request * 5 + 5:016x}" if part < 4 else ""
            spans.append(
                f'{{"traceId":"{request + 1:032x}","spanId":"{i + 1:016x}","parentSpanId":"{parent}","name":"operation {i % 331}",'
                f'"kind":{2 if part == 4 else 1},"startTimeUnixNano":"{begin if part < 4 else begin - 12000}",'
                f'"endTimeUnixNano":"{begin + 2500}","attributes":[{{"key":"http.route","value":{{"stringValue":"/items/{i % 97}"}}}},'
                f'{{"key":"thread.id","value":{{"intValue":"{4711 + request % 4}"}}}}],"status":{{}}}}')
        yield ('{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},'
               '{"key":"process.pid","value":{"intValue":"4711"}}]},"scopeSpans":[{"scope":{"name":"lib"},"spans":['
               + ",".join(spans) + "]}]}]}\n")


def rocprof(n: int) -> Iterator[str]:
    yield open(f"{DATA}/text/kernel_trace_2025.csv", encoding="utf-8").readline()
    for i in range(n):
        yield (f'"KERNEL_DISPATCH","Agent 2",{i % 4},0,70,{i},33,"void kernel_{i % 97}<float, 4>(float*, int)",{i},'
               f"{172352210005122 + i * 4000},{172352210005122 + i * 4000 + 3000},0,0,12,4,48,256,1,1,{i % 512},1,1\n")


def tracy_csv(n: int) -> Iterator[str]:
    yield "name,src_file,src_line,ns_since_start,exec_time_ns,thread,value\n"
    for i in range(n):
        yield f"operation {i % 331},src/main.cpp,{i % 331 + 10},{i * 4000},{3000 + i % 700},{i % 4 + 1},\n"


def simple_csv(n: int) -> Iterator[str]:
    yield "name,process,thread,begin_us,duration_us,device,lane,key,key_kind\n"
    for i in range(n):
        if i % 10 == 9:
            yield f"kernel {i % 97},,,{i * 4}.125,3.5,gpu 0,{i % 3},{i},correlation\n"
        else:
            yield f"operation {i % 331},4711,{4711 + i % 4},{i * 4}.125,3.25,,,{i},correlation\n"


MAKERS: dict[str, Callable[[int], Iterator[str] | Iterator[bytes]]] = {
    "trace-event": trace_event, "ireeperf-jsonl": iree_lines, "ireeprof": iree_container, "tt-device": tt_device,
    "ninja-log": ninja_log, "ftrace": ftrace, "rocprofv3": rocprof, "otlp": otlp, "tracy-csv": tracy_csv, "csv": simple_csv,
}


def main() -> None:
    for part in MAKERS[sys.argv[1]](int(sys.argv[2])):
        sys.stdout.buffer.write(part if isinstance(part, bytes) else part.encode())


main()
