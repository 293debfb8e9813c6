#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# python3 -m hyprof: each option does what its help says; programs of each kind run as python3 runs them; bad input gets words
set -u
. tests/tap.sh
need sqlite3 jq
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 91
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 HYPROF
cd "$TMPDIR" || exit 2

run_python() { # exit status, arguments of python3 -m hyprof...
        rm -f hyprof.hyp
        ends_with "$1" "$python" -m hyprof "${@:2}"
}
zones() { # exit status, arguments: without samples
        run_python "$1" --no-samples "${@:2}"
}
counts() { # trace, names: as quoted words
        "$HYPROF" query -q --force --sqlite options.db "$1" &&
                sqlite3 -separator ' ' options.db "SELECT l.name, count(*) FROM zones JOIN locations l ON l.id = location
                        WHERE l.name IN ($2) GROUP BY l.name ORDER BY l.name" | paste -sd ' '
}
says() { # words: of ours
        grep -F -- "$1" err >/dev/null || { cat err && return 1; }
}
refuses() { # words, arguments...: with status 2, before anything runs
        run_python 2 "${@:2}" && says "$1" && [ ! -e hyprof.hyp ]
}

# ---- what is run, and as what: the same as python3 says
mkdir -p app package.d/pack
cat >show.py <<'END'
import sys
def shown(): return sys.argv, __name__, __file__, __package__, __spec__ and __spec__.name, sys.path[0], type(__loader__).__name__
print(shown(), __builtins__.len("abc"), globals().get("__annotations__"))
assert sys.modules["__main__"].shown is shown
END
cp show.py app/__main__.py
cp show.py package.d/pack/__main__.py
: >package.d/pack/__init__.py
(cd app && "$python" -m zipfile -c ../app.zip __main__.py)
"$python" -c 'import py_compile; py_compile.compile("show.py", "compiled.pyc")'
as_python() { # arguments of python3: the program and its own
        "$python" "$@" >wanted 2>&1
        zones 0 "$@" && same "$(cat wanted)" "$(cat out)" && same "shown 1" "$(counts hyprof.hyp "'shown'")"
}
in_package() { (cd package.d && TMPDIR=$PWD as_python -m pack one); }
holds "a script" as_python show.py one -o --two
holds "a script by its full path" as_python "$PWD/show.py"
holds "a folder with __main__.py" as_python app one
holds "a .zip file with __main__.py" as_python app.zip one
holds "a .pyc file" as_python compiled.pyc
holds "-m: a module" as_python -m show one -m two
holds "-m: a package" in_package
safe_path() { "$python" -P show.py >wanted && ends_with 0 "$python" -P -m hyprof --no-samples show.py && same "$(cat wanted)" "$(cat out)"; }
holds "-P of python3 holds for the program" safe_path
holds "hyprof-python" ends_with 0 "$python" "$OLDPWD/python/hyprof-python" --no-samples show.py one
holds "runs it likewise" same "$("$python" show.py one)" "$(cat out)"

# ---- each option
cat >parts.py <<'END'
import hyprof, json, sys
def before(): pass
def inside():
    pass
    pass
