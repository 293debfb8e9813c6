#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several recorders at once, of one program and of the whole machine: each has samples; who has no zones says so in one line
set -eu
. tests/tap.sh
plan 29
need jq
need_sampling

programs=()
cleanup() {
        local pid
        for pid in "${programs[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
}
trap cleanup EXIT

"$WORKLOADS/w_two_zones" 600 2 >"$TMPDIR/program.out" &
program=$!
programs+=("$program")

start() { # name, options...
        "$HYPROF" record -o "$TMPDIR/$1.hyp" "${@:2}" -d 1s >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
        pids[$1]=$!
        programs+=("$!")
}
declare -A pids

# Sets $statuses to those of all of them.
wait_for() { # name...
        local name status
        statuses=
        for name; do
                status=0
                wait "${pids[$name]}" || status=$?
                statuses+="${statuses:+ }$status"
        done
}

reads() { "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" >"$TMPDIR/$1.json"; }
samples() { reported "$1" '.functions.rows | map(select((.function // "") | startswith("busy_")) | .total_samples) | add // 0'; }
has_zones_or_says_why() { # name
        compare "$(reported "$1" .n_zones)" ">" 0 ||
                grep -qE "^hyprof: note: process [0-9]+ is being recorded by .*: its zones are missing here" "$TMPDIR/$1.err"
}
says_once() { compare "$(grep -c 'is being recorded by' "$TMPDIR/$1.err" || true)" "<=" 1; }

# ---- the same program
start one -p "$program"
start two -p "$program"
wait_for one two
holds "both end as they should" same "0 0" "$statuses"
reads one
reads two
holds "both have samples of the program" compare "$(samples one) > 0 && $(samples two)" ">" 0
holds "the first has zones, or says who has them" has_zones_or_says_why one
holds "the second, too" has_zones_or_says_why two
holds "one of them has zones" compare "$(reported one .n_zones) + $(reported two .n_zones)" ">" 0
holds "nothing is said twice" says_once two
holds "both are one timeline" ends_with 0 "$HYPROF" merge "$TMPDIR/one.hyp" "$TMPDIR/two.hyp" -o "$TMPDIR/both.hyp"
holds "the program's process is there once for each" same "2 2" "$("$HYPROF" report --json --limit 0 "$TMPDIR/both.hyp" |
        jq -r '"\(.recordings.rows | length) \([.threads.rows[] | select(.pid == '"$program"') | .name | sub(".*@"; "")] | unique | length)"')"

# ---- the whole machine twice, and the program
start all_one -a
start all_two -a
start third -p "$program"
wait_for all_one all_two third
if grep -qE 'not permitted|needs' "$TMPDIR/all_one.err"; then
        skips_group "the whole machine" "this user may not record it"
else
        holds "three at once end as they should" same "0 0 0" "$statuses"
        reads all_one
        reads all_two
        holds "both of the machine have samples of the program" compare "$(samples all_one) > 0 && $(samples all_two)" ">" 0
        holds "each has zones, or says who has them" eval 'has_zones_or_says_why all_one && has_zones_or_says_why all_two'
fi

# ---- one name for several: the second one's is NAME, the first one's NAME.old; a third would destroy the first
begin() { # name of its output, trace, seconds
        "$HYPROF" record -o "$TMPDIR/$2.hyp" -- "$WORKLOADS/w_two_zones" "$3" >/dev/null 2>"$TMPDIR/$1.err" &
        pids[$1]=$!
        programs+=("$!")
}
has_begun() { # file: its first chunk is there
        local try
        for ((try = 0; try < 2000; try++)); do
                [ ! -s "$1" ] || return 0
                sleep 0.05
        done
        return 1
}
both_have_begun() { has_begun "$TMPDIR/same.hyp.old" && has_begun "$TMPDIR/same.hyp"; }
begin first same 6
holds "a recording begins" has_begun "$TMPDIR/same.hyp"
begin second same 6
holds "another one of its name" both_have_begun
holds "no third one" ends_with 125 "$HYPROF" record -o "$TMPDIR/same.hyp" -- true
holds "in one line" grep -q "^hyprof: error: cannot write the trace: .*same.hyp: an earlier recording of this name still goes on as .*same.hyp.old$" "$TMPDIR/err"
wait_for first second
holds "both end as they should" same "0 0" "$statuses"
holds "the first says what it is called" grep -q "^hyprof: wrote $TMPDIR/same.hyp.old (" "$TMPDIR/first.err"
holds "the second, too" grep -q "^hyprof: wrote $TMPDIR/same.hyp (" "$TMPDIR/second.err"
holds "both are whole" sh -c "'$HYPROF' check '$TMPDIR/same.hyp' && '$HYPROF' check '$TMPDIR/same.hyp.old'"
begin lost gone 1
has_begun "$TMPDIR/gone.hyp"
rm "$TMPDIR/gone.hyp"
wait_for lost
holds "a trace that was removed is none" same 125 "$statuses"
holds "and nothing says that it was written" same "hyprof: error: recording to $TMPDIR/gone.hyp: the file was removed or replaced meanwhile: nothing is left of the recording" "$(cat "$TMPDIR/lost.err")"
begin moved moved 1
has_begun "$TMPDIR/moved.hyp"
mv "$TMPDIR/moved.hyp" "$TMPDIR/else.hyp"
wait_for moved
holds "one that was moved is whole" "$HYPROF" check "$TMPDIR/else.hyp"
holds "and ends as its command" same 0 "$statuses"
holds "and says what it is called" grep -q "^hyprof: note: .*/moved.hyp was renamed meanwhile: this recording is /.*/else.hyp$" "$TMPDIR/moved.err"
holds "in both lines" grep -q "^hyprof: wrote /.*/else.hyp (" "$TMPDIR/moved.err"
holds "with -q it says nothing" same "" "$(cd "$TMPDIR" && "$HYPROF" record -q -o here.hyp -- mv here.hyp there.hyp 2>&1)"
begin cut cut 1
has_begun "$TMPDIR/cut.hyp"
: >"$TMPDIR/cut.hyp"
wait_for cut
holds "one that was truncated is none" same 125 "$statuses"
holds "and the only other line is about the command, which goes on" same \
        "hyprof: error: recording to $TMPDIR/cut.hyp: the file was truncated by another program meanwhile" \
        "$(grep -v '^hyprof: the recording has ended; waiting for the command' "$TMPDIR/cut.err")"
holds "nothing more is written to it" test ! -s "$TMPDIR/cut.hyp"
