# SPDX-License-Identifier: MIT
"""Folders, environment and reports of `-r`: as tt-metal's profiler leaves them, so that its users' scripts find them.

    FOLDER/.logs/hyprof.hyp                         the recording
    FOLDER/.logs/profile_log_device.csv             and other logs: tt-metal's runtime writes them
    FOLDER/.logs/tracy_ops_{times,data}.csv         ops of the host, for tt-metal's own scripts
    FOLDER/reports/[NAME/]DATE/                     a report:
        ops_perf_results_[NAME_]DATE.csv            a row for each op
        profile_log_device.csv                      a copy
        hyprof.hyp                                  the recording, with what the chips did

FOLDER is -o, else $TT_METAL_PROFILER_DIR, else generated/profiler in $TT_METAL_HOME or here.
"""
from __future__ import annotations

import optparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Sequence

LOGS = ".logs"
REPORTS = "reports"
DEVICE_LOG = "profile_log_device.csv"
TRACE = "hyprof.hyp"

# Options that are nothing but a variable for tt-metal's runtime.
FLAGS = {
    "--no-op-info-cache": "TT_METAL_PROFILER_NO_CACHE_OP_INFO",
    "--profile-dispatch-cores": "TT_METAL_DEVICE_PROFILER_DISPATCH",
    "--enable-sum-profiling": "TT_METAL_PROFILER_SUM",
    "--sync-host-device": "TT_METAL_PROFILER_SYNC",
    "--device-trace-profiler": "TT_METAL_TRACE_PROFILER",
    "--device-memory-profiler": "TT_METAL_MEM_PROFILER",
    "--dump-device-data-mid-run": "TT_METAL_PROFILER_MID_RUN_DUMP",
    "--disable-device-data-dump-to-files": "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES",
    "--disable-device-data-push-to-tracy": "TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY",
    "--collect-noc-traces": "TT_METAL_DEVICE_PROFILER_NOC_EVENTS",
    "--cpp-post-process": "TT_METAL_PROFILER_CPP_POST_PROCESS",
}

# Bits of TT_METAL_PROFILE_PERF_COUNTERS.
COUNTERS = {"fpu": 1, "pack": 2, "unpack": 4, "l1_0": 8, "l1_1": 16, "instrn": 32, "l1_2": 64, "l1_3": 128, "l1_4": 256,
            "all": 1 | 2 | 4 | 8 | 32}

# With one of these the runtime leaves the analysis of its log to scripts.
_WITHOUT_ANALYSIS = ("TT_METAL_PROFILER_SUM", "TT_METAL_DEVICE_PROFILER_DISPATCH")


def _say(words: str) -> None:
    print(f"hyprof: {words}", file=sys.stderr)


def find_folder(output: str) -> str:
    """FOLDER; output: what -o says, or nothing."""
    home = os.environ.get("TT_METAL_HOME") or "."
    return output or os.environ.get("TT_METAL_PROFILER_DIR") or os.path.join(home, "generated", "profiler")


def count_groups(names: str) -> int:
    """The bits of a list of groups of counters; ValueError for a group that is not known."""
    bits = 0
    for name in filter(None, names.lower().split(",")):
        if name not in COUNTERS:
            raise ValueError(f"there is no group {name!r} of counters; there are: {', '.join(COUNTERS)}")
        bits |= COUNTERS[name]
    return bits


def set_environment(options: optparse.Values, folder: str) -> None:
    """Passes the options on to tt-metal's runtime; folder: FOLDER, or where traces go without -r."""
    environment = os.environ
    flags = list(options.device_flags or [])
    bits = count_groups(options.counters)
    for variable in flags:
        environment[variable] = "1"
    if options.op_support_count is not None:
        environment["TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT"] = str(options.op_support_count)
    if options.output_folder or options.report:
        environment["TT_METAL_PROFILER_DIR"] = os.path.abspath(folder)
    if "TT_METAL_DEVICE_PROFILER_NOC_EVENTS" in flags:
        environment["TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH"] = os.path.abspath(os.path.join(folder, LOGS))
    if bits:
        environment["TT_METAL_PROFILE_PERF_COUNTERS"] = str(bits)
    if not options.report:
        return
    environment["TTNN_OP_PROFILER"] = environment["TT_METAL_PROFILER_TRACE_TRACKING"] = "1"
    if FLAGS["--no-op-info-cache"] not in flags:
        environment.pop(FLAGS["--no-op-info-cache"], None)
    if options.no_device:
        environment.pop("TT_METAL_DEVICE_PROFILER", None)
    else:
        environment["TT_METAL_DEVICE_PROFILER"] = "1"
    if not (options.no_runtime_analysis or bits or any(variable in flags for variable in _WITHOUT_ANALYSIS)):
        environment["TT_METAL_PROFILER_CPP_POST_PROCESS"] = "1"


