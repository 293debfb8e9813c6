#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A full disk, of the capture's side or of the recorder's: the program goes on, one line says so, and nothing is missing when there is room again
set -eu
. tests/tap.sh
plan 18
need jq python3
need_sampling
mkdir -m 700 "$TMPDIR/run" "$TMPDIR/full"
export XDG_RUNTIME_DIR=$TMPDIR/run
mkfifo "$TMPDIR/to" "$TMPDIR/from"
programs=()
cleanup() {
        local pid
        for pid in "${programs[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
        umount "$TMPDIR/full" 2>/dev/null || true
}
trap cleanup EXIT
. tests/flight.sh
socket=$TMPDIR/s

mount -t tmpfs -o size=96k none "$TMPDIR/full" 2>"$TMPDIR/why" ||
        { skips_group "a full disk" "mount: $(tail -n 1 "$TMPDIR/why")" && exit 0; }

listening() {
        local i
        for ((i = 0; i < 600; i++)); do
                [ -S "$socket" ] && return 0
                read -r -t 0.05 <> <(:) || true
        done
        return 1
}

fly_to() { # name, options...: a recording that is taken
        "$HYPROF" record "${@:2}" -- "$WORKLOADS/w_flight" <"$TMPDIR/to" >"$TMPDIR/from" 2>"$TMPDIR/$1.err" &
        recorder=$!
        programs+=("$recorder")
        exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
        listening
}

ended() { # status, process
        local status=0
        wait "$2" || status=$?
        same "$1" "$status"
}

zones() { "$HYPROF" report --json --limit 0 "$1" 2>/dev/null | jq .n_zones; }

take() { # file: $taker
        "$HYPROF" capture "$socket" --no-symbolize -o "$1" >"$TMPDIR/said" 2>&1 4>&- 5<&- &
        taker=$!
        programs+=("$taker")
}

# ---- the capture's
fly_to taker -F 9973 --listen "$socket"
take "$TMPDIR/full/t.hyp"
holds "the program goes on" eval 'tell flood 300000 && tell turns 1500 2 && tell flood 300000'
holds "capture: status 1" ended 1 "$taker"
holds "one line, with the file" same 1 "$(grep -c "error: $TMPDIR/full/t.hyp: .*No space left" "$TMPDIR/said")"
holds "and what to do" grep -q 'try: the same command again' "$TMPDIR/said"
mount -o remount,size=64m "$TMPDIR/full"
take "$TMPDIR/full/t.hyp"
holds "the recording ends as its program" land
holds "with room the same command goes on" ended 0 "$taker"
holds "with every zone" same 601502 "$(zones "$TMPDIR/full/t.hyp")"
holds "intact" "$HYPROF" check "$TMPDIR/full/t.hyp"

# ---- the recorder's own file
rm -f "$TMPDIR/full"/* "$socket"
mount -o remount,size=96k "$TMPDIR/full"
fly_to own -F 9973 --listen "$socket" -o "$TMPDIR/full/own.hyp"
take "$TMPDIR/t.hyp"
holds "own file: the program goes on" eval 'tell flood 300000 && tell turns 1500 2 && tell flood 300000'
holds "own file: the recording ends as its program" land
holds "own file: the capture has all of it" ended 0 "$taker"
holds "own file: with every zone" same 601502 "$(zones "$TMPDIR/t.hyp")"
holds "own file: one warning" same 1 "$(grep -c "warning: $TMPDIR/full/own.hyp: No space left on device; the rest was kept in memory" "$TMPDIR/own.err")"
holds "own file: nothing says that it was written" same 0 "$(grep -c 'wrote' "$TMPDIR/own.err")"

# ---- a disk with room for a few pages: what came is gone on with, or the earlier trace has its name again
rm -f "$TMPDIR/full"/* "$socket"
trace=tests/golden/v1.5.hyp
peer() { # how: a recorder that sends a part, $peer
        rm -f "$socket"
        python3 tests/tools/relay_peer.py recorder "$socket" "$1" "$trace" >"$TMPDIR/peer" 2>&1 &
        peer=$!
        programs+=("$peer")
        listening
}
few_pages() { # how many
        local full=$TMPDIR/full
        rm -f "$full"/*
        mount -o remount,size=96k "$full"
        cp "$trace" "$full/t.hyp"
        head -c 96k /dev/zero >"$full/rest" 2>/dev/null || true
        truncate -s "-$((4096 * $1))" "$full/rest"
        peer half
        ends_with 1 "$HYPROF" capture "$socket" --no-symbolize -o "$full/t.hyp" || return 1
        wait "$peer" || true
        cat "$TMPDIR/err"
        if grep -q 'to go on' "$TMPDIR/err"; then
                rm "$full/rest"
                peer rest
                ends_with 0 "$HYPROF" capture "$socket" --no-symbolize -o "$full/t.hyp" || return 1
                wait "$peer" || true
        else
                rm "$full/rest"
                same "$full/t.hyp" "$(echo "$full"/*)" || return 1
        fi
        cmp "$trace" "$full/t.hyp"
}
for n in 0 1 2 3; do
        holds "room for $n pages" few_pages "$n"
done
