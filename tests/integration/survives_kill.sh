#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SIGKILL of the program, SIGKILL of hyprof, a full disk: the trace reads up to its last whole chunk and says so
set -eu
. tests/tap.sh
plan 36
need jq
need_sampling

program=0 # process ids; 0 = none
hyprof=0
full=$TMPDIR/full
mounted=
cleanup() {
        [ "$program" -eq 0 ] || kill -KILL "$program" 2>/dev/null || true
        [ -z "$mounted" ] || umount "$full"
}
trap cleanup EXIT
mkfifo "$TMPDIR/words"

# $program and $hyprof, once the program has ended its first 1000 zones.
start_w_kill() { # name of the trace
        # shellcheck disable=SC2016 # for the recorded shell
        "$HYPROF" record -o "$TMPDIR/$1.hyp" -- sh -c 'echo $$; exec "$0" "$1"' "$WORKLOADS/w_kill" "$TMPDIR/$1.counter" \
                >"$TMPDIR/words" 2>"$TMPDIR/$1.err" &
        hyprof=$!
        exec 5<"$TMPDIR/words"
        read -r -t 60 program <&5
        read -r -t 60 _ <&5
        exec 5<&-
}

wait_for() { # status, process id
        local status=0
        wait "$2" || status=$?
        same "$1" "$status"
}

ended_zones() { od -An -tu8 "$TMPDIR/$1.counter" | tr -d ' '; }

# ---- SIGKILL of the program
start_w_kill victim
kill -KILL "$program"
holds "program killed: hyprof ends as it did" wait_for 137 "$hyprof"
program=0
read_trace victim
ended=$(n_events victim 'kind == "zone_end" && zone == "endless"')
figure "program killed: it had ended $(ended_zones victim) zones, the trace has $ended"
holds "program killed: every zone that had ended is there" compare "$ended" ">=" "$(ended_zones victim)"
holds "program killed: and at most one more, ended but not yet counted" compare "$ended" "<=" "$(ended_zones victim) + 1"
holds "program killed: the trace is whole" is_whole victim
holds "program killed: the report says by what" same "signal 9" "$(reported victim .exit_status)"
holds "program killed: nothing is lost" same "" "$(lost victim)"

# ---- SIGKILL of hyprof
has_zones() { # name of the trace, which is still being written
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" >"$TMPDIR/$1.json" 2>/dev/null || return 1
        [ "$(reported "$1" .n_zones)" -gt 0 ]
}

grows() { # name of the trace
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                ! has_zones "$1" || return 0
                read -r -t 0.1 <> <(:) || true
        done
        echo "no zone in a minute" && return 1
}

says_cut_off() { # name of the trace
        ends_with 1 "$HYPROF" check "$TMPDIR/$1.hyp" || return 1
        cat "$TMPDIR/err"
        grep -q "^hyprof: error: $TMPDIR/$1.hyp: cut off at byte [0-9]*" "$TMPDIR/err"
}

start_w_kill recorder
holds "hyprof killed: it had written zones" grows recorder
kill -KILL "$hyprof"
holds "hyprof killed: the shell sees it" wait_for 137 "$hyprof"
before=$(ended_zones recorder)
runs_on() { # it ends more zones
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                [ "$(ended_zones recorder)" -le "$before" ] || return 0
                read -r -t 0.1 <> <(:) || true
        done
        return 1
}
holds "hyprof killed: the program runs on" runs_on
kill -KILL "$program"
program=0
holds "hyprof killed: check says that the trace is cut off, and where" says_cut_off recorder
holds "hyprof killed: the report is of everything before" ends_with 0 "$HYPROF" report "$TMPDIR/recorder.hyp"
holds "hyprof killed: and says so" grep -q "cut off" "$TMPDIR/out"
"$HYPROF" report --json --limit 0 "$TMPDIR/recorder.hyp" >"$TMPDIR/recorder.json" 2>/dev/null
holds "hyprof killed: in JSON too" same cut_off "$(reported recorder .ending)"
n_zones=$(reported recorder .n_zones)
figure "hyprof killed: $n_zones of $before zones are in the trace"
holds "hyprof killed: zones are there" compare "$n_zones" ">" 0
holds "hyprof killed: check --repair mends it" ends_with 0 "$HYPROF" check --repair "$TMPDIR/recorder.hyp"
holds "hyprof killed: now it is whole" is_whole recorder
read_trace recorder
holds "hyprof killed: and has as many zones as before" same "whole $n_zones" \
        "$(reported recorder '"\(.ending) \(.n_zones)"')"

