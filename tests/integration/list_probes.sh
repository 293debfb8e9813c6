#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# list --functions and --usdt: what could be zones in a program or library; nothing is probed, so that it needs no rights
set -eu
. tests/tap.sh
plan 14
need cc jq readelf
[ "$(uname -m)" = x86_64 ] || skip_all "hardware: functions are probed on x86-64"

refuses() { # words, options: one line on standard error, exit status 1
        ends_with 1 "$HYPROF" list "${@:2}" && same 1 "$(wc -l <"$TMPDIR/err")" && grep -q "$1" "$TMPDIR/err"
}
cat >"$TMPDIR/names.c" <<'EOS'
static inline __attribute__((always_inline)) int work_inline(int n) { return n + 1; }
__attribute__((noinline)) int work_one(int n) { return n > 3 ? n * n : n - 7; }
__attribute__((noinline)) int work_two(int n) { return work_inline(n) * 3; }
__attribute__((noinline)) int other(int n) { return n / 3; }
int main(int argc, char **argv) { (void)argv; return work_one(argc) + work_two(argc) + other(argc); }
EOS
cc -O1 -g -o "$TMPDIR/names" "$TMPDIR/names.c"

"$HYPROF" list --json --functions 'work_*' "$TMPDIR/names" >"$TMPDIR/functions.json"
holds "functions with code of their own" same "work_one work_two" "$(jq -r '[.functions.rows[].name] | sort | join(" ")' "$TMPDIR/functions.json")"
holds "with the line of each, and at least a begin and an end" jq -e '[.functions.rows[] | select((.source | endswith("names.c")) and
        (.line == 2 or .line == 3) and .n_places >= 2)] | length == 2' "$TMPDIR/functions.json"
holds "with their parameters" same "int n" "$(jq -r '[.functions.rows[].parameters] | unique | join(" ")' "$TMPDIR/functions.json")"
holds "a limit is counted" jq -e '.functions.left_out == 1' <("$HYPROF" list --json --limit 1 --functions 'work_*' "$TMPDIR/names")
holds "inlined everywhere: the reason" refuses 'inlined everywhere' --functions work_inline "$TMPDIR/names"
holds "no such function" refuses 'no function has such a name' --functions nothing "$TMPDIR/names"
holds "no such file" refuses 'there is no such program or library' --functions main not-there
holds "not a program" refuses 'not an ELF file' --usdt "$TMPDIR/names.c"

readelf -n "$WORKLOADS/w_static" | awk '$1 == "Provider:" { p = $2 } $1 == "Name:" { print p ":" $2 }' | sort -u | paste -sd ' ' >"$TMPDIR/wanted"
"$HYPROF" list --json --usdt "$WORKLOADS/w_static" >"$TMPDIR/static.json"
holds "static probes, as readelf has them" same "$(cat "$TMPDIR/wanted")" "$(jq -r '[.static_probes.rows[].name] | sort | join(" ")' "$TMPDIR/static.json")"
holds "semaphores and arguments" jq -e '[.static_probes.rows[] | select(.name == "w_static:query__start")][0] |
        .has_semaphore and .n_arguments == 2 and .n_places == 1' "$TMPDIR/static.json"
holds "an argument in another form" jq -e '[.static_probes.rows[] | select(.name == "w_static:step")][0].n_unknown == 1' "$TMPDIR/static.json"
holds "none" refuses 'no such static probe' --usdt "$TMPDIR/names"
usage() { ends_with 2 "$HYPROF" list --usdt && ends_with 2 "$HYPROF" list --usdt --functions a b; }
holds "one of both, and a file" usage
fit() {
        python3 -c 'import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
for path in sys.argv[2:]: jsonschema.validate(json.load(open(path)), schema)' <("$HYPROF" help --schema hyprof.probes/1) "$@"
}
if python3 -c 'import jsonschema' 2>/dev/null; then
        holds "both answers are what the schema says" fit "$TMPDIR/functions.json" "$TMPDIR/static.json"
else
        skips "both answers are what the schema says" "python3-jsonschema is not installed"
fi
