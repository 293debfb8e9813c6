#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import of perf.data: the samples equal those of perf script, by time, thread, event and every address; what is cut or hostile ends well
set -eu
. tests/tap.sh
plan 50
need python3 zstd

data=tests/data/import/perf
fields=comm,tid,time,event,period,ip

# Samples of both sides, heads that are equal, stacks that are equal too, stacks of which one goes on.
compared() { # trace, text of perf script, further argument
        "$HYPROF" dump "$1" >"$TMPDIR/dump"
        python3 tests/tools/compare_perf_script.py "$TMPDIR/dump" "${@:2}"
}
rows_of() { "$HYPROF" dump "$1" | grep "^$2 "; }
word_of() { "$HYPROF" dump "$1" | grep -c "^string .*text=\"$2\""; }

# ---- frame pointers, no -k: the file of perf 6.1 and what its perf script said
zstd -qd "$data/perf_fp.data.zst" -o "$TMPDIR/fp.data"
zstd -qd "$data/perf_fp.script.txt.zst" -o "$TMPDIR/fp.txt"
holds "a file" ends_with 0 "$HYPROF" import "$TMPDIR/fp.data" -o "$TMPDIR/fp.hyp"
holds "it says what was in it" grep -q "imported 347 samples and 0 switches on 2 tracks from .*fp.data (perf.data)" "$TMPDIR/err"
holds "the trace is intact" "$HYPROF" check "$TMPDIR/fp.hyp"
holds "equal to perf script" same "347 347 347 347 0" "$(compared "$TMPDIR/fp.hyp" "$TMPDIR/fp.txt")"
holds "the clock is not known" grep -q "clock that the file does not name" <("$HYPROF" dump "$TMPDIR/fp.hyp")
sed 's/ 11c9 / 11ca /' "$TMPDIR/fp.txt" >"$TMPDIR/other.txt"
holds "another address is seen" compare "$(compared "$TMPDIR/fp.hyp" "$TMPDIR/other.txt" | cut -d' ' -f4)" "<" 347
holds "the sum of the periods" same 695390776 \
        "$(rows_of "$TMPDIR/fp.hyp" sample | sed 's/.* weight=\([0-9]*\).*/\1/' | awk '{ n += $1 } END { printf "%d", n }')"
holds "the program has its build-id, the others their inodes" same "2 3" \
        "$(rows_of "$TMPDIR/fp.hyp" module | grep -vc ' build_id=0 ') $(rows_of "$TMPDIR/fp.hyp" module | grep -vc ' inode=0 ')"
holds "packed" ends_with 0 "$HYPROF" import -q "$data/perf_fp.data.zst" -o "$TMPDIR/packed.hyp"
holds "is the same" same "347 347 347 347 0" "$(compared "$TMPDIR/packed.hyp" "$TMPDIR/fp.txt")"
holds "through a pipe as well" sh -c "\"$HYPROF\" import -q - -o - <\"$TMPDIR/fp.data\" >\"$TMPDIR/piped.hyp\""
holds "is the same" same "347 347 347 347 0" "$(compared "$TMPDIR/piped.hyp" "$TMPDIR/fp.txt")"

# ---- -k CLOCK_MONOTONIC_RAW: the times are hyprof's own
holds "a clock that is stated" ends_with 0 "$HYPROF" import "$data/perf_raw_clock.data.zst" -o "$TMPDIR/raw.hyp"
holds "it is the line of time" same 1 "$(word_of "$TMPDIR/raw.hyp" CLOCK_MONOTONIC_RAW)"
holds "samples, periods" same "333 667334664" \
        "$(rows_of "$TMPDIR/raw.hyp" sample | sed 's/.* weight=\([0-9]*\).*/\1/' | awk '{ n += $1 } END { printf "%d %d", NR, n }')"
holds "the first and the last" same "3650539647 3652161792" \
        "$(rows_of "$TMPDIR/raw.hyp" sample | sed 's/.* time_ns=\([0-9]*\)[0-9]\{3\} .*/\1/' | sed -n '1p;$p' | paste -sd' ')"

