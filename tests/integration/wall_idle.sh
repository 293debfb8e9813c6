#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# report --wall and --idle: a serial section has its share of the wall and is why a core was idle, on a busy machine as well
set -eu
. tests/tap.sh
plan 38
need jq
need_sampling

record serial --off-cpu -F 2000 "$WORKLOADS/w_serial" 60
record cores --off-cpu --idle -F 2000 "$WORKLOADS/w_serial" 60
record bare -F 2000 "$WORKLOADS/w_serial" 10
record alone --off-cpu sleep 0.3

json() { # name, jq's expression, options...
        "$HYPROF" report --json --limit 0 "${@:3}" "$TMPDIR/$1.hyp" >"$TMPDIR/answer.json" || return 1
        jq -r .answer "$TMPDIR/answer.json"
        jq -e "$2" "$TMPDIR/answer.json"
}

first_line() { # pattern, options...
        COLUMNS=1000 "$HYPROF" report "${@:2}" "$TMPDIR/serial.hyp" >"$TMPDIR/text" || return 1
        head -n 1 "$TMPDIR/text"
        head -n 1 "$TMPDIR/text" | grep -qE "$1"
}

fits() { # options...
        COLUMNS=100 "$HYPROF" report "$@" "$TMPDIR/serial.hyp" | awk 'length($0) > 100 { bad = 1 } END { exit bad }'
}

# Each of the commands that a view ends with.
hints_run() { # options...
        local n=0 hint
        "$HYPROF" report --json "$@" "$TMPDIR/serial.hyp" | jq -r '.hints[]' >"$TMPDIR/hints"
        while read -r hint; do
                n=$((n + 1))
                PATH=$(dirname "$HYPROF"):$PATH sh -c "$hint" >"$TMPDIR/hint" 2>&1 || { echo "fails: $hint" && cat "$TMPDIR/hint" && return 1; }
        done <"$TMPDIR/hints"
        compare $n '>=' 3
}

refused() { # words, options...
        local status=0
        "$HYPROF" report "${@:2}" "$TMPDIR/serial.hyp" >"$TMPDIR/out" 2>"$TMPDIR/refused" || status=$?
        cat "$TMPDIR/refused"
        [ "$status" = 2 ] && grep -qF -- "$1" "$TMPDIR/refused"
}

# Threads that could run count, so other programs on the CPUs change these numbers little.
# shellcheck disable=SC2016 # jq's
row='def row($f): [.wall.rows[] | select(.function == $f)][0];'
holds "shares of the wall add up to all of it" json serial '[.wall.rows[].share] | add | . > 0.999999 and . < 1.000001' --wall
holds "the serial part runs alone, but where the helper could not go to sleep yet" \
        json serial "$row"' row("serial").parallelism | . >= 1 and . < 1.4' --wall
holds "the other part runs on two threads" json serial "$row"' row("shared").parallelism - row("serial").parallelism | . > 0.1' --wall
holds "alone counts for more than samples" json serial "$row"' row("serial") | .share > .cpu_share' --wall
holds "side by side counts for less" json serial "$row"' row("shared") | .share < .cpu_share' --wall
alone='serial\(\), (alone|1.[1-4] threads at a time)'
holds "the first line" first_line "^[0-9]+% of the wall time \([0-9.]+ m?s\): $alone; [0-9]+% shared\(\), [0-9.]+ threads at a time" --wall
holds "with a zone, only while it is open" first_line "^[0-9]+% of the wall time while 'frame' was open \([0-9.]+ m?s\): $alone" \
        --wall --zone frame
holds "the zone of a thread is asked for as hyprof path does, and the hints run" hints_run --idle --zone 'frame@w_ser*'
holds "the same of the wall" hints_run --wall --zone 'frame@w_ser*'
holds "the helper's part is elsewhere then" json serial '[.wall.rows[] | select(.kind == "elsewhere") | .share] | . != [] and .[0] > 0.05' \
        --wall --zone frame
holds "with a thread, the others are elsewhere" json serial '([.wall.rows[].function] | index("serial") | not) and
        ([.wall.rows[] | select(.kind == "elsewhere") | .share][0] > 0.5)' --wall --thread helper
half=$("$HYPROF" report --wall --json "$TMPDIR/serial.hyp" | jq '.duration_ns / 2 | floor')
holds "a range of time" json serial ".wall_ns > 0 and .wall_ns <= $half + 1000 and .range_ns <= $half + 1000" --wall --from "${half}ns"
holds "shares of idle cores add up to all of them" json serial '([.idle.rows[].share] | add) - .idle_share - .others_share |
        . > -0.000001 and . < 0.000001' --idle
holds "the serial section is why a core was idle" json serial '[.idle.rows[] | select(.cause == "run")][0] |
        .function == "serial" and .waiting > 0.95 and .waiting < 1.05' --idle --zone frame
holds "core-seconds are the idle share of the cores' time" json serial '.idle_core_seconds - .idle_share * .cpus * .open_ns / 1e9 |
        . > -0.000001 and . < 0.000001' --idle
holds "the first line" first_line "^[0-9]+% of [0-9]+ cores? were idle or had other programs while 'frame' was open \([0-9.]+ core-seconds\)(; [0-9]+ points?( more)?: .*)?$" \
        --idle --zone frame
