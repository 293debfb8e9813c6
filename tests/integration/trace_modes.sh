#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Traces are their owner's alone unless --mode asks for more, whatever the umask; what is made to be handed on follows the umask
set -eu
. tests/tap.sh
plan 39
need jq python3
need_sampling

cd "$TMPDIR"
HYPROF=$(realpath "$OLDPWD/$HYPROF" 2>/dev/null || realpath "$HYPROF")
mode_of() { stat -c %a "$1"; }
makes() { # mode, file, umask, command...
        (umask "$3" && "${@:4}" >>words 2>&1) || { tail -n 5 words && return 1; }
        same "$1" "$(mode_of "$2")"
}
rec=("$HYPROF" record -q -o)

# ---- recordings
holds "record: the owner's, whatever the umask" makes 600 a.hyp 0 "${rec[@]}" a.hyp -- true
holds "as the default trace is" makes 600 hyprof.hyp 22 "$HYPROF" record -q -- true
holds "--mode, whatever the umask" makes 644 b.hyp 77 "${rec[@]}" b.hyp --mode 644 -- true
holds "the next one is the owner's again" makes 600 b.hyp 22 "${rec[@]}" b.hyp -- true
holds "the earlier one keeps its mode" same 644 "$(mode_of b.hyp.old)"
holds "--ring: dumps" makes 600 ring.hyp 0 "${rec[@]}" ring.hyp --ring 1s -- true
for wrong in 7 400 755 rw; do
        holds "--mode $wrong: refused" ends_with 2 "${rec[@]}" w.hyp --mode "$wrong" -- true
done
holds "with what is right" grep -q 'expected three octal digits from 600 to 666' err
holds "nothing was recorded" test ! -e w.hyp

# ---- commands that make traces of traces
chmod 644 b.hyp.old
holds "merge: the owner's, though its inputs are not" makes 600 m.hyp 0 "$HYPROF" merge b.hyp.old a.hyp -o m.hyp
holds "merge --mode" makes 640 m2.hyp 77 "$HYPROF" merge --mode=640 a.hyp b.hyp -o m2.hyp
holds "merge --force: the mode of what it replaces" makes 640 m2.hyp 0 "$HYPROF" merge --force a.hyp b.hyp -o m2.hyp
holds "merge --force --mode" makes 600 m2.hyp 0 "$HYPROF" merge --force --mode 600 a.hyp b.hyp -o m2.hyp
holds "symbolize -o: the owner's" makes 600 s.hyp 0 "$HYPROF" symbolize b.hyp.old -o s.hyp
holds "symbolize --mode" makes 644 s2.hyp 77 "$HYPROF" symbolize --mode 644 a.hyp -o s2.hyp
chmod 666 s2.hyp
truncate -s -20 s2.hyp
repairs() { "$HYPROF" check --repair s2.hyp || [ -e s2.hyp.unrepaired ]; }
holds "check --repair: the mode of the damaged one" makes 666 s2.hyp 77 repairs
echo '[{"ph":"X","name":"step","ts":1,"dur":2,"pid":1,"tid":1}]' >events.json
holds "import: the owner's" makes 600 i.hyp 0 "$HYPROF" import events.json -o i.hyp
holds "import --mode" makes 644 i2.hyp 77 "$HYPROF" import --mode 644 events.json -o i2.hyp

# ---- a capture: the trace, and the file beside it that lets it go on
"$HYPROF" record -q --listen ./socket --no-wait --linger 60s -- true >listen.words 2>&1 &
recorder=$!
wait_until "the recorder listens" test -S socket
holds "capture: the owner's" makes 600 c.hyp 0 "$HYPROF" capture -q ./socket -o c.hyp
wait "$recorder"
# With a file of its own, the recorder waits for no taker at its end: the program lasts until there is one.
mkfifo go
"$HYPROF" record -q --listen ./second -o own.hyp --no-wait --mode 640 -- head -n 1 go >listen.words 2>&1 &
recorder=$!
wait_until "the second recorder listens" test -S second
taken() { compgen -G 'c2.hyp*'; }
{ wait_until "there is a taker" taken && echo >go; } &
holds "capture --mode" makes 644 c2.hyp 77 "$HYPROF" capture -q --mode 644 ./second -o c2.hyp
wait "$recorder"
holds "the recorder's own file has its mode" same 640 "$(mode_of own.hyp)"

# ---- exports: perf's own file is as private as perf's; the others are made to be handed on
holds "export perf-data: the owner's" makes 600 p.data 0 "$HYPROF" export -q perf-data a.hyp -o p.data
holds "export: what the umask leaves" makes 640 f.json.gz 27 "$HYPROF" export -q firefox a.hyp -o f.json.gz
holds "html" makes 644 h.html 22 "$HYPROF" html -q a.hyp -o h.html

# ---- a database has all that its trace has
holds "query: the owner's" makes 600 q.db 0 "$HYPROF" query -q a.hyp --sqlite q.db
holds "export sqlite --mode" makes 644 e.db 77 "$HYPROF" export -q sqlite --mode 644 a.hyp -o e.db
chmod 640 q.db
holds "query --force: the mode of what it replaces" makes 640 q.db 0 "$HYPROF" query -q a.hyp --force --sqlite q.db
holds "query --force --mode" makes 600 q.db 0 "$HYPROF" query -q a.hyp --force --mode 600 --sqlite q.db
holds "it is a database" same "ok" "$(python3 -c 'import sqlite3; print(sqlite3.connect("q.db").execute("pragma integrity_check").fetchone()[0])')"
mkfifo pipe.db
holds "a pipe is no place for a database" ends_with 1 "$HYPROF" query -q a.hyp --force --sqlite pipe.db
holds "it is said, and the pipe stays" sh -c "grep -q '^hyprof: error: pipe.db: is not a file' err && test -p pipe.db"
holds "nothing lies beside them" same "" "$(compgen -G '*.part-*' || true)"

# ---- the head says whether the kernel's addresses are in it
"$HYPROF" record -q -o k.hyp -- dd if=/dev/zero of=/dev/null bs=4M count=3000 2>/dev/null
"$HYPROF" record -q -o u.hyp -e cpu-clock:u --no-switches -- "$WORKLOADS/w_split" 1
for name in k u; do
        dumped=false
        ! "$HYPROF" dump $name.hyp | grep -qE '^frame .*offset=0xf{4}[0-9a-f]{12}' || dumped=true
        holds "JSON of $name.hyp says so: $dumped" same "$dumped" "$("$HYPROF" report --json $name.hyp | jq .has_kernel_addresses)"
        holds "and the report" same "$dumped" "$("$HYPROF" report $name.hyp | grep -q 'with kernel addresses' && echo true || echo false)"
done