# ---- cut off anywhere: read up to there, or refused; what was killed before perf wrote its end
n_bytes=$(stat -c %s "$TMPDIR/fp.data")
head -c $((n_bytes / 2)) "$TMPDIR/fp.data" >"$TMPDIR/half.data"
holds "half of a file" ends_with 0 "$HYPROF" import "$TMPDIR/half.data" -o "$TMPDIR/half.hyp"
holds "is said to be cut off" grep -q "cut off at" "$TMPDIR/err"
holds "and has the samples before" compare "$(rows_of "$TMPDIR/half.hyp" sample | wc -l)" ">" 100
cuts() { # every length of the beginning, some later
        local at status
        for at in $(seq 8 29 700) $(seq 700 5987 "$n_bytes"); do
                head -c "$at" "$TMPDIR/fp.data" >"$TMPDIR/cut.data"
                status=0
                "$HYPROF" import -q --force "$TMPDIR/cut.data" -o "$TMPDIR/cut.hyp" 2>"$TMPDIR/cut.err" || status=$?
                [ "$status" -le 1 ] || { echo "cut at $at: exit status $status"; return 1; }
        done
}
holds "every cut ends well" cuts

# ---- fields that make no sense
damaged() { # place, bytes of a number, number: a copy
        local i bytes=
        for ((i = 0; i < $2; i++)); do
                bytes+=$(printf '\\x%02x' $((($3 >> (8 * i)) & 255)))
        done
        cp "$TMPDIR/fp.data" "$TMPDIR/bad.data"
        printf '%b' "$bytes" | dd of="$TMPDIR/bad.data" bs=1 seek="$1" conv=notrunc status=none
}
refused() { # place, bytes, number, words
        damaged "${@:1:3}"
        ends_with 1 "$HYPROF" import --force "$TMPDIR/bad.data" -o "$TMPDIR/bad.hyp" || return
        grep -q "$4" "$TMPDIR/err" || { cat "$TMPDIR/err" && return 1; }
}
while read -r what at n value words; do
        holds "${what//_/ }" refused "$at" "$n" "$value" "$words"
