# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the scripts of integration/ and acceptance/: cases in TAP, skips, recordings.  They source it; run_tests.sh
# gives them HYPROF, WORKLOADS, BUILD and a TMPDIR of their own.

n_cases=0

# How many cases the script has where nothing is skipped: run_tests.sh fails a script that prints another number, so that
# none vanishes unseen.
plan() { # number
        echo "1..$1"
}

# The whole script is skipped.
skip_all() { # reason
        echo "$1"
        exit 77
}

need() { # tool...
        local tool
        for tool; do
                command -v "$tool" >/dev/null || skip_all "$tool is not installed"
        done
}

# A tool of LLVM, by the name that Debian 12 or 13 gives it; where neither is there, by the first.
llvm_tool() { # name
        command -v "$1-14" || command -v "$1-19" || echo "$1-14"
}

need_sampling() {
        "$HYPROF" doctor >"$TMPDIR/doctor" 2>&1 || skip_all "perf_event_open: $(grep -m 1 '^ *no ' "$TMPDIR/doctor")"
}

# A measured figure, shown even when all is well.
figure() { # words
        printf '# %s\n' "$1"
}

# A case: passed if the command succeeds; what it printed is shown if it does not, and case_failed() is called where a script has one.
holds() { # name, command...
        n_cases=$((n_cases + 1))
        if "${@:2}" >"$TMPDIR/case" 2>&1; then
                echo "ok $n_cases - $1"
        else
                echo "not ok $n_cases - $1"
                sed 's/^/    /' "$TMPDIR/case"
                ! declare -F case_failed >/dev/null || case_failed
        fi
}

skips() { # name, reason
        n_cases=$((n_cases + 1))
        echo "ok $n_cases - $1 # SKIP $2"
}

# Several cases are left out: there are fewer than planned.
skips_group() { # name, reason
        skips "$1: all cases" "$2"
}

# For `holds`: the same text or number.
same() { # wanted, found
        [ "$1" = "$2" ] || { printf 'wanted: %s\nfound:  %s\n' "$1" "$2" && return 1; }
}

# For `holds`: compares numbers; they may be expressions.
compare() { # number, operator of awk, number
        awk "BEGIN { exit !((${1:-0}) $2 (${3:-0})) }" || { echo "$1 is not $2 $3" && return 1; }
}

# For `holds`: the command ends with this status.  Its output stays in $TMPDIR/out and $TMPDIR/err.
ends_with() { # status, command...
        local status=0
        "${@:2}" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
        [ "$status" -eq "$1" ] && return 0
        echo "exit status $status, wanted $1: ${*:2}"
        head -n 20 "$TMPDIR/out" "$TMPDIR/err"
        return 1
}

# $TMPDIR/NAME.hyp; what the command and hyprof print goes to NAME.out and NAME.err.  The status is the command's.
record() { # name, options and command...
        "$HYPROF" record -o "$TMPDIR/$1.hyp" "${@:2}" >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err"
}

# $TMPDIR/NAME.events and NAME.json of $TMPDIR/NAME.hyp; for the columns see joined_dump.awk.
read_trace() { # name
        "$HYPROF" dump "$TMPDIR/$1.hyp" >"$TMPDIR/$1.dump"
        awk -f tests/joined_dump.awk "$TMPDIR/$1.dump" "$TMPDIR/$1.dump" >"$TMPDIR/$1.events"
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" >"$TMPDIR/$1.json"
}

# For awk on NAME.events: the columns by name.  In a sample, `self` is the function and `path` the zones; an event
# without operands, such as zones_gone, has no `zone`.
# shellcheck disable=SC2016,SC2034 # awk expands them
columns='{
        kind = $1; time_ns = $2; pid = $3; tid = $4; thread = $5; zone = $6
        self = $7; module = $8; path = $9; open = $10; stack = $11; address = $12; weight = $13
        source_line = $14
}'

