# SPDX-License-Identifier: MIT
"""Writes hostile files of every format that `hyprof import` reads, but trace-event JSON, which has its own.

hostile_imports.py FOLDER; the working directory is the root of the tree.  A file is named FORMAT.MATTER.
"""
import gzip
import os
import struct
import subprocess
import sys

DATA = "tests/data/import/"
LONG = "n" * 70000
BIG = 1 << 64


def unpacked(path):
    return subprocess.run(["zstd", "-dqc", DATA + path], stdout=subprocess.PIPE, check=True).stdout


def plain(path):
    with open(DATA + path, "rb") as file:
        return file.read()


def packed(content, level=0):
    """By itself level 0, which every version of zlib writes alike: so a cut is where it was."""
    return gzip.compress(content, level, mtime=0)


LONG_LINE = packed(b"x" * (65 << 20), 1)


def text_matters(good, first, bad, make, time):
    """Matters that every format of lines has.

    good: a whole small file.  first: how many lines its head has.  bad: a row that is none.
    make(name, begin): a row.  time: how a time is written.
    """
    lines = good.splitlines(keepends=True)
    head, rows = b"".join(lines[:first]), b"".join(lines[first:])
    last = rows.splitlines(keepends=True)[-1].rstrip(b"\r\n")
    yield "empty", b""
    yield "head_only", head
    yield "cut_in_row", head + rows + last[: len(last) // 2]
    yield "crlf", good.replace(b"\n", b"\r\n")
    yield "bom", b"\xef\xbb\xbf" + good
    yield "bad_row_first", head + bad + b"\n" + rows
    yield "bad_row_between", head + rows + bad + b"\n" + rows
    yield "nul_row", head + rows + b"\0" * 100 + b"\n" + rows
    yield "nul_in_name", head + make(b"a\0b", time(10**12))
    yield "not_utf8", head + make(b"a\xff\xfe\xc0\xafb", time(10**12))
    yield "long_name", head + make(LONG.encode(), time(10**12))
    yield "line_of_65_mib", packed(head + rows) + LONG_LINE + packed(b"\n" + rows)
    yield "negative_time", head + rows + make(b"bad", b"-" + time(10**12))
    yield "huge_time", head + rows + make(b"bad", time(BIG * 10**9))
    yield "time_is_no_number", head + rows + make(b"bad", b"NaN")
    yield "twice", good + good
    yield "utf16", good.decode("latin-1").encode("utf-16")
    yield "packed", packed(good)
    yield "packed_cut", packed(good * 20)[:-40]


def number(factor=1):
    return lambda ns: str(ns * factor // 10**9 if factor > 1 else ns).encode()


def csv_files():
    good = b"name,begin,duration\na,1000000,10\nb,2000000,20\nc,1500000,30\n"
    yield from text_matters(good, 1, b"a,b,c", lambda name, begin: b"%b,%b,7\n" % (name, begin), number())
    yield "negative_duration", good + b"d,3000000,-5\n"
    yield "end_before_begin", b"name,begin,end\na,10,20\nb,30,5\nc,40,50\n"
    yield "open_quote", good + b'"never closed,5,6\nx,7,8\n'
    yield "columns_twice", b"name,begin,begin,duration\na,1,2,3\n"
    yield "300_columns", b"name,begin,duration" + b",x" * 300 + b"\na,1,2" + b",y" * 300 + b"\n"
    yield "few_cells", good + b"d\n"
    yield "formula", good + b"=1+1;cmd,3000000,5\n"
    yield "deep_ids", b"name,begin,duration,process,pid,tid\na,1,2,p,99999999999999999999,-1\nb,3,4,p,4294967297,5\n"


def tracy_files():
    good = (b"name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread\n"
            b"a,f.c,1,,,1000,10,1\nb,f.c,2,,,2000,20,1\n")
    yield from text_matters(good, 1, b"a,b,c", lambda name, begin: b"%b,f.c,3,,,%b,7,1\n" % (name, begin), number())
    yield "huge_line", good + b"a,f.c,99999999999,,,3000,5,1\n"


def ftrace_files():
    good = (b"# tracer: nop\n#\n"
            b"   a-1  [000] ..... 100.000001: tracing_mark_write: B|1|one\n"
            b"   a-1  [000] ..... 100.000003: tracing_mark_write: E|1\n")

    def row(name, begin):
        return (b"   a-1  [000] ..... %b: tracing_mark_write: B|1|%b\n   a-1  [000] ..... 99999.9: tracing_mark_write: E|1\n"
                % (begin, name))

    yield from text_matters(good, 2, b"   a-1  [000] ..... x: y", row, lambda ns: b"%d.%09d" % divmod(ns, 10**9))
    yield "end_alone", good + b"   a-1  [000] ..... 101.0: tracing_mark_write: E|1\n"
    yield "never_ends", good + b"   a-1  [000] ..... 101.0: tracing_mark_write: B|1|open\n"
    yield "deep", good + b"".join(b"   a-1  [000] ..... 102.%06d: tracing_mark_write: B|1|d\n" % i for i in range(2000))
    yield "huge_cpu", good + b"   a-1  [99999999999] ..... 103.0: tracing_mark_write: I|1|x\n"
    yield "huge_pid", good + b"   a-99999999999999  [000] ..... 103.0: tracing_mark_write: I|1|x\n"
    yield "value_is_none", good + b"   a-1  [000] ..... 103.0: tracing_mark_write: C|1|x|many\n"


def rocprof_files():
    good = plain("text/kernel_trace_2024.csv")
    yield from text_matters(good, 1, b'"KERNEL_DISPATCH",8', lambda name, begin: (
        b'"KERNEL_DISPATCH",8,1,252734,1,10,"%b",15,%b,4484384343935074,0,0,256,1,1,8192,1,1\n' % (name, begin)), number())
    yield "ends_before_begin", good + b'"KERNEL_DISPATCH",8,1,2,1,10,"k",15,20,10,0,0,256,1,1,8192,1,1\n'
    yield "open_quote", good + b'"KERNEL_DISPATCH",8,1,2,1,10,"k\n'
    yield "no_name", good.replace(b'"Kernel_Name"', b'"Other"', 1)
    yield "huge_queue", good + b'"KERNEL_DISPATCH",8,99999999999999999999,2,1,10,"k",15,10,20,0,0,256,1,1,8192,1,1\n'


def otlp_files():
    good = plain("otlp/spans.jsonl")
    line = good.splitlines(keepends=True)[1]
    span = b'{"traceId":"%032d","spanId":"%016d","name":"%b","startTimeUnixNano":"%b","endTimeUnixNano":"%b"}'

    def one(row):
        return b'{"resourceSpans":[{"scopeSpans":[{"spans":[%b]}]}]}\n' % row

    yield from text_matters(good, 0, one(b"{}").rstrip(), lambda name, begin: one(span % (7, 7, name, begin, begin)), number())
    yield "line_cut_between", good + line[:40] + b"\n" + good
    yield "array_is_no_array", good + line.replace(b'"scopeSpans":[', b'"scopeSpans":{"a":', 1)
    yield "attributes_deep", good + one(span[:-1] % (7, 8, b"a", b"5", b"6") + b',"attributes":[{"key":"k","value":%b}]}' % (
        b'{"arrayValue":{"values":[' * 5000 + b"]}}" * 5000))
    yield "attributes_large", good + one(span[:-1] % (7, 8, b"a", b"5", b"6") + b',"attributes":[%b]}' % (
        b",".join(b'{"key":"k%d","value":{"stringValue":"%b"}}' % (i, b"v" * 900) for i in range(9))))
    yield "ends_before_begin", good + one(span % (7, 8, b"a", b"6", b"5"))
    yield "event_without_time", good + one(span[:-1] % (7, 8, b"a", b"5", b"6") + b',"events":[{"name":"e"}]}')
    yield "id_0", good + one(span % (0, 0, b"a", b"5", b"6"))
    yield "id_is_short", good + one(span.replace(b"%032d", b"%d") % (7, 8, b"a", b"5", b"6"))
    yield "logs", good + b'{"resourceLogs":[{}]}\n{"resourceMetrics":[{},{}]}\n'
    yield "own_parent", good + one(span[:-1] % (7, 8, b"a", b"5", b"6") + b',"parentSpanId":"%016d"}' % 8)
    yield "pid_huge", good + line.replace(b'"4711"', b'"18446744073709551615"').replace(b"mail", b"other")
    yield "span_is_a_number", good + one(b"7")
    yield "time_is_negative", good + one(span % (7, 8, b"a", b"-5", b"6"))
    yield "time_huge", good + one(span % (7, 8, b"a", b"5", b"18446744073709551615"))


def otlp_protobuf_files():
    good = plain("otlp/spans.pb")
    framed = struct.pack(">I", len(good)) + good
    yield from binary_matters(good, 4)
    yield "framed", framed * 2
    yield "framed_cut", framed + framed[:300]
    yield "framed_cut_in_length", framed + framed[:2]
    yield "framed_length_0", framed + bytes(8)
    yield "framed_length_huge", framed + b"\x0f\xff\xff\xff" + good
    yield "field_of_0", good + b"\x00"
    yield "span_broken", good.replace(b"query", b"quer\xff", 1).replace(b"\x2a\x05quer", b"\x2a\x7fquer", 1)
    yield "group", good + b"\x0a\x02\x13\x14"


def ninja_files():
    good = plain("trace_event/ninja_log.txt")
    yield from text_matters(good, 1, b"a\tb", lambda name, begin: b"5\t%b\t1795806615065173857\t%b\tabc\n" % (begin, name),
                            number(10**6))
    yield "newer_version", good.replace(b"v5", b"v999", 1)
    yield "older_version", good.replace(b"v5", b"v3", 1)
    yield "ends_before_begin", good + b"50\t4\t1795806615065173857\tx\tabc\n"


def tt_files():
    good = b"".join(unpacked("tt/profile_log_device.csv.zst").splitlines(keepends=True)[:42])

    def row(name, begin):
        return b"0,1,1,BRISC,1,%b,0,1024,,,%b,ZONE_START,49,b.cc,\n0,1,1,BRISC,1,%d,0,1024,,,%b,ZONE_END,49,b.cc,\n" % (
            begin, name, 10**12 + 50, name)

    yield from text_matters(good, 2, b"0,1,1,BRISC", row, number())
    yield "frequency_0", good.replace(b"CHIP_FREQ[MHz]: 1000", b"CHIP_FREQ[MHz]: 0", 1)
    yield "frequency_is_nan", good.replace(b"CHIP_FREQ[MHz]: 1000", b"CHIP_FREQ[MHz]: nan", 1)
    yield "another_frequency_later", good + good.replace(b": 1000", b": 1350", 1)
    yield "column_missing", good.replace(b"RISC processor type", b"RISC kind", 1)
    yield "end_without_begin", good + b"0,1,1,BRISC,1,5,0,1024,,,X,ZONE_END,49,b.cc,\n"
    yield "unknown_type", good + b"0,1,1,BRISC,1,5,0,1024,,,X,ZONE_HALF,49,b.cc,\n"
    yield "huge_chip", good + b"99999999999,1,1,BRISC,1,5,0,1024,,,X,TS_EVENT,49,b.cc,\n"
    yield "meta_data_is_code", good + b"0,1,1,BRISC,1,5,0,1024,,,X,TS_EVENT,49,b.cc,__import__('os').abort()\n"


def report_files():
    good = b"".join(unpacked("tt/report_2025_09.csv.zst").splitlines(keepends=True)[:4])
    first, rest = good.split(b"\n", 1)
    titles = first.decode().strip().split(",")

    def row(name, begin):
        cells = dict.fromkeys(titles, "")
        cells.update({"GLOBAL CALL COUNT": "7", "DEVICE ID": "0", "OP TYPE": "tt_dnn_device", "DEVICE FW DURATION [ns]": "5",
                      "DEVICE FW END CYCLE": "1000000000050"})
        values = [cells[title].encode() for title in titles]
        values[titles.index("OP CODE")] = name
        values[titles.index("DEVICE FW START CYCLE")] = begin
        return b",".join(values) + b"\n"

    del rest
    yield from text_matters(good, 1, b"Matmul,tt_dnn_device", row, number())


def mutated(good, changes):
    data = bytearray(good)
    for at, value in changes:
        data[at:at + len(value)] = value
    return bytes(data)


def binary_matters(good, magic):
    yield "empty", b""
    yield "magic_only", good[:magic]
    yield "one_byte_less", good[:-1]
    yield "half", good[: len(good) // 2]
    yield "followed_by_zeros", good + b"\0" * 4096
    yield "followed_by_text", good + b"hello\n" * 100
    yield "zeros_between", good[: len(good) // 2] + b"\0" * 512 + good[len(good) // 2:]
    yield "ones_between", good[: len(good) // 2] + b"\xff" * 512 + good[len(good) // 2:]
    yield "twice", good + good


def iree_files():
    good = plain("iree/one_of_each_record.ireeprof")
    yield from binary_matters(good, 4)
    yield "newer_major", mutated(good, [(4, struct.pack("<H", 99))])
    yield "newer_minor", mutated(good, [(6, struct.pack("<H", 999))])
    yield "header_of_0", mutated(good, [(8, struct.pack("<I", 0))])
    yield "header_of_4_gib", mutated(good, [(8, struct.pack("<I", 0xFFFFFFFF))])
    yield "file_length_0", mutated(good, [(16, struct.pack("<Q", 0))])
    yield "file_length_huge", mutated(good, [(16, struct.pack("<Q", BIG - 1))])
    yield "record_of_0", mutated(good, [(24, struct.pack("<Q", 0))])
    yield "record_huge", mutated(good, [(24, struct.pack("<Q", BIG - 1))])
    yield "payload_huge", mutated(good, [(32, struct.pack("<Q", BIG - 1))])


def iree_line_files():
    good = plain("iree/one_of_each_record.jsonl")

    def row(name, begin):
        return (b'{"record_type":"host_execution_event","event_id":1,"op":"dispatch","key":"%b","start_host_time_ns":%b,'
                b'"end_host_time_ns":9999999999999,"physical_device_ordinal":0,"queue_ordinal":0,"stream_id":1}\n' % (name, begin))

    yield from text_matters(good, 1, b'{"record_type":', row, number())
    yield "deep", good + b'{"record_type":"queue_event","a":' + b"[" * 100000 + b"\n"
    yield "newer_schema", good.replace(b'"schema_version":15', b'"schema_version":999', 1)


def pftrace_files():
    good = unpacked("perfetto/chrome_headless.pftrace.zst")[:60000]
    yield from binary_matters(good, 2)
    yield "packet_of_4_gib", b"\x0a\xff\xff\xff\xff\x0f" + good
    yield "varint_of_11_bytes", good + b"\x0a" + b"\xff" * 11
    yield "group", good + b"\x0b\x0a\x00"
    yield "field_0", good + b"\x02\x00"
    yield "bomb", good + b"\x0a\x06\x92\x03\x03\x78\x9c\x63"


def perf_files():
    good = unpacked("perf/perf_fp.data.zst")
    yield from binary_matters(good, 8)
    yield "big_endian", b"2ELIFREP"[::-1][::-1] + good[8:]
    yield "header_of_0", mutated(good, [(8, struct.pack("<Q", 0))])
    yield "attributes_huge", mutated(good, [(32, struct.pack("<Q", BIG - 1))])
    yield "attribute_of_0", mutated(good, [(16, struct.pack("<Q", 0))])
    yield "data_beyond_end", mutated(good, [(40, struct.pack("<Q", 1 << 40))])
    yield "data_wraps", mutated(good, [(48, struct.pack("<Q", BIG - 8))])
    yield "features_all", mutated(good, [(72, b"\xff" * 32)])


FORMATS = {
    "csv": csv_files, "tracy-csv": tracy_files, "ftrace": ftrace_files, "rocprofv3": rocprof_files, "ninja-log": ninja_files,
    "tt-device": tt_files, "tt-report": report_files, "ireeprof": iree_files, "ireeperf-jsonl": iree_line_files,
    "otlp": otlp_files, "otlp-protobuf": otlp_protobuf_files, "pftrace": pftrace_files, "perf.data": perf_files,
}

for name, files in FORMATS.items():
    for matter, content in files():
        with open(os.path.join(sys.argv[1], f"{name}.{matter}"), "wb") as out:
            out.write(content)
