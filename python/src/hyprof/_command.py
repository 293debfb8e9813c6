# SPDX-License-Identifier: MIT
"""The command line of `python3 -m hyprof`: records a script or module, with a zone for each call."""
from __future__ import annotations

import importlib.util
import optparse
import os
import shutil
import signal
import subprocess
import sys
from typing import Mapping, Optional, Sequence

from hyprof import _native

_USAGE = """python3 -m hyprof [options] script.py|folder|file.zip [arguments]
       python3 -m hyprof [options] -m module [arguments]
       python3 -m hyprof ops TRACE [-o ops.csv]"""

_ABOUT = """Runs the script or module and records it: a zone for each call of a Python function, samples of call stacks.
A recorder that is there is used, else `hyprof record` is started.  Code of libraries is left out, see --include.
The exit status is the program's; 1: the program succeeded, but the report of -r failed; 2: the options are wrong."""

# Set for the interpreter that the recorder runs, so that it does not start another one.
_INNER = "HYPROF_PYTHON_INNER"

# Options of Tenstorrent's profiler: what they say to the program goes through the environment.
_DEVICE_FLAGS = {
    "--no-op-info-cache": "TT_METAL_PROFILER_NO_CACHE_OP_INFO",
    "--profile-dispatch-cores": "TT_METAL_DEVICE_PROFILER_DISPATCH",
    "--enable-sum-profiling": "TT_METAL_PROFILER_SUM",
    "--sync-host-device": "TT_METAL_PROFILER_SYNC",
    "--device-trace-profiler": "TT_METAL_TRACE_PROFILER",
    "--device-memory-profiler": "TT_METAL_MEM_PROFILER",
    "--dump-device-data-mid-run": "TT_METAL_PROFILER_MID_RUN_DUMP",
    "--collect-noc-traces": "TT_METAL_DEVICE_PROFILER_NOC_EVENTS",
}
_IGNORED_FLAGS = (
    "--no-device",
    "--process-logs-only",
    "--no-runtime-analysis",
    "--disable-device-data-dump-to-files",
    "--disable-device-data-push-to-tracy",
)
_IGNORED_VALUES = ("--tracy-tools-folder", "--profiler-capture-perf-counters")


def _say(words: str) -> None:
    print(f"hyprof: {words}", file=sys.stderr)


def _make_parser() -> optparse.OptionParser:
    parser = optparse.OptionParser(usage=_USAGE, description=_ABOUT, prog="hyprof-python")
    parser.disable_interspersed_args()
    add = parser.add_option
    add("-m", dest="is_module", action="store_true", default=False, help="run a module, as python3 -m does")
    add("-p", "--partial", action="store_true", default=False,
        help="record calls only between hyprof.Profiler().enable() and disable()")
    add("-l", "--lines", action="store_true", default=False, help="also a zone for each line that runs; slow")
    add("-o", "--output-folder", metavar="FOLDER", default="",
        help="where the trace and reports go, or FILE.hyp, the trace itself; default: here")
    add("-n", "--name-append", metavar="NAME", default="", help="hyprof-NAME.hyp, and not hyprof.hyp")
    add("-r", "--report", action="store_true", default=False,
        help="afterwards write a report of ops: ops_perf_results.csv; see 'python3 -m hyprof ops --help'")
    add("-v", "--verbose", action="store_true", default=False, help="say what is done")
    add("--check-exit-code", action="store_true", default=False, help="with -r: no report if the program fails")
    add("--start-signpost", metavar="HEADER", help="record calls, and with -r report ops, from this signpost on")
    add("--end-signpost", metavar="HEADER", help="up to this one")
    add("--include", metavar="GLOB", action="append", default=[],
        help="also record modules of libraries with this name, and those in them: numpy, 'concurrent.*'")
    add("--exclude", metavar="GLOB", action="append", default=[], help="leave out modules with this name")
    add("--no-zones", action="store_true", default=False, help="samples only: no zone for a call")
    add("--no-samples", action="store_true", default=False, help="zones only: no samples")
    add("--hyprof", metavar="FILE", default=os.environ.get("HYPROF") or "hyprof",
        help="the recorder; default: $HYPROF, else hyprof in PATH")
    group = optparse.OptionGroup(parser, "Options of tt-metal's profiler", "For its command lines. Those about "
                                 "devices are passed to the program in its environment, or have no effect.")
    group.add_option("--child-functions", metavar="A,B", default="", help="zones inside of ops to report times of")
    group.add_option("-t", "--port", metavar="N", help="no effect")
    group.add_option("--op-support-count", metavar="N", type="int", help="TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT")
    group.add_option("-a", "--device-analysis-types", metavar="TYPE", action="append", help="no effect")
    for flag, variable in _DEVICE_FLAGS.items():
        group.add_option(flag, action="append_const", const=variable, dest="device_flags", help=variable + "=1")
    for flag in _IGNORED_FLAGS:
        group.add_option(flag, action="store_true", dest="ignored", help="no effect")
    for flag in _IGNORED_VALUES:
        group.add_option(flag, metavar="X", dest="ignored", help="no effect")
    parser.add_option_group(group)
    return parser


def _names_trace(options: optparse.Values) -> bool:
    """True for -o FILE.hyp, as with `hyprof record`, unless there is a folder of that name."""
    return options.output_folder.endswith(".hyp") and not os.path.isdir(options.output_folder)


def _find_folder(options: optparse.Values) -> str:
    """Where the trace and reports go."""
    return (os.path.dirname(options.output_folder) if _names_trace(options) else options.output_folder) or "."