def clear_logs(folder: str) -> None:
    """Makes FOLDER/.logs anew: logs of an earlier run would be taken for this one's."""
    logs = os.path.join(folder, LOGS)
    if os.path.lexists(logs):
        shutil.rmtree(logs)
    os.makedirs(logs)


def make_report_folder(reports: str, name: str, is_dated: bool = True) -> tuple[str, str]:
    """The folder of a report, made, and the path of its table.  Two reports of one second get a second each."""
    moment = datetime.now()
    while True:
        date = moment.strftime("%Y_%m_%d_%H_%M_%S") if is_dated else ""
        place = os.path.join(reports, *filter(None, (name, date)))
        try:
            os.makedirs(place, exist_ok=not is_dated)
        except FileExistsError:
            moment += timedelta(seconds=1)
            continue
        return place, os.path.join(place, "_".join(filter(None, ("ops_perf_results", name, date))) + ".csv")


@dataclass
class Report:
    """What a report is made of."""

    folder: str
    recorder: str  # the program hyprof
    recording: str = ""  # default: that of FOLDER; not read with is_host=False
    name: str = ""
    is_dated: bool = True
    is_host: bool = True
    is_device: bool = True
    arguments: Sequence[str] = ()  # further ones of `ops`

    def _import_log(self, trace: str) -> bool:
        """Makes the trace, with what the device log says.  False: there is none, or it cannot be read, which was said."""
        logs = os.path.join(self.folder, LOGS)
        log = os.path.join(logs, DEVICE_LOG)
        if not os.path.exists(log):
            _say(f"columns about devices stay empty: the program wrote no {log}")
            return False
        into = ["--into", self.recording] if self.is_host else []
        done = subprocess.run([self.recorder, "import", *into, "-o", trace, "--force", logs],
                              stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            _say(f"columns about devices stay empty: hyprof import cannot read {logs}")
            return False
        shutil.copy(log, os.path.dirname(trace))
        return True

    def _make_trace(self, trace: str) -> bool:
        has_devices = self.is_device and self._import_log(trace)
        if not has_devices and self.is_host:
            shutil.copy(self.recording, trace)
        return has_devices or self.is_host

    def make(self) -> int:
        """Returns 0, or 1 if a part of it cannot be made, which was said."""
        from hyprof import ops

        self.recording = self.recording or os.path.join(self.folder, LOGS, TRACE)
        if self.is_host and not os.path.exists(self.recording):
            _say(f"no report of ops: there is no recording {self.recording}")
            return 1
        place, status = "", 1
        try:
            place, table = make_report_folder(os.path.join(self.folder, REPORTS), self.name, self.is_dated)
            trace = os.path.join(place, TRACE)
            if self._make_trace(trace):
                host_logs = ["--host-logs", os.path.join(self.folder, LOGS)] if self.is_host else []
                status = ops.main([trace, "-o", table, "--hyprof", self.recorder, *host_logs, *self.arguments])
        except OSError as error:
            _say(f"no report of ops: {error}")
        if status != 0 and place and self.is_dated:
            shutil.rmtree(place, ignore_errors=True)  # scripts take the newest folder
        return status


def report(options: optparse.Values, folder: str, recording: str, recorder: str) -> int:
    """Makes the report that the options ask for; returns as Report.make() does."""
    arguments = []
    for name in ("start_signpost", "end_signpost", "child_functions"):
        value = getattr(options, name)
        arguments += ["--" + name.replace("_", "-"), value] if value else []
    return Report(folder, recorder, recording, options.name_append, is_device=not options.no_device,
                  arguments=arguments).make()


def split_words(args: Sequence[str]) -> list[str]:
    """`-m "pytest a.py -k x"`: tt-metal's profiler gives its command line to a shell, so its users quote it twice."""
    import shlex

    return [*shlex.split(args[0]), *args[1:]]


def is_program(path: str) -> bool:
    """True for an ELF file: tt-metal's profiler runs those as well."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False
