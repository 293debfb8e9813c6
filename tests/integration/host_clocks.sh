#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every recording has readings of the machine's other clocks: before the first event, each second, and after its end
set -eu
. tests/tap.sh
plan 16
need jq
need_sampling
set -m # signals reach jobs

programs=()
cleanup() {
        local pid
        for pid in "${programs[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
}
trap cleanup EXIT

# CLOCK_MONOTONIC, CLOCK_REALTIME and CLOCK_BOOTTIME are the kinds 5 to 7, the processor's counter one of 2 to 4.
case $(uname -m) in
x86_64) kinds="2 5 6 7" ;;
aarch64) kinds="3 5 6 7" ;;
riscv64) kinds="4 5 6 7" ;;
*) kinds="5 6 7" ;;
esac

dumped() { # name
        "$HYPROF" dump "$TMPDIR/$1.hyp" >"$TMPDIR/$1.dump"
        grep '^clock ' "$TMPDIR/$1.dump" | sed 's/[a-z_]*=//g' >"$TMPDIR/$1.clocks" # clock id ticks raw_ns kind error_ns
}

number_of() { # name, key of META
        awk -v key="$2" '
                $1 == "string" && NF == 3 { text = $3; gsub(/text=|"/, "", text); sub("id=", "", $2); words[$2] = text }
                $1 == "meta" { sub("key=", "", $3); sub("value=", "", $4); meta[words[$3]] = $4 }
                END { print words[meta[key]] }' "$TMPDIR/$1.dump"
}

# The kinds that were read before the first event of a thread, and after the recording's end.
around() { # name
        local first
        first=$(sed -n 's/^[a-z_]* thread=[0-9]* time_ns=\([0-9]*\).*/\1/p' "$TMPDIR/$1.dump" | sort -n | head -n 1)
        awk -v first="$first" -v end="$(number_of "$1" end_raw_ns)" '
                $4 <= first { before[$5] = 1 }
                $4 >= end { after[$5] = 1 }
                END { for (kind in before) if (kind in after) print kind }' "$TMPDIR/$1.clocks" | sort -n | xargs
}

# Each clock goes forward, and all but CLOCK_REALTIME, which may be set, as fast as RAW within 1%.
is_steady() { # name
        awk '$5 in ticks && $5 != 6 {
                        n++
                        if ($3 <= ticks[$5] || $4 <= raw[$5]) bad++
                        if ($5 >= 5 && (($3 - ticks[$5]) / ($4 - raw[$5]) - 1) ^ 2 > 1e-4) bad++
                }
                { ticks[$5] = $3; raw[$5] = $4 }
                END { exit !(n >= 3 && bad == 0) }' "$TMPDIR/$1.clocks"
}

least() { # name: how many readings the kind with fewest has
        awk '{ n[$5]++ } END { for (kind in n) if (!least || n[kind] < least) least = n[kind]; print least }' "$TMPDIR/$1.clocks"
}

holds "no instrumented program" ends_with 0 "$HYPROF" record -q -o "$TMPDIR/plain.hyp" -- sleep 2.2
dumped plain
holds "each clock was read before it and after it" same "$kinds" "$(around plain)"
holds "and each second" compare "$(least plain)" ">=" 4
holds "but not more often" compare "$(least plain)" "<=" "3 + $(number_of plain end_raw_ns) / 1e9 - $(number_of plain start_raw_ns) / 1e9"
holds "they go on as fast as the trace's clock" is_steady plain
figure "errors of the readings, ns: $(awk '{ print $6 }' "$TMPDIR/plain.clocks" | sort -n | xargs)"

holds "a program with zones" ends_with 0 "$HYPROF" record -q -o "$TMPDIR/zones.hyp" -- "$WORKLOADS/w_every_event"
dumped zones
holds "each clock" same "$kinds" "$(around zones)"
holds "and none twice at once" same "" "$(awk '{ print $4, $5 }' "$TMPDIR/zones.clocks" | sort | uniq -d)"

holds "without samples" ends_with 0 "$HYPROF" record -q --no-sampling -o "$TMPDIR/none.hyp" -- sleep 0.1
dumped none
holds "each clock, without samples" same "$kinds" "$(awk '{ print $5 }' "$TMPDIR/none.clocks" | sort -un | xargs)"

sleep 60 &
programs+=($!)
holds "a program that is running" ends_with 0 "$HYPROF" record -q --duration 0.3 -p $! -o "$TMPDIR/attached.hyp"
dumped attached
holds "each clock, attached" same "$kinds" "$(awk '{ print $5 }' "$TMPDIR/attached.clocks" | sort -un | xargs)"
holds "twice or more" compare "$(least attached)" ">=" 2

holds "the last second alone" ends_with 0 "$HYPROF" record -q --ring 1s -o "$TMPDIR/ring.hyp" -- \
        sh -c 'timeout 5 sh -c "while :; do :; done"; :'
dumped ring
holds "each clock of a ring reaches over it" same "$kinds" "$(awk -v start="$(number_of ring start_raw_ns)" -v end="$(number_of ring end_raw_ns)" '
        $4 <= start { before[$5] = 1 }
        $4 >= end { after[$5] = 1 }
        END { for (kind in before) if (kind in after) print kind }' "$TMPDIR/ring.clocks" | sort -n | xargs)"
holds "and older readings are gone" compare "$(least ring)" "<=" \
        "4 + $(number_of ring end_raw_ns) / 1e9 - $(number_of ring start_raw_ns) / 1e9"
