#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --zone-function: each call of a function is a zone, however it ends, in a command and in a running program
set -eu
. tests/tap.sh
plan 31
need jq gcc objcopy
need_sampling
[ "$(uname -m)" = x86_64 ] || skip_all "hardware: functions are probed on x86-64"
set -m
n=40
patterns=(--zone-function='work::*' --zone-function='w_probed!leaf' --zone-function='lea[f]') # one of them twice
for name in tail choose fact thrower catcher 'jump*' zoned; do
        patterns+=(--zone-function="$name")
done
program=
trap '[ -z "$program" ] || kill -KILL "$program" 2>/dev/null || true' EXIT

zones() { # name of the trace: "NAME COUNT", without parameters
        "$HYPROF" report --zones --limit 0 --json "$TMPDIR/$1.hyp" | jq -r '.zones.rows[] |
                (.name | sub("^work::"; "") | sub("^square::"; "") | sub("[(].*"; "")) + " " + (.count | tostring)' | sort
}
# The counts of the program, and its own zones.
counted() { { grep -v '^pid' "$1" && echo "own $((3 * n))"; } | sort; }
note() { "$HYPROF" report --json "$TMPDIR/$1.hyp" | jq -r ".missing.rows[] | select(.code == \"$2\") | .detail"; }
refused() { # status, words, options...: the program did not run, and the line says why
        local status=0
        "$HYPROF" record -q -o "$TMPDIR/refused.hyp" "${@:3}" "$WORKLOADS/w_probed" 1 >"$TMPDIR/refused.out" 2>"$TMPDIR/refused.err" ||
                status=$?
        same "$1" "$status" && same "" "$(cat "$TMPDIR/refused.out")" && grep -q -- "$2" "$TMPDIR/refused.err"
}

# The command ran, or nothing can be probed here: then the reason is the one that hyprof gave.
record calls "${patterns[@]}" "$WORKLOADS/w_probed" $n || {
        grep -q 'BPF' "$TMPDIR/calls.err" || { cat "$TMPDIR/calls.err" && exit 1; }
        skip_all "hardware: $(grep -m 1 BPF "$TMPDIR/calls.err")"
}

# ---- a command: returns, tail calls, jumps by a table, recursion, exceptions, longjmp, threads, its own zones
read_trace calls
holds "each function has as many zones as it counted" same "$(counted "$TMPDIR/calls.out")" "$(zones calls)"
holds "as many ends as begins" same "$(n_events calls 'kind == "zone_begin"')" "$(n_events calls 'kind == "zone_end"')"
nest() { # name of the trace: for nested(), the parent of each zone, which is open where that begins
        awk -F '\t' '$1 == "zone_begin" { path[$4, ++depth[$4]] = $6; up = depth[$4] > 1 ? path[$4, depth[$4] - 1] : "-"; n[$6 " in " up]++ }
                $1 == "zone_end" { depth[$4]-- } END { for (one in n) print one, n[one] }' "$TMPDIR/$1.events" | sort >"$TMPDIR/nested"
}
nested() { awk -v zone="$1 in $2" '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 == zone) print n }' "$TMPDIR/nested"; }
nest calls
holds "recursion nests: 4 of 5" same "$((12 * n))" "$(nested fact fact)"
holds "a tail call is no callee: its caller has ended" same "" "$(nested leaf tail)"
holds "what the caller calls is in it" same "$((3 * n / 2))" "$(nested leaf choose)"
holds "also what threw before" same "$((3 * n))" "$(nested thrower catcher)"
holds "also what a longjmp left" same "$((3 * n))" "$(nested jumper jumps)"
holds "what is called after that, in the frame that it left, is in the caller" same "$((3 * n / 4)) " "$(nested leaf jumps) $(nested leaf jumper)"
holds "the program's own zones nest with them" same "$((3 * n)) $((3 * n))" "$(nested own zoned) $(nested leaf own)"
holds "calls that never returned are counted" grep -q "; $((3 * n / 2 + 3 * n / 4)) calls did not return" <<<"$(note calls PROBES)"
holds "so are the hits" grep -qE '^[0-9]+ hits of [0-9]+ functions and static probes, about [0-9.]+ ms' <<<"$(note calls PROBES)"
holds "nothing was lost" same "" "$(lost calls)"
holds "a function says where it is declared" grep -q 'w_probed.cpp:[0-9]*$' <(awk -F '\t' '$1 == "zone_begin" && $6 == "leaf"' "$TMPDIR/calls.events")
holds "the call stacks are whole" same 0 "$(reported calls '[.missing.rows[] | select(.code == "RETURN_PROBE")] | length')"

