#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Validates what every command and view prints with --json against the schema that `hyprof help --schema` prints.

check_schemas.py [--some | --half] HYPROF TRACE...

A document names its schema, which must be one of the list, and every schema of the list must be seen in one document at
least.  Each schema is itself judged: of draft 2020-12, and closed, so that a key that vanished, was renamed or is new
fails.  With `--half` each trace is asked every second question, the next one the others; with `--some` three questions,
and no schema is judged.  Prints a line a fault; the exit status is 1 if there was one, 77 without jsonschema.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)

VIEWS = [[], ["--functions"], ["--top-down"], ["--bottom-up"], ["--function", "*"], ["--zones"],
         ["--zones", "--histogram"], ["--zone", "*"], ["--zone", "**", "--group-by", "thread", "--histogram"],
         ["--zone", "*", "--group-by", "text"], ["--zone", "*", "--group-by", "value"], ["--zone", "*", "--group-by", "name"],
         ["--zone", "*", "--group-by", "parent"], ["--threads"], ["--modules"], ["--lines"], ["--locks"],
         ["--memory"], ["--frames"], ["--plots"], ["--messages"], ["--devices"], ["--off-cpu"], ["--cpus"],
         ["--syscalls"], ["--wall"], ["--wall", "--zone", "*"], ["--idle"], ["--idle", "--zone", "*"],
         ["--heat"],
         ["--flows"],
         ["--off-cpu", "--cpus"], ["--functions", "--from", "1ms"], ["--functions", "--limit", "1"]]
OF_A_TRACE = [["report", *view] for view in VIEWS] + [
    ["why", "--zone", "*"], ["why", "--zone", "*", "--by", "wall"], ["path"], ["path", "--zone", "*"], ["path", "--what-if", "f1=0.5"], ["modules"], ["check"],
    ["annotate"], ["annotate", "--limit", "0"], ["annotate", "--source"]]
OF_NONE = [["list"], ["list", "clock"], ["doctor"], ["--version"]]


def some_answers(traces):
    """Argument lists of a few."""
    for trace in traces:
        for view in ([], ["--functions"], ["--threads"]):
            yield ["report", "--json", *view, "-i", trace]


def answers(traces, step=1):
    """Argument lists of all that answers; of those of views of a trace one in `step`."""
    for words in OF_NONE:
        yield [words[0], "--json", *words[1:]]
    for number, trace in enumerate(traces):
        for words in OF_A_TRACE[number % step::step]:
            yield [words[0], "--json", *words[1:], "-i", trace]
        for table in ("functions", "zones", "threads", "waits"):
            yield ["top", "--json", "--all-time", "-n", "1", "--table", table, trace]
        yield ["diff", "--json", "--anyway", trace, trace]
        yield ["diff", "--json", "--anyway", "--per", "*", trace, trace]
    for before, after in zip(traces, traces[1:]):
        yield ["diff", "--json", "--anyway", before, after]


def ask(hyprof, arguments):
    """The document, or None where there is no answer and words on standard error instead."""
    done = subprocess.run([hyprof, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    if not done.stdout and done.returncode in (1, 2) and done.stderr:
        return None
    return json.loads(done.stdout)


def read_model(hyprof, trace, folder):
    """The viewer's model of a trace whose index is whole, or None if it does not open the trace."""
    with subprocess.Popen([hyprof, "view", "--no-open", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": folder}) as server:
        try:
            url = next((line.decode().strip() for line in server.stdout if line.startswith(b"http")), None)
            model = None
            if url:  # the name in it is for browsers
                url = re.sub(r"^http://[^:]*:", "http://127.0.0.1:", url)
            while url and (not model or model["progress"] < 1):
                with urllib.request.urlopen(url + "model", timeout=120) as reply:
                    model = json.load(reply)
                time.sleep(0.02)
            return model
        finally:
            server.terminate()


def open_objects(schema, path="#"):
    """Places in a schema where an object may have members that nothing is said of, or none at all."""
    if not isinstance(schema, dict):
        return
    if "properties" in schema:
        if "additionalProperties" not in schema or not schema.get("required"):
            yield path
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            for name, part in value.items():
                yield from open_objects(part, f"{path}/{key}/{name}")
        elif isinstance(value, dict):
            yield from open_objects(value, f"{path}/{key}")


def read_schemas(hyprof, is_judged, fault):
    names = [line.split()[0] for line in
             subprocess.run([hyprof, "help", "--schema"], capture_output=True, check=True).stdout.decode().splitlines()]
    validators = {}
    for name in names:
        text = subprocess.run([hyprof, "help", "--schema", name], capture_output=True, check=True).stdout
        schema = json.loads(text)
        if is_judged:
            jsonschema.Draft202012Validator.check_schema(schema)
        if schema["properties"]["schema"] != {"const": name}:
            fault(f"{name}: is of another name: {schema['properties']['schema']}")
        for place in open_objects(schema):
            fault(f"{name}: not closed: {place}")
        validators[name] = jsonschema.Draft202012Validator(schema)
    return validators


def is_command(hint, commands):
    """Whether a hint is a command that a shell can be given, and no sentence about one."""
    words = shlex.split(hint)
    return words[0] == "hyprof" and words[1] in commands and not any(re.search("[:;,]$", word) for word in words)


def main():
    arguments = sys.argv[1:]
    option = arguments.pop(0) if arguments[0].startswith("--") else None
    wants_all = option != "--some"
    hyprof, *traces = arguments
    faults, seen, n_documents = [], set(), 0

    def fault(words):
        faults.append(words)
        print(words)

    validators = read_schemas(hyprof, wants_all, fault)
    overview = subprocess.run([hyprof, "help"], capture_output=True, check=True).stdout.decode()
    commands = re.findall(r"^  ([a-z]+) ", overview, re.MULTILINE)
    for words in answers(traces, 2 if option == "--half" else 1) if wants_all else some_answers(traces):
        document = ask(hyprof, words)
        if document is None:
            continue
        n_documents += 1
        name = document.get("schema")
        seen.add(name)
        if name not in validators:
            fault(f"{' '.join(words)}: there is no schema {name}")
            continue
        for hint in document["hints"]:
            if not is_command(hint, commands):
                fault(f"{' '.join(words)}: no command: {hint}")
        for error in list(validators[name].iter_errors(document))[:5]:
            fault(f"{' '.join(words)}: {'/'.join(str(part) for part in error.path)}: {error.message[:300]}")
    with tempfile.TemporaryDirectory() as folder:
        for trace in traces if wants_all else ():
            model = read_model(hyprof, trace, folder)
            if model is None:
                fault(f"view {trace}: does not open")
                continue
            n_documents += 1
            seen.add(model["schema"])
            for error in list(validators["hyprof.timeline/1"].iter_errors(model))[:5]:
                fault(f"view {trace}: {'/'.join(str(part) for part in error.path)}: {error.message[:300]}")
    seen.add("hyprof.ctl/1")  # of a recording that runs: tests/integration/ctl.sh
    seen.add("hyprof.probes/1")  # on one kind of machine: tests/integration/list_probes.sh
    for name in sorted(set(validators) - seen) if wants_all else ():
        fault(f"{name}: no command printed a document of it")
    print(f"{n_documents} documents of {len(seen)} schemas, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
