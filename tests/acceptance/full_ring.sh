#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two threads flat out into tiny rings: what was emitted is recorded or counted as dropped, to the last event, by kind,
# and zones stay balanced; two million zones a second never lose one in a ring of the usual size
set -eu
. tests/tap.sh
plan 24
need jq
need_sampling

said() { # run, word
        awk -v word="$2" '$1 == word { print $2 }' "$TMPDIR/$1.out"
}

dropped() { # run, code
        reported "$1" "[.missing.rows[] | select(.source == \"loss\" and .code == \"$2\") | .count] | add // 0"
}

# ---- flat out
holds "flat out: recorded" record flat --no-symbolize --client-ring 8K -- "$WORKLOADS/w_full_ring" flat 0.3
holds "flat out: losses are warned of" grep -qE '^hyprof: warning: [0-9,]+ events were lost \([0-9.]+%\); hyprof report says which' "$TMPDIR/flat.err"
holds "flat out: with what helps" grep -q '^  try: hyprof record .*--client-ring' "$TMPDIR/flat.err"
"$HYPROF" report --json --limit 0 "$TMPDIR/flat.hyp" >"$TMPDIR/flat.json"
"$HYPROF" dump "$TMPDIR/flat.hyp" | awk '
        $2 ~ /^thread=/ && $3 ~ /^time_ns=/ {
                n[$1]++
                if ($1 == "zone_begin")
                        open[$2]++
                if ($1 == "zone_end" && --open[$2] < 0)
                        bad++
        }
        END {
                for (thread in open)
                        bad += open[thread] != 0
                print "unbalanced", bad + 0
                print "zones", n["zone_begin"] + 0
                print "messages", n["message"] + n["message_text"]
                print "plots", n["plot_i64"] + n["plot_f64"]
                print "frames", n["frame_mark"] + 0
                print "memory", n["memory_alloc"] + n["memory_free"]
                print "locks", n["lock_wait"] + n["lock_obtain"] + n["lock_release"]
        }' >"$TMPDIR/flat.found"
for kind in zones messages plots frames memory locks; do
        found=$(awk -v word=$kind '$1 == word { print $2 }' "$TMPDIR/flat.found")
        lost=$(dropped flat "DROPPED_${kind^^}")
        figure "flat out: $(said flat $kind) $kind = $found recorded + $lost dropped"
        holds "flat out: every one of the $kind is recorded or counted" same "$(said flat $kind)" $((found + lost))
        holds "flat out: there are both" compare "$found * $lost" ">" 0
done
holds "flat out: zones are balanced on each thread" same 0 \
        "$(awk '$1 == "unbalanced" { print $2 }' "$TMPDIR/flat.found")"
holds "flat out: the report finds none unclosed either" same 0 "$(reported flat .n_unclosed)"

# ---- paced
per_second=2000000
holds "paced: recorded" record paced --no-symbolize -- "$WORKLOADS/w_full_ring" paced 5 $per_second
"$HYPROF" report --json --limit 0 "$TMPDIR/paced.hyp" >"$TMPDIR/paced.json"
rate=$(awk '{ n[$1] = $2 } END { printf "%.0f", n["zones"] * 1e9 / n["ns"] }' "$TMPDIR/paced.out")
figure "paced: $rate zones a second, $(said paced zones) in all"
holds "paced: every zone is in the trace" same "$(said paced zones)" "$(reported paced .n_zones)"
holds "paced: nothing is lost" same "" "$(lost paced)"
holds "paced: nor warned of" same 0 "$(grep -c 'warning:' "$TMPDIR/paced.err" || true)"
if [ "$rate" -ge $((per_second * 9 / 10)) ]; then
        holds "paced: at $per_second zones a second" compare "$rate" "<=" "1.1 * $per_second"
else
        skips "paced: at $per_second zones a second" "hardware: the program got to $rate only"
fi

# ---- compared: what was lost is said of the side that lost it, also where it is in the last of several recordings
diff_warns_of() { # side, operands...
        "$HYPROF" diff --anyway --json --limit 0 "${@:2}" >"$TMPDIR/diff.json"
        same "$1" "$(jq -r '.warnings[] | select(test("zones are at least: [0-9.]+% of this program.s zones were lost"))' "$TMPDIR/diff.json" | sed 's/:.*//')"
}
holds "compared: losses before" diff_warns_of "the recording before" "$TMPDIR/flat.hyp" "$TMPDIR/paced.hyp"
holds "compared: losses after" diff_warns_of "a recording after" \
        --before "$TMPDIR/paced.hyp" --after "$TMPDIR/paced.hyp" --after "$TMPDIR/flat.hyp"
