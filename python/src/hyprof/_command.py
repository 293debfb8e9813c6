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

from hyprof import _metalium, _native

_USAGE = """python3 -m hyprof [options] script.py|folder|file.zip|program [arguments]
       python3 -m hyprof [options] -m module [arguments]
       python3 -m hyprof ops TRACE [-o ops.csv]"""

_ABOUT = """Runs the script or module and records it: a zone for each call of a Python function, samples of call stacks.
A recorder that is there is used, else `hyprof record` is started.  Code of libraries is left out, see --include.
The exit status is the program's; 1: the program succeeded, but the report of -r failed; 2: the options are wrong."""

# Set for the interpreter that the recorder runs, so that it does not start another one.
_INNER = "HYPROF_PYTHON_INNER"

# Options of tt-metal's profiler that have nothing to say here.
_IGNORED_FLAGS = {"--no-web-server": "nothing is served"}
_IGNORED_VALUES = {
    "--port": "no port is used",
    "--device-analysis-types": "all columns are computed",
    "--tracy-tools-folder": "no tool of Tracy is used",
}
_SHORT = {"--port": "-t", "--device-analysis-types": "-a"}


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
    add("--c-calls", action="store_true", default=False,
        help="also a zone for each call of a function written in C; --exclude builtins leaves out Python's own")
    add("-o", "--output-folder", metavar="FOLDER", default="",
        help="where the trace goes, or FILE.hyp, the trace itself; default: here, with -r generated/profiler")
    add("-n", "--name-append", metavar="NAME", default="",
        help="hyprof-NAME.hyp, and not hyprof.hyp; with -r the report is in reports/NAME")
    add("-r", "--report", action="store_true", default=False,
        help="afterwards write a report of ops to FOLDER/reports/DATE; see 'python3 -m hyprof ops --help'")
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
    group = optparse.OptionGroup(parser, "Options of tt-metal's profiler", "For its command lines. Most are passed to "
                                 "the program in its environment.")
    group.add_option("--process-logs-only", action="store_true", default=False,
                     help="run nothing: report the logs of the last -r in FOLDER again")
    group.add_option("--no-device", action="store_true", default=False,
                     help="with -r: without TT_METAL_DEVICE_PROFILER=1, and without columns about devices")
    group.add_option("--no-runtime-analysis", action="store_true", default=False,
                     help="with -r: without TT_METAL_PROFILER_CPP_POST_PROCESS=1")
    group.add_option("--child-functions", metavar="A,B", default="", help="zones inside of ops to report times of")
    group.add_option("--op-support-count", metavar="N", type="int", help="TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT=N")
    group.add_option("--profiler-capture-perf-counters", metavar="A,B", default="", dest="counters",
                     help="TT_METAL_PROFILE_PERF_COUNTERS: " + ", ".join(_metalium.COUNTERS))
    for flag, variable in _metalium.FLAGS.items():
        group.add_option(flag, action="append_const", const=variable, dest="device_flags", help=variable + "=1")
    for flag, why in _IGNORED_FLAGS.items():
        group.add_option(flag, action="store_true", dest="ignored", help=f"no effect: {why}")
    for flag, why in _IGNORED_VALUES.items():
        names = filter(None, (_SHORT.get(flag), flag))
        group.add_option(*names, metavar="X", dest="ignored", help=f"no effect: {why}")
    parser.add_option_group(group)
    return parser


def _names_trace(options: optparse.Values) -> bool:
    """True for -o FILE.hyp, as with `hyprof record`, unless there is a folder of that name."""
    return options.output_folder.endswith(".hyp") and not os.path.isdir(options.output_folder)


def _find_folder(options: optparse.Values) -> str:
    """Where the trace goes; with -r the folder of the reports."""
    folder = os.path.dirname(options.output_folder) or "." if _names_trace(options) else options.output_folder
    return _metalium.find_folder(folder) if options.report else folder or "."


def _find_trace(options: optparse.Values) -> str:
    """The file to record to."""
    if _names_trace(options):
        return str(options.output_folder)
    folder = _find_folder(options)
    if options.report:
        return os.path.join(folder, _metalium.LOGS, _metalium.TRACE)
    return os.path.join(folder, f"hyprof-{options.name_append}.hyp" if options.name_append else "hyprof.hyp")


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


