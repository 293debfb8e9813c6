#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How often the first line of `hyprof why` is the planted cause, and how often it names one where none is planted.
#
# A cell is a cause, a length of the zone, a rate and a load; its workload is w_why_cell.  A run counts where the slow instances
# have at least 20 samples or 20 recorded waits; in one that does not, the first line has to say what to record.
# "quiet": the program has a real-time priority if that is allowed, so that others on the machine do not preempt it.
# "busy": 4 spinning processes beside it.  False sharing's like and moves are in the quiet cells only.
#
# By the environment: WHY_CAUSES, WHY_ZONES (ns), WHY_RATES (Hz), WHY_LOADS, WHY_RUNS (of a cell), WHY_SECONDS (of a recording),
# WHY_NULL_RUNS, WHY_NULL_LOADS, WHY_OUT (a file that gets the table as well), WHY_KEEP (a folder for traces that went wrong).
# Exit status: 0 = the bounds of docs/use/why.md hold, 1 = they do not.
set -u
build=${1:-build/release}
hyprof=$build/hyprof
causes=${WHY_CAUSES-path lock faults sleep move memory}
zones=${WHY_ZONES-1000 100000 10000000}
rates=${WHY_RATES-997 4999}
loads=${WHY_LOADS-quiet busy}
runs=${WHY_RUNS-10}
seconds=${WHY_SECONDS-1.5}
null_runs=${WHY_NULL_RUNS-200}
null_loads=${WHY_NULL_LOADS-quiet}
folder=$(mktemp -d)
spinners=()

clean_up() {
        [ ${#spinners[@]} -eq 0 ] || kill "${spinners[@]}" 2>/dev/null
        rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

say() { # words
        printf '%s\n' "$*"
        [ -z "${WHY_OUT-}" ] || printf '%s\n' "$*" >>"$WHY_OUT"
}

spin() {
        while [ ${#spinners[@]} -lt 4 ]; do
                (while :; do :; done) &
                spinners+=($!)
        done
}

stop_spinning() {
        [ ${#spinners[@]} -eq 0 ] && return
        kill "${spinners[@]}" 2>/dev/null
        wait "${spinners[@]}" 2>/dev/null
        spinners=()
}

# The program's priority in quiet cells; empty if it is not allowed one.
priority=(chrt -r 10)
chrt -r 10 true 2>/dev/null || priority=()

words_of() { # cause: what the first line has to have
        case $1 in
        path) echo 'Slow instances (probably )?run (slow_work\(\) from )?slow_path\(\)' ;;
        lock) echo "Slow instances (probably )?wait for the lock 'queue'" ;;
        faults) echo 'Slow instances (probably )?(take page faults in touch_pages\(\)|run touch_pages\(\) .* and take page faults there)' ;;
        sleep) echo 'Slow instances (probably )?wait in rest\(\)' ;;
        move) echo 'Slow instances (probably )?move to another CPU' ;;
        memory) echo 'the same code took longer, mostly in walk\(\)|Slow instances (probably )?run walk\(\)' ;;
        esac
}

# There are few instances of 10 ms, so that more of them are slow, and recordings take twice as long.
slowest_of() { # ns
        if [ "$1" -gt 5000000 ]; then echo 20%; else echo 1%; fi
}

seconds_of() { # ns
        if [ "$1" -gt 5000000 ]; then awk "BEGIN { print 2 * $seconds }"; else echo "$seconds"; fi
}

# $folder/why.json; fails without an answer.
ask() { # cause, ns, rate, load, seed
        local before=()
        [ "$4" = quiet ] && before=("${priority[@]}")
        rm -f "$folder/why.hyp"
        : >"$folder/errors"
        timeout 60 "$hyprof" record -q -F "$3" --off-cpu -o "$folder/why.hyp" -- "${before[@]}" \
                "$build/workloads/w_why_cell" "$1" "$2" "$(seconds_of "$2")" "$5" >"$folder/record" 2>&1 ||
                { echo "hyprof record: exit status $?" >>"$folder/record" && return 1; }
        timeout 60 "$hyprof" why --json --limit 0 --zone request --slowest "$(slowest_of "$2")" "$folder/why.hyp" \
                >"$folder/why.json" 2>"$folder/errors"
}

say_failed() { # what
        say "    $1: no answer: $(tail -qn 1 "$folder/record" "$folder/errors" | tr '\n' ' ')"
}

keep() { # name
        [ -z "${WHY_KEEP-}" ] && return
        mkdir -p "$WHY_KEEP"
        cp "$folder/why.hyp" "$WHY_KEEP/$1.hyp"
        cp "$folder/why.json" "$WHY_KEEP/$1.json"
}

# Wilson's 95 % interval, in percent.
interval() { # right, all
        awk -v k="$1" -v n="$2" 'BEGIN {
                if (n == 0) { print "-"; exit }
                z = 1.96; p = k / n; d = 1 + z * z / n; m = (p + z * z / (2 * n)) / d
                h = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d
                printf "%.1f%% (%.1f to %.1f)", 100 * p, 100 * (m - h < 0 ? 0 : m - h), 100 * (m + h > 1 ? 1 : m + h)
        }'
}