# ---- once more, counted again
wrong=0
for i in 1 2 3; do
        record again "${patterns[@]}" --no-sampling "$WORKLOADS/w_probed" $n
        same "$(counted "$TMPDIR/again.out")" "$(zones again)" || wrong=$((wrong + 1))
done
holds "the counts are exact each time, also without samples" same 0 "$wrong"

# ---- the caller is no zone, and goes on: the call that was left ends where another one has its frame
record left --no-sampling --zone-function=jumper --zone-function=leaf "$WORKLOADS/w_probed" $n
read_trace left
nest left
holds "a call that a longjmp left holds no later one" same " $((3 * n))" "$(nested leaf jumper) $(nested jumper -)"

# ---- a running program
mkfifo "$TMPDIR/to"
"$WORKLOADS/w_probed" $n wait <"$TMPDIR/to" >"$TMPDIR/runs.out" &
program=$!
exec 4>"$TMPDIR/to"
wait_until "it runs" grep -q pid "$TMPDIR/runs.out"
"$HYPROF" record -o "$TMPDIR/joined.hyp" -p "$program" "${patterns[@]}" >"$TMPDIR/joined.out" 2>"$TMPDIR/joined.err" 4>&- &
recorder=$!
wait_until "it is joined" "$HYPROF" ctl "$recorder" status
exec 4>&-
wait "$recorder"
holds "of a running program as well" same "$(counted "$TMPDIR/runs.out")" "$(zones joined)"

# ---- libraries
printf '#include <unistd.h>\nint main(void) { for (int i = 0; i < 25; i++) if (write(1, "", 0) < 0) return 1; return 0; }' >"$TMPDIR/writes.c"
gcc -o "$TMPDIR/writes" "$TMPDIR/writes.c"
record library --zone-function='libc.so!write' "$TMPDIR/writes"
holds "a function of a library, by a name that is an alias" same "write 25" "$(zones library)"

# ---- names in a debug file beside the program, but for a file of root's: a link to it could have false ones beside it
mkdir "$TMPDIR/beside"
objcopy --only-keep-debug "$WORKLOADS/w_probed" "$TMPDIR/beside/w_probed.debug"
objcopy --strip-all --add-gnu-debuglink="$TMPDIR/beside/w_probed.debug" "$WORKLOADS/w_probed" "$TMPDIR/beside/w_probed"
beside() { "$HYPROF" record -q -o "$TMPDIR/beside.hyp" --zone-function=jumps "$TMPDIR/beside/w_probed" 8 >"$TMPDIR/beside.out" 2>"$TMPDIR/beside.err"; }
chown nobody "$TMPDIR/beside/w_probed"
holds "names in a debug file beside the program" beside
holds "are its functions" same "jumps 24" "$(zones beside | grep -v '^own ')"
chown root "$TMPDIR/beside/w_probed"
holds "not for a file of root's" ends_with 125 beside
holds "it says that there are no names" grep -q "'jumps': no function has such a name" "$TMPDIR/beside.err"

# ---- limits
record limited --zone-function=leaf --zone-function=tail --zone-function-limit=10 "$WORKLOADS/w_probed" 400
holds "a function that is called too often is switched off, and named" grep -q '^leaf was switched off: more than 10 calls in a second' \
        <<<"$(note limited NO_PROBE)"
holds "the program ran on unharmed" grep -q '^leaf 5100$' "$TMPDIR/limited.out"

# ---- what cannot be
holds "a function that was inlined everywhere" refused 125 "'always_inlined': inlined everywhere" --zone-function=always_inlined
holds "a function that does not exist" refused 125 "'nosuch': no function has such a name" --zone-function=nosuch
holds "a file that does not exist" refused 125 "no such program or library" --zone-function='nolib.so!x'
holds "a file that is no program" refused 125 "not an ELF file" --zone-function="tests/tap.sh!x"
mkdir -m 0 "$TMPDIR/closed"
closed() { # words: as the user of sudo, because root may read all
        ! SUDO_UID=65534 SUDO_GID=65534 "$HYPROF" record -q -o - --zone-function="$TMPDIR/closed/x!x" -- true >"$TMPDIR/closed.out" 2>"$TMPDIR/closed.err" &&
                same "$1" "$(sed 's/.*closed.x: //' "$TMPDIR/closed.err")"
}
holds "a file that may not be read: no advice about the kernel's events" closed "Permission denied"
holds "no name" refused 125 "expected a function after the !" --zone-function='libc.so!'
holds "too many" refused 125 "functions match, and at most 1000" --zone-function='libc.so!*'