# ---- a full disk
# There is room for some samples beside the tables, which come first.  The command works until there is none, however slow
# the machine is, and then for a second.
cat >"$TMPDIR/until_full" <<'EOF'
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$1" 1
        [ "$(stat -f -c %a "$2")" -ne 0 ] || break
done
exec "$1" 1
EOF
mkdir "$full"
if mount -t tmpfs -o size=192k none "$full" 2>"$TMPDIR/mount"; then
        mounted=yes
        status=0
        "$HYPROF" record -F 9973 -o "$full/t.hyp" -- sh "$TMPDIR/until_full" "$WORKLOADS/w_two_zones" "$full" \
                >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
        cp "$full/t.hyp" "$TMPDIR/disk.hyp"
        cp "$TMPDIR/err" "$TMPDIR/disk.err"
        holds "full disk: status 125" same 125 "$status"
        holds "full disk: one line of error" same 1 "$(grep -c "^hyprof: error: .*$full/t.hyp.*No space left" "$TMPDIR/disk.err")"
        holds "full disk: the program ran to its end" grep -q '^zones [0-9]' "$TMPDIR/out"
        holds "full disk: check says that the trace is cut off, and where" says_cut_off disk
        holds "full disk: the report is of everything before" ends_with 0 "$HYPROF" report "$TMPDIR/disk.hyp"
        holds "full disk: the names that are missing, and what adds them" grep -q 'symbols: .*hyprof symbolize' "$TMPDIR/out"
        holds "full disk: which is said at once" grep -q "^  try: hyprof symbolize -o FILE $full/t.hyp" "$TMPDIR/disk.err"
        holds "full disk: and works" ends_with 0 "$HYPROF" symbolize -q -o "$TMPDIR/named.hyp" "$TMPDIR/disk.hyp"
        holds "full disk: then there are names" compare "$("$HYPROF" report --functions --json --limit 0 "$TMPDIR/named.hyp" |
                jq '[.functions.rows[] | select(.function | test("^\\[") | not)] | length')" ">" 0
        ends_with 0 "$HYPROF" report "$TMPDIR/disk.hyp"
        holds "full disk: with samples and zones" grep -qE 'samples +[1-9].*' "$TMPDIR/out"
        holds "full disk: it can be mended elsewhere" ends_with 0 "$HYPROF" check --repair "$TMPDIR/disk.hyp"
        holds "full disk: then it is whole" is_whole disk
        # Whatever writes there names the file.
        head -c 200000 /dev/zero >"$full/rest" 2>/dev/null || true
        says_which() { # what is run, file, command...
                ends_with 1 "${@:3}" || true
                holds "full disk: $1 names the file" grep -qE "^hyprof: error: .*$full/$2.*(No space left|full)" "$TMPDIR/err"
        }
        says_which export x.json "$HYPROF" export -o "$full/x.json" chrome "$TMPDIR/named.hyp"
        says_which query x.db "$HYPROF" query --sqlite "$full/x.db" "$TMPDIR/named.hyp"
        says_which symbolize x.hyp "$HYPROF" symbolize -o "$full/x.hyp" "$TMPDIR/disk.hyp"
        says_which html x.html "$HYPROF" html -o "$full/x.html" "$TMPDIR/named.hyp"
        for one in one two; do
                "$HYPROF" record -q -o "$TMPDIR/$one.hyp" -- "$WORKLOADS/w_two_zones" 0.02 >"$TMPDIR/out" 2>&1 || true
        done
        says_which merge m.hyp "$HYPROF" merge -o "$full/m.hyp" "$TMPDIR/one.hyp" "$TMPDIR/two.hyp"
        "$HYPROF" record -q --listen "$TMPDIR/socket" --linger 1s -- "$WORKLOADS/w_two_zones" 0.5 >"$TMPDIR/listen" 2>&1 &
        listener=$!
        says_which capture c.hyp "$HYPROF" capture --wait -o "$full/c.hyp" "$TMPDIR/socket"
        kill "$listener" 2>/dev/null || true
        wait "$listener" || true
        # There is no room for the index there: the part that is whole must not be harmed by trying.
        "$HYPROF" check --repair "$full/t.hyp" >/dev/null 2>&1 || true
        holds "full disk: nor harmed on the full disk" ends_with 0 "$HYPROF" report "$full/t.hyp"
else
        skips_group "full disk" "mount: $(tail -n 1 "$TMPDIR/mount")"
fi
