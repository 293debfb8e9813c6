#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof path` names who delayed a zone, where that is known; its segments add up to the time of the zone; where nothing
# is planted it names no other thread
set -eu
. tests/tap.sh
plan 19
need jq
need_sampling

truths=tests/workloads/delays/truth.tsv
program=$WORKLOADS/w_delays

# Other programs then do not preempt it: all that it waits for is planted.
priority=(chrt -r 10)
chrt -r 10 true 2>/dev/null || priority=()

# A column of the kind's truth.
truth() { # kind, column
        awk -F '\t' -v kind="$1" -v column="$2" '$1 == kind { print $column }' "$truths"
}

# $TMPDIR/path.json: what hyprof says of the kind's zone.
ask() { # kind, instances
        local before=("${priority[@]}")
        [ "$(truth "$1" 3)" != - ] || before=()
        rm -f "$TMPDIR/path.hyp"
        record path --off-cpu -F 2000 "${before[@]}" "$program" "$1" "$2" || return
        "$HYPROF" path --zone "$(truth "$1" 4)" --json --limit 0 "$TMPDIR/path.hyp" >"$TMPDIR/path.json"
}

# Rows in which a thread could run but had no CPU are the machine's, unless they are planted.
# shellcheck disable=SC2016 # the variables are jq's
rows='def rows: .path | if type == "object" then .rows else . end;
      def place: if .kind == "run" then .function elif .kind | IN("preempted", "ready", "throttled") then "[preempted]"
                 else "[\(.kind)]" end;'

is_exact() {
        jq -e '.segments_ns == .total_ns and .total_ns > 0' "$TMPDIR/path.json" >/dev/null || {
                jq '{segments_ns, total_ns}' "$TMPDIR/path.json"
                return 1
        }
}

first_row() { # place of the truth
        jq -r --arg planted "$1" "$rows"' [rows[] | {thread_name, place: place, share}
                | select($planted == "[preempted]" or .place != "[preempted]")] | max_by(.share) | "\(.thread_name) \(.place)"' \
                "$TMPDIR/path.json"
}

is_planted() { # first row, thread or *, places with commas
        local thread=${1%% *} place=${1#* }
        [ "$2" = '*' ] || [ "$2" = "$thread" ] || return
        [[ ",$3," == *",$place,"* ]]
}

# For `holds`: the first row is the planted one.  On a busy machine an answer may be wrong if it says that it is not sure.
names() { # kind, instances
        local first try thread places
        first=$(truth "$1" 5) thread=${first%% *} places=${first#* }
        for try in 1 2 3; do
                ask "$@" && is_exact || return 1
                is_planted "$(first_row "$places")" "$thread" "$places" && return
                echo "try $try: wanted $first, found $(first_row "$places"):"
                "$HYPROF" path --zone "$(truth "$1" 4)" "$TMPDIR/path.hyp" || true
                ! jq -e '.confidence == "high"' "$TMPDIR/path.json" >/dev/null || return 1
        done
        return 1
}

# A case, left out where the machine cannot have it.
planted() { # words, kind, instances
        local reason
        if "$program" "$2" 0 >"$TMPDIR/can" 2>&1; then
                holds "$1" names "$2" "$3"
        else
                reason=$(sed -n 's/^skip: //p' "$TMPDIR/can")
                skips "$1" "hardware: ${reason:-the program failed}"
        fi
}

# For `holds`: no other thread has 5 %.
names_none() { # kind, instances
        local try
        for try in 1 2 3; do
                ask "$@" && is_exact || return 1
                jq -e "$rows"' [rows[] | select(place != "[preempted]")] | (map(.share) | add) as $all
                        | [.[] | select(.own | not)] | group_by(.thread_name) | all((map(.share) | add) < 0.05 * $all)' \
                        "$TMPDIR/path.json" >/dev/null && return
                echo "try $try:"
                "$HYPROF" path --zone "$(truth "$1" 4)" "$TMPDIR/path.hyp" || true
                ! jq -e '.confidence == "high"' "$TMPDIR/path.json" >/dev/null || return 1
        done
        return 1
}

# For `holds`
every_kind_has_its_truth() {
        same "$("$program" --list | sort)" "$(awk -F '\t' '$2 == "w_delays" { print $1 }' "$truths" | sort)"
}

holds 'every kind has its truth' every_kind_has_its_truth
planted 'a chain of three holders of locks: the first one' convoy 60
planted 'two holders of one lock: both' handoff 60
planted 'a thread that did other work before it waited itself: whom it waited for' episode 40
planted 'a join of a chain and a side job: the chain' dag 60
planted 'a join of two unequal parts: the larger one' imbalance 60
planted 'an answer by the queue in which another one came before: the other one' asks 80
planted 'a serial section' serial 50
planted 'the last one at a barrier' barrier 80
planted 'a thread that its creator waits for' relay 60
planted 'three processes and their pipes' pipes 80
planted 'a server behind TCP on this machine' tcp 90
planted 'a child that ends' child 40
planted 'a timer, though another thread ran when it fired' timedfutex 80
planted 'a holder of a lock that has no CPU' prioinv 40
if [ "$(nproc)" -lt 2 ]; then
        skips_group 'nulls' 'hardware: one CPU'
else
        holds 'nothing planted: one thread' names_none constant 120
        holds 'nothing planted: idle threads of a pool' names_none shutdown 120
        holds 'nothing planted: a helper that is ready before it is needed' names_none early 120
        holds 'nothing planted: two threads that have nothing to do with each other' names_none indep 120
fi