def after(): pass
before()
p = hyprof.Profiler()
p.enable()
inside()
p.disable()
hyprof.signpost("begin")
inside()
hyprof.signpost("end")
after()
json.dumps([1])
__import__("collections").namedtuple("Pair", "a b")(1, 2)
END
parts="'<lambda>', 'before', 'inside', 'after', 'dumps', 'JSONEncoder.encode'"
holds "-o, -n: where the trace goes" zones 0 -o results/new -n run7 parts.py
holds "it is there" test -s results/new/hyprof-run7.hyp
holds "each call is a zone" same "after 1 before 1 inside 2" "$(counts results/new/hyprof-run7.hyp "$parts")"
own_trace() { # what -o is given, the trace that is written
        zones 0 -o "$1" parts.py && [ -s "$2" ] && same "after 1 before 1 inside 2" "$(counts "$2" "$parts")"
}
mkdir -p folder.hyp
holds "-o FILE.hyp: the trace itself, in a folder that is made" own_trace made/own.hyp made/own.hyp
holds "-o of a folder of such a name: in it" own_trace folder.hyp folder.hyp/hyprof.hyp
holds "code of libraries is left out, which is said" says "functions of libraries are left out ("
holds "-m: a module of libraries" zones 1 -m json.tool /dev/null
holds "which option records it is said" says "--include json records them"
hints() { # Python: a dict of functions by package; the program
        "$python" -c "from hyprof._filters import Filter; f = Filter(); f.left_out.update($1); print(f.say_left_out('${2-app}'))"
}
names_packages() {
        same "calls of 1 function of libraries are left out (json 1); --include MODULE records them" "$(hints "{'json': 1}")" &&
                same "calls of 3 functions of libraries are left out (pkg 1); --include pkg records them" \
                        "$(hints "{'': 2, 'pkg': 1}" "")" &&
                same "calls of 9 functions of libraries are left out (pkg 2); --include pkg records them" \
                        "$(hints "{'namedtuple__Pair': 7, 'pkg': 2}")" &&
                same "calls of 9 functions of libraries are left out (_app 6, app 3); --include _app records them" \
                        "$(hints "{'app': 3, '_app': 6}")" &&
                same "calls of 9 functions of libraries are left out (app 6, _app 3); --include app records them" \
                        "$(hints "{'app': 6, '_app': 3}")"
}
holds "it names packages that can be included" names_packages
cat >generated.py <<'END'
import code
code.InteractiveInterpreter({}).runsource("def theirs(): pass\ntheirs()\n", "<generated>", "exec")
code.InteractiveInterpreter({}).runsource("def also_theirs(): pass\nalso_theirs()\n", "", "exec")
exec("def ours(): pass\nours()\n", {})
END
holds "generated code" zones 0 generated.py
holds "belongs to the code that calls it" same "ours 1" "$(counts hyprof.hyp "'theirs', 'also_theirs', 'ours'")"
holds "-v" zones 0 -v parts.py
holds "it shows the command" says "hyprof: runs $HYPROF record -o ./hyprof.hyp --no-sampling -- "
holds "-p: between enable and disable" zones 0 -p parts.py
holds "nothing else" same "inside 1" "$(counts hyprof.hyp "$parts")"
holds "-p, and Profiler is never enabled" zones 0 -p show.py
holds "it is said" says "no call was recorded: with -p, Profiler().enable() begins, and it was not called"
holds "--start-signpost, --end-signpost" zones 0 --start-signpost begin --end-signpost end parts.py
holds "and Profiler" same "inside 2" "$(counts hyprof.hyp "$parts")"
holds "a signpost that does not come" zones 0 --start-signpost nowhere show.py
holds "it is said of it" says "no call was recorded: the signpost 'nowhere' did not come"
holds "--include" zones 0 --include 'js*n' parts.py
holds "also a library's modules" same "JSONEncoder.encode 1 after 1 before 1 dumps 1 inside 2" "$(counts hyprof.hyp "$parts")"
holds "--exclude is stronger" zones 0 --include json --exclude json.encoder --exclude __main__ parts.py
holds "only the rest" same "dumps 1" "$(counts hyprof.hyp "$parts")"
holds "-l" zones 0 -l parts.py
line=$(grep -n '^    pass' parts.py | head -n 1 | cut -d : -f 1)
holds "zones of lines" same "inside:$line 2 inside:$((line + 1)) 2" "$(counts hyprof.hyp "'inside:$line', 'inside:$((line + 1))'")"
cat >burns.py <<'END'
import time
def burn():
    end = time.process_time() + 0.3
    while time.process_time() < end: pass