def _command_of(args: Sequence[str], argv: Sequence[str], is_program: bool) -> list[str]:
    """What the recorder is to run: this command again, or a program that is none of Python's."""
    if is_program:
        return [args[0] if os.sep in args[0] else os.path.join(".", args[0]), *args[1:]]
    flags: list[str] = getattr(subprocess, "_args_from_interpreter_flags")()
    return [sys.executable, *flags, "-m", "hyprof", *argv]


def _record(options: optparse.Values, program: str, command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs the command under the recorder."""
    folder, trace = _find_folder(options), _find_trace(options)
    try:
        os.makedirs(folder, exist_ok=True)
        if options.report:
            _metalium.clear_logs(folder)
    except OSError as error:
        _say(f"cannot make the folder {error.filename or folder}: {error.strerror}")
        return 2
    recorder = [program, "record", "-o", trace, *(["--no-sampling"] if options.no_samples else []), "--", *command]
    if options.verbose:
        _say("runs " + " ".join(recorder))
    try:
        if not options.report:
            _become(recorder, environment)
        status = _wait(recorder, environment)
    except OSError as error:
        _say(f"cannot run the recorder {program}: {error.strerror}")
        return 126
    if status == 0 or not options.check_exit_code:
        report_status = _metalium.report(options, folder, trace, program)
        status = status or report_status
    else:
        _say(f"no report of ops: the program ended with status {status}")
    return 128 - status if status < 0 else status


def _report_again(options: optparse.Values) -> int:
    """--process-logs-only"""
    program = _find_recorder(options.hyprof)
    if program is None:
        _say(f"no report of ops: there is no program {options.hyprof!r} to read the recording")
        return 1
    return _metalium.report(options, _find_folder(options), _find_trace(options), program)


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


def _check_device_options(parser: optparse.OptionParser, options: optparse.Values) -> None:
    try:
        _metalium.count_groups(options.counters)
    except ValueError as error:
        parser.error(f"--profiler-capture-perf-counters: {error}")


def _run(options: optparse.Values, args: Sequence[str], argv: Sequence[str], is_program: bool) -> int:
    """Runs the program in this process."""
    from hyprof import _program

    if not is_program:
        return _program.run(options, args)
    command = _command_of(args, argv, is_program)
    try:
        os.execv(command[0], command)
    except OSError as error:
        _say(f"cannot run {command[0]}: {error.strerror}")
        return 126


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Returns the exit status, unless the program ends the process itself."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv[:1] == ["ops"]:
        from hyprof import ops

        return ops.main(argv[1:])
    parser = _make_parser()
    options, args = parser.parse_args(argv)
    _check_device_options(parser, options)
    if options.process_logs_only:
        options.report = True
        return _report_again(options)
    if args and any(map(str.isspace, args[0])) and (options.is_module or not os.path.exists(args[0])):
        try:
            args = _metalium.split_words(args)
        except ValueError as error:
            parser.error(f"{args[0]}: {error}")
    if not args:
        parser.error("no script is given" if not options.is_module else "-m: no module is given")
    if options.c_calls and options.no_zones:
        parser.error("--c-calls asks for zones, and --no-zones for none")
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

    is_program = not options.is_module and _metalium.is_program(args[0])
    _metalium.set_environment(options, _find_folder(options))
    is_inner = os.environ.pop(_INNER, None) is not None
    if _native.is_recording() or is_inner:
        if not is_inner:
            _say_who_records(options)
        return _run(options, args, argv, is_program)
    program = _find_recorder(options.hyprof)
    if program is None:
        _say(f"nothing is recorded: there is no recorder {options.hyprof!r}."
             " Install hyprof, or name it with --hyprof FILE or in $HYPROF; the program runs without it")
        options.no_zones = True
        return _run(options, args, argv, is_program)
    environment = {**os.environ} if is_program else {**os.environ, _INNER: "1"}
    return _record(options, program, _command_of(args, argv, is_program), environment)