def _set_environment(options: optparse.Values) -> None:
    for variable in options.device_flags or []:
        os.environ[variable] = "1"
    if options.op_support_count is not None:
        os.environ["TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT"] = str(options.op_support_count)
    if options.output_folder:
        os.environ["TT_METAL_PROFILER_DIR"] = os.path.abspath(_find_folder(options))
    if options.report:
        os.environ["TTNN_OP_PROFILER"] = "1"
        os.environ["TT_METAL_PROFILER_TRACE_TRACKING"] = "1"


# Those of them that are ignored stay ignored.
_PASSED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
              signal.SIGWINCH}


def _wait(command: list[str], environment: Mapping[str, str]) -> int:
    """Runs a command to its end, and passes on signals from processes: those of the terminal reach it anyway."""
    passed_on = {number for number in _PASSED_ON if signal.getsignal(number) != signal.SIG_IGN}
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:  # then its end would never be told
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, passed_on | {signal.SIGCHLD})
    try:
        pid = os.posix_spawn(command[0], command, environment, setsigmask=before,
                             setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
        while True:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended != 0:
                return os.waitstatus_to_exitcode(status)
            told = signal.sigwaitinfo(passed_on | {signal.SIGCHLD})
            if told.si_signo != signal.SIGCHLD and told.si_code <= 0:  # of a process, not of the kernel
                os.kill(pid, told.si_signo)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _become(command: list[str], environment: Mapping[str, str]) -> None:
    """The recorder takes our place, and with it all signals.  Returns if it cannot be run."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = [(number, signal.signal(number, signal.SIG_DFL)) for number in (signal.SIGPIPE, signal.SIGXFSZ)]
    try:
        os.execve(command[0], command, environment)
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _record(options: optparse.Values, program: str, argv: Sequence[str]) -> int:
    """Runs this command again, under the recorder."""
    folder = _find_folder(options)
    suffix = f"-{options.name_append}" if options.name_append else ""
    trace = options.output_folder if _names_trace(options) else os.path.join(folder, f"hyprof{suffix}.hyp")
    report = os.path.join(folder, f"ops_perf_results{suffix.replace('-', '_', 1)}.csv")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        _say(f"cannot make the folder {folder}: {error.strerror}")
        return 2
    flags: list[str] = getattr(subprocess, "_args_from_interpreter_flags")()
    command = [program, "record", "-o", trace]
    command += ["--no-sampling"] if options.no_samples else []
    command += ["--", sys.executable, *flags, "-m", "hyprof", *argv]
    if options.verbose:
        _say("runs " + " ".join(command))
    environment = {**os.environ, _INNER: "1"}
    try:
        if not options.report:
            _become(command, environment)
        status = _wait(command, environment)
    except OSError as error:
        _say(f"cannot run the recorder {program}: {error.strerror}")
        return 126
    if options.report and not (status != 0 and options.check_exit_code):
        from hyprof import ops

        arguments = [trace, "-o", report, "--hyprof", program]
        for name in ("start_signpost", "end_signpost", "child_functions"):
            value = getattr(options, name)
            arguments += ["--" + name.replace("_", "-"), value] if value else []
        report_status = ops.main(arguments)
        status = status or report_status
    elif options.report:
        _say(f"no report of ops: the program ended with status {status}")
    return 128 - status if status < 0 else status


def _say_who_records(options: optparse.Values) -> None:
    """`hyprof record COMMAND` sets the variable; the user may not know of a recorder that records all or attaches."""
    is_known = "HYPROF_RECORDER" in os.environ
    if is_known and not (options.output_folder or options.name_append or options.report):
        return
    _say("another recorder records this program: no trace is written here"
         + ("; for the report of ops: python3 -m hyprof ops TRACE" if options.report else ""))


def _is_module_there(name: str) -> bool:
    """False if it is certainly not.  Nothing is imported, so only the package of a dotted name is looked for."""
    folders = [] if sys.flags.safe_path else [os.getcwd()]
    sys.path[:0] = folders
    try:
        return importlib.util.find_spec(name.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return True  # running it says why
    finally:
        del sys.path[: len(folders)]


def _find_recorder(name: str) -> Optional[str]:
    return shutil.which(name)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Returns the exit status, unless the program ends the process itself."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv[:1] == ["ops"]:
        from hyprof import ops

        return ops.main(argv[1:])
    parser = _make_parser()
    options, args = parser.parse_args(argv)
    if not args:
        parser.error("no script is given" if not options.is_module else "-m: no module is given")
    if options.lines and options.no_zones:
        parser.error("-l asks for a zone for each line, and --no-zones for none")
    if options.no_zones and options.no_samples:
        parser.error("--no-zones and --no-samples leave nothing to record")
    if os.sep in options.name_append:
        parser.error(f"-n: a name without a slash, and not {options.name_append}; -o names a folder")
    if not options.is_module and not os.path.exists(args[0]):
        _say(f"cannot run {args[0]}: there is no such file")
        return 2
    if options.is_module and not _is_module_there(args[0]):
        _say(f"cannot run {args[0]}: No module named {args[0].partition('.')[0]}")
        return 2

    from hyprof import _program

    _set_environment(options)
    is_inner = os.environ.pop(_INNER, None) is not None
    if _native.is_recording() or is_inner:
        if not is_inner:
            _say_who_records(options)
        return _program.run(options, args)
    program = _find_recorder(options.hyprof)
    if program is None:
        _say(f"nothing is recorded: there is no recorder {options.hyprof!r}."
             " Install hyprof, or name it with --hyprof FILE or in $HYPROF; the program runs without it")
        options.no_zones = True
        return _program.run(options, args)
    return _record(options, program, argv)