burn()
END
n_samples() { "$HYPROF" query -q --force --sqlite options.db hyprof.hyp && sqlite3 options.db 'SELECT count(*) FROM samples'; }
if "$HYPROF" doctor >/dev/null 2>&1; then
        holds "--no-zones" run_python 0 --no-zones burns.py
        holds "samples alone" same "yes " "$([ "$(n_samples)" -gt 10 ] && echo yes) $(counts hyprof.hyp "'burn'")"
        holds "both" run_python 0 burns.py
        holds "samples and zones" same "yes burn 1" "$([ "$(n_samples)" -gt 10 ] && echo yes) $(counts hyprof.hyp "'burn'")"
else
        for case in "--no-zones" "samples alone" "both" "samples and zones"; do
                skips "$case" "hardware: samples are not permitted here"
        done
fi
holds "--no-samples" zones 0 burns.py
holds "zones alone" same "0 burn 1" "$(n_samples) $(counts hyprof.hyp "'burn'")"

cat >fails.py <<'END'
import hyprof, sys
hyprof.signpost("only")
sys.exit(int(sys.argv[1]))
END
reports() { [ "$(find "$1/reports/x" -name 'ops_perf_results_x_*_*_*_*_*_*.csv' | wc -l)" -eq 1 ]; }
has_no_report() { [ -z "$(find "$1" -name 'ops_perf_results*' -o -path '*/reports/x/*')" ]; }
holds "-r: a report" zones 0 -r -n x -o good fails.py 0
holds "is in a folder of its date" reports good
holds "-r of a program that fails: its status" zones 5 -r -n x -o bad fails.py 5
holds "and a report" reports bad
holds "--check-exit-code" zones 5 -r --check-exit-code -n x -o worse fails.py 5
holds "no report" has_no_report worse
holds "it is said why" says "no report of ops: the program ended with status 5"
holds "--check-exit-code of a program that succeeds" zones 0 -r --check-exit-code -n x -o better fails.py 0
holds "has one" reports better
holds "-r without the signpost that ends the report: status 1" zones 1 -r --end-signpost none -n x -o unbound fails.py 0
holds "it is said which signposts there are" says "there is no signpost 'none'; there are: only"
holds "no report of it" has_no_report unbound
holds "the status of a program that fails comes first" zones 5 -r --end-signpost none -n x -o unbound fails.py 5
holds "options for devices reach the program" zones 0 --op-support-count 7 --sync-host-device -o dev fails.py 0
cat >environment.py <<'END'
import os
assert os.environ["TT_METAL_PROFILER_SYNC"] == "1" and os.environ["TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT"] == "7"
assert os.environ["TT_METAL_PROFILER_DIR"] == os.path.abspath("dev") and os.environ["TTNN_OP_PROFILER"] == "1"
END
holds "in its environment" zones 0 -r --no-device -t 8086 --op-support-count 7 --sync-host-device -o dev environment.py

# ---- programs that end badly
as_python_ends() { # status, program...
        "$python" "${@:2}" >wanted 2>wanted_err
        same "$1" $? && zones "$1" "${@:2}" && grep -v '^hyprof: ' err >err_theirs
        same "$(cat wanted wanted_err)" "$(cat out err_theirs)"
}
printf 'def deep(): raise RuntimeError("wanted") from KeyError(1)\ndeep()\n' >raises.py
printf 'import sys; sys.exit("words")\n' >words.py
printf 'import os, signal; os.kill(os.getpid(), signal.%s)\n' SIGINT >interrupted.py
printf 'import os, signal; os.kill(os.getpid(), signal.%s)\n' SIGTERM >terminated.py
printf 'def f(:\n' >syntax.py
printf 'x = "\0"\n' >null.py
printf 'import os, sys\ndef child(): pass\ndef parent(): pass\npid = os.fork()\nif pid == 0: child(); sys.exit(3)\nparent()\nsys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n' >forks.py
holds "a script that raises: the same traceback" as_python_ends 1 raises.py
holds "one that exits with words" as_python_ends 1 words.py
holds "one with an error of syntax" as_python_ends 1 syntax.py
holds "one that is no text" zones 1 null.py
holds "one that is interrupted: the same traceback" as_python_ends 130 interrupted.py
holds "one that is terminated" zones 143 terminated.py
holds "one that forks" zones 3 forks.py
holds "both processes' calls" same "child 1 parent 1" "$(counts hyprof.hyp "'child', 'parent'")"
once() { same 1 "$(grep -c 'functions of libraries are left out' err)"; }
holds "what is left out is said once" once