done <<'END'
length_of_an_event_0 16 8 0 impossible length
length_of_an_event_2^63 16 8 0x8000000000000000 impossible length
events_beyond_the_file 24 8 0xffffffffffffff00 no events
length_of_all_events_2^64-1 32 8 0xffffffffffffffff no events
no_events 32 8 0 no events
records_beyond_the_file 40 8 0xfffffffffffffff0 records lie beyond
records_in_the_header 40 8 8 records lie beyond
a_header_of_8_bytes 8 8 8 cut off
through_a_pipe 8 8 16 record to a file
the_other_byte_order 0 8 0x50455246494c4532 other byte order
END
read_all_the_same() { # place, bytes, number, words in what it says
        damaged "${@:1:3}"
        ends_with 0 "$HYPROF" import --force "$TMPDIR/bad.data" -o "$TMPDIR/bad.hyp" && grep -q "$4" "$TMPDIR/err" &&
                "$HYPROF" check "$TMPDIR/bad.hyp"
}
late=$(python3 -c "
import struct
b = open('$TMPDIR/fp.data', 'rb').read()
at, n = struct.unpack_from('<Q', b, 40)[0], 0
while n < 200:
    kind, misc, size = struct.unpack_from('<IHH', b, at)
    n += kind == 9
    at += size
print(at)")
holds "a record of 0 bytes ends the file" read_all_the_same $((late + 6)) 2 0 "no record can begin here.*cut off at byte $late"
holds "one that is too short is counted" read_all_the_same $((late + 6)) 2 16 "malformed"
holds "a length of all records of 0: perf was killed" read_all_the_same 48 8 0 "347 samples.*cut off"
holds "its event has its name all the same" same 1 "$(word_of "$TMPDIR/bad.hyp" cpu-clock)"
holds "a length of all records of 2^64 - 1" read_all_the_same 48 8 0xffffffffffffffff "cut off"
holds "an unknown kind is passed over" read_all_the_same "$late" 4 63 "346 samples"

# ---- our own export: its marks let readers forget what is sorted
"$BUILD/tools/made_trace" many "$TMPDIR/made.hyp" 300000 60000
holds "an export of a trace of several chunks" "$HYPROF" export perf-data -q "$TMPDIR/made.hyp" -o "$TMPDIR/made.data"
read -r n_marks n_early <<<"$(python3 tests/tools/perf_data_marks.py "$TMPDIR/made.data")"
holds "has a mark after each" compare "$n_marks" ">" 4
holds "after which nothing older comes than readers may have passed on" same 0 "$n_early"
holds "it comes back with all samples" "$HYPROF" import -q "$TMPDIR/made.data" -o "$TMPDIR/back.hyp"
samples_of() { "$HYPROF" dump "$1" | sed -n 's/^ *sample .*time_ns=\([0-9]*\).*/\1/p' | sort -n | md5sum; }
holds "at their times" same "$(samples_of "$TMPDIR/made.hyp")" "$(samples_of "$TMPDIR/back.hyp")"

# ---- what perf records here: two threads, kernel, switches
if ! command -v perf >/dev/null || ! perf record -q -e cpu-clock -g -o "$TMPDIR/try.data" -- true 2>/dev/null; then
        skips_group "perf records here" "perf cannot"
        exit 0
fi
fresh() { # name, options of perf record
        perf record -q -o "$TMPDIR/$1.data" "${@:2}" -- "$WORKLOADS/w_shares" 0.5 >"$TMPDIR/$1.perf" 2>&1
        perf script --no-inline --ns -F $fields -i "$TMPDIR/$1.data" >"$TMPDIR/$1.txt" 2>"$TMPDIR/$1.perf"
        "$HYPROF" import --force "$TMPDIR/$1.data" -o "$TMPDIR/$1.hyp"
}
holds "frame pointers, two events, switches" fresh now -F 499 -g -e cpu-clock -e page-faults -k CLOCK_MONOTONIC_RAW --switch-events
n=$(grep -c . <(rows_of "$TMPDIR/now.hyp" sample))
holds "there are samples" compare "$n" ">" 50
holds "all are equal to perf script" same "$n $n $n $n 0" "$(compared "$TMPDIR/now.hyp" "$TMPDIR/now.txt")"
holds "packed records" fresh packed -z -F 499 -g -e cpu-clock
n=$(grep -c . <(rows_of "$TMPDIR/packed.hyp" sample))
holds "are equal as well" same "$n $n $n $n 0" "$(compared "$TMPDIR/packed.hyp" "$TMPDIR/packed.txt")"
holds "copies of stacks" fresh copies -F 199 --call-graph dwarf,8192 -e cpu-clock -k CLOCK_MONOTONIC
n=$(grep -c . <(rows_of "$TMPDIR/copies.hyp" sample))
sums=$(compared "$TMPDIR/copies.hyp" "$TMPDIR/copies.txt" dwarf)
figure "copies of stacks: samples of both, heads equal, stacks equal, one goes on: $sums"
holds "nine in ten are equal to perf's unwinding, or go on" compare \
        "$(awk '{ print $4 + $5 }' <<<"$sums")" ">=" "$n * 0.9"

# ---- code in a pipe: nothing opens it, and its writer goes on waiting
fifo=$(mktemp -u /tmp/fifo.XXXX) # as long as the path in the file, at most
mkfifo "$fifo"
python3 - tests/fuzz/corpus/fuzz_import_perf_data/copies "$TMPDIR/fifo.data" "$fifo" <<'END'
import sys
data = b"PERFILE2" + open(sys.argv[1], "rb").read()
code = b"/src/xxxxxxxxxxxxxxxxxx/w"
assert data.count(code) > 0
open(sys.argv[2], "wb").write(data.replace(code, sys.argv[3].encode().ljust(len(code), b"\0")))
END
(: >"$fifo" && : >"$TMPDIR/was_opened") &
writer=$!
holds "code in a pipe" ends_with 0 "$HYPROF" import "$TMPDIR/fifo.data" -o "$TMPDIR/fifo.hyp"
holds "is not opened" test ! -e "$TMPDIR/was_opened"
kill "$writer" && ! wait "$writer" 2>/dev/null
rm -f "$fifo"