# How many events awk's condition is true for.
n_events() { # name, condition
        awk -F '\t' "$columns $2 { n++ } END { print n + 0 }" "$TMPDIR/$1.events"
}

# For `holds`, on NAME.events: so many percent of the events that one condition is true for have another one as well, and
# there are enough of them.  The script has its own output at descriptor 3, where the counts are printed.
has_share() { # name, condition, the other one, percent, least number of events, words
        local n right
        n=$(n_events "$1" "$2")
        right=$(n_events "$1" "($2) && ($3)")
        figure "$1: $right of $n $6" >&3
        compare "$n" ">=" "$5" && compare "100 * $right" ">=" "$4 * $n"
}

# How many different values a column has among the events that awk's condition is true for.
n_different() { # name, condition, column
        awk -F '\t' "$columns $2 { seen[$3] = 1 } END { for (one in seen) n++; print n + 0 }" "$TMPDIR/$1.events"
}

# A value of the JSON of `hyprof report` on NAME.
reported() { # name, jq's expression
        jq -r "$2" "$TMPDIR/$1.json"
}

# The samples and events that were lost on the way, as lines "CODE count".  Reports also list times that were corrected or
# estimated, and callers that are missing, but no event is lost then; complete_stacks.sh counts incomplete call stacks.
lost() { # name
        reported "$1" '.missing.rows[] | select(.source == "loss") |
                select(.code != "CLOCK_CORRECTED" and .code != "SWITCHES_UNSEEN") |
                select((.code | startswith("STACK_") | not) or .code == "STACK_TABLE_FULL") |
                "\(.code) \(.count)"'
}

# The same but for samples and waits, which a slow machine may lose: what programs said.
lost_events() { # name
        lost "$1" | grep -Ev '^(THROTTLED|KERNEL_RING_FULL|SAMPLES_LOST|SWITCHES_LOST) ' || true
}

# The same without call stacks that are cut: records of the kernel that were not taken.
lost_records() { # name
        lost "$1" | grep -E '^(KERNEL_RING_FULL|RECORD_GARBAGE|SAMPLES_LOST|SWITCHES_LOST|THROTTLED) ' || true
}

# Waits until a command succeeds, for more than a minute; a script that waits in vain ends with this line.
wait_until() { # what is waited for, command...
        local i
        for ((i = 0; i < 1200; i++)); do
                "${@:2}" >/dev/null 2>&1 && return 0
                read -r -t 0.05 <> <(:) || true
        done
        echo "waited in vain until $1"
        return 1
}

until_it_says() { # file, words
        wait_until "$1 says '$2'" grep -qE "$2" "$1" || { cat "$1" && return 1; }
}

# In ticks, a line each: time of all CPUs, that in which they were not idle, and that of this script's children.
ticks() {
        awk '$1 == "cpu" { all = $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9; print all; print all - $5 - $6 }' /proc/stat
        sed 's/.*) //' /proc/$$/stat | awk '{ print $14 + $15 }'
}

# Between the two: which share of all CPUs' time programs took that are not this script's, in percent.
watch_others() { mapfile -t ticks_before < <(ticks); }
others_share() {
        local now
        mapfile -t now < <(ticks)
        echo $((100 * (now[1] - ticks_before[1] - (now[2] - ticks_before[2])) / (now[0] - ticks_before[0] + 1)))
}

# A case: no record was lost.  If other programs took more than a quarter of the CPUs since watch_others, the rings may have
# been full while the recorder waited for its turn; that is printed.
holds_all_records() { # the case's name, name of the trace
        local lost others
        lost=$(lost_records "$2")
        others=$(others_share)
        if [ "$others" -gt 25 ] && [ -n "$lost" ]; then
                figure "$2: other programs took $others% of the CPUs: $lost"
                lost=$(grep -v '^KERNEL_RING_FULL ' <<<"$lost" || true)
        fi
        holds "$1" same "" "$lost"
}

# For `holds`: the trace is whole.
is_whole() { # name
        "$HYPROF" check "$TMPDIR/$1.hyp"
}
