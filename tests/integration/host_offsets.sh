#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Recordings of several hosts, captured by one machine, lie where they were within the stated bound; over slow and uneven connections as well
set -eu
. tests/tap.sh
plan 21
need jq python3
need_sampling
programs=()
cleanup() {
        local pid
        for pid in "${programs[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
        rm -f "/tmp/hyprof.offsets.$$"
}
trap cleanup EXIT
# A path of fewer than 108 bytes, wherever TMPDIR is.
ln -s "$TMPDIR" "/tmp/hyprof.offsets.$$"
folder=/tmp/hyprof.offsets.$$

# shellcheck disable=SC2016 # for the shell in the namespace
if ! unshare --mount sh -c 'mount --bind "$0" /proc/sys/kernel/random/boot_id' /etc/hostname 2>/dev/null; then
        skip_all "hardware: no right to make mount namespaces, in which a machine has another boot id"
fi

# Recordings of this machine, which seem to be of other machines: the clocks are the same, so that the truth is known.
capture() { # name, seconds, milliseconds to it and from it, or nothing
        local socket=$folder/$1.s taken_from=$folder/$1.s recorder
        printf '%s-0000-0000-0000-000000000000\n' "$(printf '%s' "$1" | md5sum | cut -c 1-8)" >"$TMPDIR/$1.boot"
        # shellcheck disable=SC2016 # for the shell in the namespace
        unshare --mount sh -c 'mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@"' sh "$TMPDIR/$1.boot" \
                "$HYPROF" record --listen "$socket" --no-symbolize -- "$WORKLOADS/w_two_zones" "$2" >"$TMPDIR/$1.said" 2>&1 &
        recorder=$!
        programs+=("$recorder")
        until_it_says "$TMPDIR/$1.said" 'listening at'
        if [ $# -gt 2 ]; then
                taken_from=$folder/$1.proxy
                python3 tests/tools/delay_proxy.py "$taken_from" "$socket" "$3" "$4" >"$TMPDIR/$1.proxy.said" 2>&1 &
                programs+=("$!")
                until_it_says "$TMPDIR/$1.proxy.said" listening
        fi
        "$HYPROF" capture "$taken_from" -q --no-symbolize -o "$TMPDIR/$1.hyp"
        wait "$recorder"
}

recordings() { # trace, jq expression of the rows
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" 2>/dev/null | jq -r ".recordings.rows | $2"
}

n_readings() { "$HYPROF" dump "$TMPDIR/$1.hyp" | grep -c '^exchange '; }

# All clocks are one: what was added to the second recording is what it is wrong by.
is_within_bound() { # trace
        # shellcheck disable=SC2016 # variables of jq
        test "$(recordings "$1" '((.[1].offset_ns | tonumber) - (.[0].offset_ns | tonumber)) as $wrong |
                ($wrong | fabs) <= .[1].error_ns')" = true
}

judge() { # what, trace, largest bound in ns, names...
        local merged=$2
        holds "$1: they merge" ends_with 0 "$HYPROF" merge "$TMPDIR/$4.hyp" "$TMPDIR/$5.hyp" -o "$TMPDIR/$merged.hyp"
        holds "$1: merge says by what" grep -qE "$5.hyp is .*, placed within .*, by [0-9]+ readings? of clocks over the captures' connections" "$TMPDIR/err"
        holds "$1: by readings" same "REFERENCE EXCHANGED" "$(recordings "$merged" 'map(.clock) | join(" ")')"
        holds "$1: the truth is within the bound" is_within_bound "$merged"
        holds "$1: the bound is what the way takes" compare "$(recordings "$merged" '.[1].error_ns')" "<" "$3"
}

capture one 0.3
capture two 0.3
judge "a short way" short 1000000000 one two
holds "the report says so" grep -qE "two: times by clock readings over its capture's connection, within" \
        <("$HYPROF" report "$TMPDIR/short.hyp" 2>/dev/null | sed 's/[^ ]*:two/two/')

# 60 ms there and 2 ms back, and the other way around: half of each round trip is the error, in opposite directions.
capture far 2.5 60 2
capture away 2.5 2 60
judge "uneven ways" uneven 1000000000 far away
holds "its bound is not less than half of both ways" compare "$(recordings uneven '.[1].error_ns')" ">" 55000000
holds "a reading of the burst and one of the end" compare "$(n_readings far)" ">=" 2

# ---- the machine that captured records as well
record here -- "$WORKLOADS/w_two_zones" 0.2
judge "the capture's own machine" own 1000000000 here one

# ---- merged ones, merged again
holds "a merged one and another" ends_with 0 "$HYPROF" merge "$TMPDIR/short.hyp" "$TMPDIR/away.hyp" -o "$TMPDIR/again.hyp"
holds "all by readings" same "REFERENCE EXCHANGED EXCHANGED" "$(recordings again 'map(.clock) | join(" ")')"

# ---- who asked
capture_boot=$(cat /proc/sys/kernel/random/boot_id)
holds "the readings name the capture's machine" grep -q "taker_high=0x0*$(echo "${capture_boot//-/}" | cut -c 1-16 | sed 's/^0*//') " \
        <("$HYPROF" dump "$TMPDIR/one.hyp" | grep '^exchange ')