cat >tidies.py <<'END'
import sys, time
def tidy(): time.sleep(0.7)
def last(): pass
try:
    print("ready", flush=True)
    time.sleep(60)
finally:
    tidy()
    last()
END
# The signal of a terminal: those that kill sends to the group are handed on, and may come twice.
cat >press.py <<'END'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.executable, [sys.executable, "-m", "hyprof", "--no-samples", "tidies.py"])
text = b""
try:
    while chunk := os.read(terminal, 4096):
        if b"ready" not in text and b"ready" in text + chunk:
            os.write(terminal, b"\3")
        text += chunk
except OSError:  # the end
    pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(code if code >= 0 else 128 - code)
END
interrupted() { same 130 "$("$python" press.py)"; }
holds "Ctrl-C: the program ends as it wants to" interrupted
holds "which is recorded to its end" same "last 1 tidy 1" "$(counts hyprof.hyp "'tidy', 'last'")"

# ---- other Python programs, whose calls nothing records
cat >starts.py <<'END'
import os, subprocess, sys
def call(): pass
if "starts" in sys.argv:
    for command in (["-c", "pass"], ["-m", "hyprof", "--no-samples", "starts.py"], ["starts.py"]):
        subprocess.run([sys.executable, *command], check=True)
    subprocess.run(["/bin/true"], check=True)
    for wrong in ["\0"], [], [1]:
        try: subprocess.run(wrong)
        except (ValueError, IndexError, TypeError, OSError): pass
call()
if "becomes" in sys.argv: os.execv(sys.executable, [sys.executable, "starts.py"])
END
says_of_others() { # count of the words, arguments...
        zones 0 starts.py "${@:2}" && same "$1" "$(grep -c 'calls are not zones' err)"
}
holds "a program without others" says_of_others 0
holds "one that starts some" says_of_others 1 starts
holds "which are counted" grep -q '2 other Python programs were started: their calls are not zones' err
holds "one that becomes another" says_of_others 1 becomes

# ---- signals that are sent to us, as by kill(1), timeout(1) or a supervisor
cat >receives.py <<'END'
import os, signal, time
def say(word): os.write(1, (word + "\n").encode())  # print() is not for a signal that comes while it is at work
for number in signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH:
    signal.signal(number, lambda number, _frame: say(signal.Signals(number).name))
try:
    say("ready")
    while True: time.sleep(60)
except KeyboardInterrupt:
    say("SIGINT")
END
cat >send.py <<'END'
import signal, subprocess, sys
command = [sys.executable, *sys.argv[2:], "receives.py"]
process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
said = []
for name in ("ready", *sys.argv[1].split()):
    if said: process.send_signal(signal.Signals[name])
    said += process.stdout.readline().split()
print(*said, process.wait())
END
sent() { # signals, options of the interpreter...
        timeout 60 "$python" send.py "$@" 2>err
}
is_received() { same "ready SIGUSR1 SIGUSR2 SIGWINCH SIGINT 0" "$(sent "SIGUSR1 SIGUSR2 SIGWINCH SIGINT" "$@")"; }
holds "a program has signals that are sent to it" is_received
holds "also under us" is_received -m hyprof --no-samples
holds "and where a report is made afterwards" is_received -m hyprof --no-samples -r --check-exit-code
holds "one that it does not handle ends it" same "ready -3" "$(sent SIGQUIT -m hyprof --no-samples)"
holds "and with a report we say so" same "ready 131" "$(sent SIGQUIT -m hyprof --no-samples -r --check-exit-code)"