holds "the serial section in words" json serial '(.answer | test("ran(, mostly in)? serial\\(\\), 1 thread waited for it")) or
        ([.idle.rows[] | select(.cause == "run") | .share] | add // 0) < 0.06' \
        --idle --zone frame
holds "without a zone it is the program" first_line '^[0-9]+% of [0-9]+ cores? were idle or had other programs while the program ran \(' --idle
holds "idle is explained" json serial '.warnings | map(contains("the rest counts as idle")) | any' --idle
# In each step the cores that ran are, with those of the causes, all; and the causes have the shares of the whole.
# shellcheck disable=SC2016 # jq's
holds "over time: each step is all cores" json serial '.cpus as $n | .steps.rows |
        (group_by(.at_ns) | length > 100 and length <= 500 and all((([.[].cores] | add) + .[0].running - $n) | fabs < 0.0001))' --idle --histogram
# shellcheck disable=SC2016 # jq's
holds "over time: the causes are those of the whole" json serial '((.idle_share + .others_share) * .cpus) as $all |
        ([.steps.rows[] | .cores * .ns] | add) / ([.steps.rows | group_by(.at_ns)[] | .[0].ns] | add) - $all | fabs < 0.05 * $all + 0.02' \
        --idle --histogram
over_time() {
        "$HYPROF" report --idle --histogram "$TMPDIR/serial.hyp" | grep -A 3 '^Over time' && ! "$HYPROF" report --idle "$TMPDIR/serial.hyp" | grep '^Over time' &&
                "$HYPROF" report --idle --histogram --json "$TMPDIR/serial.hyp" | jq -e '[.steps.rows[].at_ns] | unique | length > 5 and length <= 20'
}
holds "over time: 20 steps for people" over_time
"$HYPROF" report --json "$TMPDIR/cores.hyp" >"$TMPDIR/cores.json"
if [ -z "$(reported cores '.missing.rows[] | select(.code == "WAITING_BY_PERF") | .detail')" ]; then
        holds "record --idle: the first line says idle alone" json cores '.answer | test("^[0-9]+% of [0-9]+ cores? were idle while")' --idle
        holds "record --idle: other programs are known" json cores '.warnings | map(contains("record --idle")) | any | not' --idle
        holds "record --idle: the rest of the time is theirs" json cores '([.idle.rows[] | select(.cause == "others") | .share] | add // 0) -
                .others_share | . > -0.000001 and . < 0.000001' --idle
        holds "record --idle: no core is counted twice" json cores '.idle_share + .others_share <= 1.000001' --idle --zone frame
else
        skips "record --idle: the first line says idle alone" "no BPF"
        skips "record --idle: other programs are known" "no BPF"
        skips "record --idle: the rest of the time is theirs" "no BPF"
        skips "record --idle: no core is counted twice" "no BPF"
fi
overview_counts() {
        "$HYPROF" report --json "$TMPDIR/serial.hyp" | jq -e '.cpus_used > 0 and .cpus_used <= .n_cpus' &&
                "$HYPROF" report "$TMPDIR/serial.hyp" | grep -E '^ *switches .*; [0-9.]+ of [0-9]+ CPUs ran threads, on average'
}
holds "the overview says how many CPUs ran threads" overview_counts
# In the overview: of threads that wait for each other, made up, since other programs change what recordings say.
made() { # name, waits
        env -u CK_TAP_LOG_FILE_NAME "$BUILD/tools/wait_trace" "$TMPDIR/$1.hyp" "$2" >/dev/null # it is made as a unit test is
}
overview_says() { # name, view, jq's expression about $first, the first line of the view, and .
        "$HYPROF" report --json "--$2" "$TMPDIR/$1.hyp" >"$TMPDIR/view.json" && "$HYPROF" report --json "$TMPDIR/$1.hyp" >"$TMPDIR/overview.json" &&
                jq -c '[.idle, .wall]' "$TMPDIR/overview.json" && jq -e --arg first "$(jq -r .answer "$TMPDIR/view.json")" "$3" "$TMPDIR/overview.json"
}
made small 12000
made large 1500000
# shellcheck disable=SC2016 # jq's
holds "the overview has the first line of --idle" overview_says small idle '.idle == $first and ($first | test("points: .dispatcher. alone ran serve"))'
# shellcheck disable=SC2016 # jq's
holds "of a large recording it looks at a part, and names it" overview_says large idle \
        '(.idle | test(" \\(in [0-9]+ ms from [0-9.]+ s on\\)$")) and .idle[0:20] == $first[0:20]'
overview_line() { # name, title
        "$HYPROF" report "$TMPDIR/$1.hyp" | grep -E "^  $2 +[0-9]+% of "
}
holds "for people as well" overview_line small idle
# The workers run one after the other, so no function has more of the wall time than of the samples.
holds "no word of the wall time where nothing was lost, or of cores without --off-cpu" eval \
        '! overview_line small wall && ! overview_line bare "(idle|wall)"'
holds "nor where the program has one thread, which cannot use more cores" eval \
        'json alone ".idle_share > 0.5" --idle && ! overview_line alone "(idle|wall)"'
holds "recorded without --off-cpu" json bare '.warnings | map(contains("without --off-cpu")) | any' --wall
holds "100 columns" fits --wall
holds "100 columns" fits --idle
holds "--wall: its next commands" hints_run --wall --zone frame
holds "--idle: its next commands" hints_run --idle --zone frame
holds "one view at a time" refused "choose one view" --wall --idle
