#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof diff` of kernels: one that takes half more is found, beside others that do not, and chance is not
set -eu
. tests/tap.sh
plan 14
need jq python3

# 400 kernels of each name, of which "gemm" is on two lanes; it takes so many times 300 us.  Only "gemm" has a key.
make_trace() { # name, seed, times, device
        python3 - "$2" "$3" "$4" >"$TMPDIR/$1.csv" <<'END'
import random
import sys

draw, times, device = random.Random(int(sys.argv[1])), float(sys.argv[2]), sys.argv[3]
print('name,process,thread,begin_us,duration_us,device,lane,key,key_kind')
for i in range(1, 401):
    at, gemm, copy = 1000 * i, draw.gauss(300, 9) * times, draw.gauss(120, 4)
    begin = at + draw.gauss(20, 1)
    print(f'launch,11,11,{at},5,,,{i},correlation')
    print(f'gemm,,,{begin:.3f},{gemm:.3f},{device},{3 + i % 2},{i},correlation')
    print(f'copy,,,{begin + gemm + 1:.3f},{copy:.3f},{device},5,,')
END
        "$HYPROF" import -q --force "$TMPDIR/$1.csv" -o "$TMPDIR/$1.hyp"
}
compare_runs() { # options...
        "$HYPROF" diff --json --limit 0 "$@" 2>/dev/null
}

make_trace before 1 1 'gpu 0'
make_trace after 2 1.5 'gpu 0'
compare_runs "$TMPDIR/before.hyp" "$TMPDIR/after.hyp" >"$TMPDIR/diff.json"
said() { # expression
        jq -r "$1" "$TMPDIR/diff.json"
}
holds "half more time is found" same "gemm slower" "$(said '.kernels.rows[0] | "\(.name) \(.verdict)"')"
holds "in the first line" grep -q '^slower: kernel gemm +[45]' <(said .answer)
holds "and nothing else" same "1 changed" "$(said '"\(.significant) \(.verdict)"')"
holds "lanes are added up" same "400 400 gpu 0" "$(said '.kernels.rows[0] | "\(.n_before) \(.n_after) \(.device)"')"
total() { # trace
        "$HYPROF" report --devices --json --limit 0 "$1" | jq '[.zones.rows[] | select(.name == "gemm").total_ns] | add'
}
holds "the total is that of the report" same "$(total "$TMPDIR/before.hyp") $(total "$TMPDIR/after.hyp")" \
        "$(said '.kernels.rows[0] | "\(.total_before_ns) \(.total_after_ns)"')"
delay=$("$HYPROF" report --devices --json --limit 0 "$TMPDIR/before.hyp" | jq '.host_operations.rows[0].mean_delay_ns')
holds "and the delay" compare "$(said '.kernels.rows[0].delay_before_ns') - $delay" '<=' 1
holds "there is none without a key" same null "$(said '.kernels.rows[1].delay_before_ns')"
holds "--fail-above fails" ends_with 1 "$HYPROF" diff --fail-above 5% "$TMPDIR/before.hyp" "$TMPDIR/after.hyp"
holds "--only kernels: the others are not judged" same "2 null" \
        "$(compare_runs --only kernels "$TMPDIR/before.hyp" "$TMPDIR/after.hyp" | jq -r '"\(.judged) \(.zones.rows[0])"')"
holds "formats: the same rows" python3 tests/tools/compare_formats.py "$HYPROF" diff "$TMPDIR/before.hyp" "$TMPDIR/after.hyp"

# ---- nothing changed
n_found=0
for seed in 3 4 5 6 7 8 9 10; do
        make_trace null $seed 1 'gpu 0'
        n_found=$((n_found + $(compare_runs "$TMPDIR/before.hyp" "$TMPDIR/null.hyp" | jq .significant)))
done
holds "chance is no change, in 8 pairs" same 0 $n_found
holds "--fail-above passes" ends_with 0 "$HYPROF" diff --fail-above 5% "$TMPDIR/before.hyp" "$TMPDIR/null.hyp"

# ---- another device, and none
make_trace other 2 1 'gpu 1'
holds "another device is said" same "gemm gpu 0" "$(compare_runs "$TMPDIR/before.hyp" "$TMPDIR/other.hyp" |
        jq -r '.kernels.rows[] | select(.name == "gemm") | "\(.name) \(.was)"')"
printf 'name,process,thread,begin_us,duration_us\nwork,1,1,0,5\n' >"$TMPDIR/none.csv"
"$HYPROF" import -q "$TMPDIR/none.csv" -o "$TMPDIR/none.hyp"
holds "without devices on one side there is a word on it" same 1 "$(compare_runs "$TMPDIR/before.hyp" "$TMPDIR/none.hyp" |
        jq '[.warnings[] | select(test("zones of devices: these are not compared"))] | length')"