# ---- a recorder that is there
cat >there.py <<'END'
import os, sys, hyprof
from hyprof import _command
if sys.argv[1] == "elsewhere": del os.environ["HYPROF_RECORDER"]    # not an ancestor of ours: it attached, or records all
sys.exit(_command.main(sys.argv[2:]))
END
there() { ends_with 0 "$HYPROF" record -q --no-sampling -o there.hyp -- "$python" there.py "$@"; }
not_here="hyprof: another recorder records this program: no trace is written here"
there_with() { there above -o mine plain.py && says "$not_here" && [ ! -e mine/hyprof.hyp ] && same "leaf 1" "$(counts there.hyp "'leaf'")"; }
there_without() { there above plain.py && ! says "$not_here"; }
there_elsewhere() { there elsewhere -r plain.py && says "$not_here; for the report of ops: python3 -m hyprof ops TRACE"; }
printf 'def leaf(): pass\nleaf()\n' >plain.py
holds "hyprof record -- python3 -m hyprof -o FOLDER: whose trace it is, is said" there_with
holds "but not without -o" there_without
holds "a recorder that was started elsewhere is spoken of" there_elsewhere

# ---- calls deeper than zones nest: no larger ring would hold them
printf 'import sys\nsys.setrecursionlimit(9000)\ndef deep(n):\n    if n > 0: deep(n - 1)\ndeep(4999)\n' >deep.py
holds "calls deeper than zones nest" zones 0 deep.py
too_deep() {
        says "python3 -m hyprof --exclude MODULE" && ! grep -e --client-ring err &&
                same "ZONE_TOO_DEEP true" "$("$HYPROF" report --json --limit 0 hyprof.hyp |
                        jq -r '.missing.rows[] | select(.source == "loss") | "\(.code) \(.count >= 5000 - 4095)"')"
}
holds "are counted under a reason of their own" too_deep

# ---- what cannot be run
mkdir empty && (cd empty && "$python" -m zipfile -c ../empty.zip ../parts.py)
all_refused() {
        refuses "cannot run nowhere.py: there is no such file" nowhere.py &&
                refuses "there is no such file" --no-zones nowhere/app.zip &&
                refuses "no script is given" && refuses "-m: no module is given" -m -p &&
                refuses "no such option: --wrong" --wrong parts.py && refuses "-n: a name without a slash" -n a/b parts.py &&
                refuses "-l asks for a zone for each line" -l --no-zones parts.py &&
                refuses "leave nothing to record" --no-zones --no-samples parts.py &&
                refuses "cannot make the folder parts.py" -o parts.py/x parts.py
}
holds "what is wrong before a recorder begins" all_refused
not_programs() {
        zones 2 -m no_such_module && says "cannot run no_such_module: No module named no_such_module" &&
                zones 2 empty && says "can't find '__main__' module in '$PWD/empty'" &&
                zones 2 empty.zip && says "can't find '__main__' module in '$PWD/empty.zip'"
}
holds "what has no program" not_programs

# ---- no recorder
holds "without a recorder the program runs, with its status" ends_with 5 env HYPROF=/no/such/hyprof "$python" -m hyprof -r -p fails.py 5
without_recorder() { says "nothing is recorded: there is no recorder '/no/such/hyprof'" && says "Install hyprof, or name it with --hyprof FILE or in \$HYPROF"; }
holds "it is said, with what to do" without_recorder
holds "--hyprof names one" ends_with 0 env HYPROF=/no/such/hyprof "$python" -m hyprof --no-samples --hyprof "$HYPROF" -o named parts.py
holds "which records" same "after 1 before 1 inside 2" "$(counts named/hyprof.hyp "$parts")"
holds "a recorder that is there is used" ends_with 0 "$HYPROF" record -q --no-sampling -o there.hyp -- "$python" -m hyprof parts.py
holds "into its trace" same "after 1 before 1 inside 2" "$(counts there.hyp "$parts")"