# Whether the slow instances have what is needed: samples, or waits.
has_evidence() { # cause
        case $1 in
        lock | sleep | move) jq -e '.slow_compared >= 20' "$folder/why.json" >/dev/null ;;
        *) jq -e '.slow_samples >= 20' "$folder/why.json" >/dev/null ;;
        esac
}

n_right=0 n_all=0 n_poor=0 n_said=0 n_failed=0 worst=100

cell() { # cause, ns, rate, load
        local run right=0 all=0 poor=0 said=0 failed=0 answer words
        words=$(words_of "$1")
        for ((run = 1; run <= runs; run++)); do
                if ! ask "$1" "$2" "$3" "$4" "$run"; then
                        failed=$((failed + 1))
                        say_failed "$*"
                        continue
                fi
                answer=$(jq -r .answer "$folder/why.json")
                if has_evidence "$1"; then
                        all=$((all + 1))
                        if [[ $answer =~ $words ]]; then
                                right=$((right + 1))
                        else
                                say "    $1 $2 $3 $4: $answer"
                                keep "$1-$2-$3-$4-$run"
                        fi
                else
                        poor=$((poor + 1))
                        if [[ $answer =~ $words || $answer =~ 'not enough' ]]; then
                                said=$((said + 1))
                        else
                                say "    $1 $2 $3 $4 (too few): $answer"
                                keep "$1-$2-$3-$4-$run"
                        fi
                fi
        done
        n_right=$((n_right + right)) n_all=$((n_all + all)) n_poor=$((n_poor + poor))
        n_said=$((n_said + said)) n_failed=$((n_failed + failed))
        [ "$all" -eq 0 ] || [ $((100 * right / all)) -ge $worst ] || worst=$((100 * right / all))
        say "$(printf '%-7s %8s ns %5s Hz %-5s  %3s of %3s  too few: %s of %s said  failed: %s' \
                "$1" "$2" "$3" "$4" "$right" "$all" "$said" "$poor" "$failed")"
}

planted() {
        local load zone rate cause
        for load in $loads; do
                [ "$load" = busy ] && spin
                for cause in $causes; do
                        [ "$load" = busy ] && { [ "$cause" = move ] || [ "$cause" = memory ]; } && continue
                        for zone in $zones; do
                                for rate in $rates; do cell "$cause" "$zone" "$rate" "$load"; done
                        done
                done
                stop_spinning
        done
}

n_null=0 n_false=0

nothing() { # load
        local run rate
        local -a list
        read -ra list <<<"$rates"
        for ((run = 1; run <= null_runs; run++)); do
                rate=${list[$((run % ${#list[@]}))]}
                if ! ask null 100000 "$rate" "$1" "$run"; then
                        n_failed=$((n_failed + 1))
                        say_failed "nothing planted, $rate $1"
                        continue
                fi
                n_null=$((n_null + 1))
                jq -e 'any(.causes.rows[]?; .confidence == "high" or .confidence == "medium")' \
                        "$folder/why.json" >/dev/null || continue
                n_false=$((n_false + 1))
                say "    nothing planted, $rate $1: $(jq -r .answer "$folder/why.json")"
                keep "null-$rate-$1-$run"
        done
}

command -v jq >/dev/null || { echo 'jq is not installed'; exit 77; }
[ -z "${WHY_OUT-}" ] || : >"$WHY_OUT"
say "hyprof why on $(nproc) CPUs, $(date -u +%F), $runs runs of $seconds s a cell; quiet: ${priority[*]:-as it is}"
started=$(date +%s)
planted
for load in $null_loads; do
        [ "$load" = busy ] && spin
        nothing "$load"
        stop_spinning
done
say "the planted cause is the first line: $n_right of $n_all, $(interval "$n_right" "$n_all"); worst cell $worst%"
say "too few samples or waits: $n_said of $n_poor say so or name the cause; $n_failed recordings failed"
say "nothing planted: $((n_null - n_false)) of $n_null name nothing, $(interval $((n_null - n_false)) "$n_null")"
say "$(($(date +%s) - started)) s"
awk "BEGIN { exit !($n_right >= 0.95 * $n_all && $worst >= 80 && $n_false <= 0.02 * $n_null && $n_failed == 0) }"
