#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# the package of Python with what real programs use: pools of processes and threads, a server of Flask, one of asyncio,
# numpy, coverage, debuggers; pytest -p hyprof by itself
set -u
. tests/tap.sh
need sqlite3
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 16
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR" || exit 2

with_database() {
        "$HYPROF" query -q --force --sqlite ops.db hyprof.hyp
}
recorded() { # arguments of python3 -m hyprof...
        ends_with 0 "$python" -m hyprof --no-samples "$@" && with_database
}
ask() { # question
        sqlite3 -separator ' ' ops.db "$1" | paste -sd ' '
}
# zone count/that have ended, by name.
counts() { # names, quoted
        ask "SELECT coalesce(l.name, l.function) || ' ' || count(*) || '/' || sum(closed) FROM zones
                JOIN locations l ON l.id = location WHERE coalesce(l.name, l.function) IN ($1)
                GROUP BY coalesce(l.name, l.function) ORDER BY 1"
}
# The cases that follow need a module: skipped, as many as given, where it is missing.
has() { # module, package, case...
        local case
        "$python" -c "import $1" 2>/dev/null && return 0
        for case in "${@:3}"; do
                skips "$case" "$2 is not installed"
        done
        return 1
}

cat >pools.py <<'END'
import concurrent.futures, multiprocessing
def leaf(n): return n
def task(n): return leaf(n)
if __name__ == "__main__":
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(task, range(4))) == [0, 1, 2, 3]
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(task, range(4))) == [0, 1, 2, 3]
        process = context.Process(target=task, args=(1,))
        process.start()
        process.join()
        assert process.exitcode == 0
END
holds "pools of threads, and of processes by fork, spawn and a fork server" recorded pools.py
holds "each task of theirs" same "leaf 19/19 task 19/19" "$(counts "'leaf', 'task'")"

cat >serves.py <<'END'
import asyncio, hyprof
async def step(i):
    await asyncio.sleep(0)
async def handle(reader, writer):
    line = await reader.readline()
    with hyprof.zone("request", text=line.decode().strip()):
        await step(1)
        with hyprof.zone("inner", text=line.decode().strip()):
            await step(2)
        writer.write(line)
        await writer.drain()
    writer.close()
    done.append(line)
async def ask(port, i):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"%d\n" % i)
    assert await reader.readline() == b"%d\n" % i
    writer.close()
async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        await asyncio.gather(*(ask(server.sockets[0].getsockname()[1], i) for i in range(30)))
        while len(done) < 30:
            await asyncio.sleep(0)
done = []
asyncio.run(main())
END
marked() { "$HYPROF" record -q --no-sampling -o hyprof.hyp -- "$python" serves.py && with_database; }
holds "a server of asyncio, its own zones alone" marked
holds "each request" same "inner 30/30 request 30/30" "$(counts "'request', 'inner'")"
holds "what it did lies in it, and not in another" same "30 0" \
        "$(ask "SELECT count(*), sum(i.text <> r.text OR i.thread <> r.thread) FROM zones i
                JOIN locations il ON il.id = i.location AND il.name = 'inner'
                JOIN zones r ON r.thread = i.thread AND r.begin_ns <= i.begin_ns
                        AND r.begin_ns + r.duration_ns >= i.begin_ns + i.duration_ns
                JOIN locations rl ON rl.id = r.location AND rl.name = 'request'")"

cat >flasks.py <<'END'
import threading, urllib.request, flask
from werkzeug.serving import make_server
app = flask.Flask(__name__)
def leaf(i): return str(i)
@app.route("/<int:i>")
def view(i): return leaf(i)
server = make_server("127.0.0.1", 0, app, threaded=True)
thread = threading.Thread(target=server.serve_forever)
thread.start()
for i in range(20):
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{i}") as answer:
        assert answer.read() == str(i).encode()
server.shutdown()
server.server_close()
thread.join()
END
if has flask python3-flask "a server of Flask, a thread for each request" "each view"; then
        holds "a server of Flask, a thread for each request" env -u http_proxy -u HTTP_PROXY no_proxy=127.0.0.1 \
                "$python" -m hyprof --no-samples flasks.py
        with_database
        holds "each view" same "leaf 20/20 view 20/20" "$(counts "'leaf', 'view'")"
fi

cat >arrays.py <<'END'
import numpy as np
def key(row): return row.sum()
def work():
    rows = np.arange(3000.0).reshape(100, 30)
    assert np.apply_along_axis(key, 1, rows).shape == (100,)
    return rows @ rows.T
for _ in range(5):
    work()
END
if has numpy python3-numpy "numpy" "Python that C calls"; then
        holds "numpy" recorded arrays.py
        holds "Python that C calls" same "key 500/500 work 5/5" "$(counts "'key', 'work'")"
fi

cat >covered.py <<'END'
def leaf(): return 1
def work():
    for _ in range(3):
        leaf()
work()
END
if has coverage python3-coverage "a measurement of coverage" "both see all of it"; then
        holds "a measurement of coverage" recorded -m coverage run covered.py
        holds "both see all of it" same "leaf 3/3 work 1/1 100%" \
                "$(counts "'leaf', 'work'") $("$python" -m coverage report covered.py | awk '/TOTAL/ { print $NF }')"
fi
debugged() {
        printf '%s\n' 'break leaf' continue 'p 6 * 7' 'clear 1' continue quit >commands
        recorded -m pdb covered.py <commands && grep -q '42$' out
}
holds "a debugger stops in it" debugged
holds "and goes on" same "leaf 3/3 work 1/1" "$(counts "'leaf', 'work'")"

cat >test_some.py <<'END'
import pytest
@pytest.mark.parametrize("n", [1, 2])
def test_passes(n): pass
@pytest.fixture
def broken(): raise ValueError
def test_setup(broken): pass
@pytest.mark.skip
def test_skipped(): pass
END
run_tests() {
        ends_with 1 "$HYPROF" record -q --no-sampling -o hyprof.hyp -- \
                "$python" -m pytest -q -p no:cacheprovider -p hyprof --hyprof-slowest 2 test_some.py && with_database
}
listed() { same 2 "$(sed -n '/= slowest tests =/,/= short test/p' out | grep -c ' ms  test_some.py::')"; }
if has pytest python3-pytest "pytest -p hyprof by itself" "zones of tests alone" "the slowest of them"; then
        holds "pytest -p hyprof by itself" run_tests
        holds "zones of tests alone" same "test_passes[1] 1/1 test_passes[2] 1/1 test_setup 1/1 test_skipped 1/1" \
                "$(ask "SELECT replace(l.name, 'test_some.py::', '') || ' ' || count(*) || '/' || sum(closed) FROM zones
                        JOIN locations l ON l.id = location GROUP BY l.name ORDER BY 1")"
        holds "the slowest of them" listed
fi
