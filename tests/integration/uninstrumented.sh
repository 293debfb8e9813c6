#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of the machine that know nothing of hyprof: recorded and reported, most time in the expected module
set -eu
. tests/tap.sh
plan 40
need awk gcc jq xz
need_sampling

# The module with the largest share of the samples outside of the kernel, and how many samples there are.
top_module() { # trace
        reported "$1" '[.functions.rows[] | select(.module != null and .module != "[kernel]")] | group_by(.module) |
                map({ module: .[0].module, samples: (map(.self_samples) | add) }) | max_by(.samples) |
                "\(.module) \(.samples)"'
}

# The program is recorded, its trace is whole and reported as text and as JSON.
top_is() { # name, regular expression for the module's path, command...
        local module samples
        holds "$1 is recorded" record "$1" -F 4999 -- "${@:3}"
        holds "$1: the trace is whole" is_whole "$1"
        holds "$1: the report" ends_with 0 "$HYPROF" report "$TMPDIR/$1.hyp"
        holds "$1: fits into 120 columns" awk '{ gsub(/…/, ".") } length > 120 { print; exit 1 }' "$TMPDIR/out"
        holds "$1: says that no zones are there" grep -q 'zones  *none' "$TMPDIR/out"
        read_trace "$1"
        read -r module samples <<<"$(top_module "$1")"
        figure "$1: $samples samples in $module"
        holds "$1: most time is in $2" grep -qE -- "$2" <<<"$module"
        holds "$1: with enough samples to say so" compare "$samples" ">" 50
        holds "$1: nothing is lost" same "" "$(lost "$1")"
}

seq 1 600000 >"$TMPDIR/numbers"
top_is xz "/liblzma\\.so" xz -k -c -3 -T 2 "$TMPDIR/numbers"

# A switch with many cases keeps the optimizer busy.
{
        printf 'int f(int x)\n{\n        switch (x) {\n'
        seq 1 6000 | awk '{ printf "        case %d:\n                return %d;\n", $1 * 7, $1 * 13 % 1009 }'
        printf '        default:\n                return 0;\n        }\n}\n'
} >"$TMPDIR/big.c"
top_is gcc "/cc1\$" gcc -O2 -S -o "$TMPDIR/big.s" "$TMPDIR/big.c"

top_is awk "/[a-z]*awk\$" awk 'BEGIN { while (i < 10000000) i++ }'

# A shell's arithmetic is partly the C library's.
# shellcheck disable=SC2016 # for the recorded shell
top_is sh "/(da|ba)?sh\$|/libc\\.so" sh -c 'i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done'

if command -v git >/dev/null; then
        head -c 60000000 /dev/zero >"$TMPDIR/zeros"
        top_is git "/git\$" git hash-object --literally -t blob "$TMPDIR/zeros"
else
        skips "git" "hardware: git is not here; it is not worth a package"
fi
