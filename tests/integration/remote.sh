#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace that comes through ssh, by a pipe or by a forwarded port, is the trace that the recorded machine has; what a small buffer loses is counted to the event
set -eu
. tests/tap.sh
. tests/sshd.sh
. tests/captured.sh
plan 29
need jq setpriv pgrep
need_sampling
hyprof=("${bound[@]}" "$HYPROF")
mkdir -m 700 "$TMPDIR/run"
export XDG_RUNTIME_DIR=$TMPDIR/run
mkfifo "$TMPDIR/to" "$TMPDIR/from"
cleanup() {
        local pid
        for pid in "${processes[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
}
trap cleanup EXIT

until_true() { # command...: at most a minute
        local i
        for ((i = 0; i < 1200; i++)); do
                "$@" && return 0
                read -r -t 0.05 <> <(:) || true
        done
        echo "has not come: $*"
        return 1
}

tell() { # command: w_flight has obeyed it
        local line=
        echo "$*" >&4
        read -r -t 60 line <&5 && same ok "$line"
}

ended() { # status, process
        local status=0
        wait "$2" || status=$?
        same "$1" "$status"
}

counts() { # trace: everything that is counted in it
        "$HYPROF" check "$1" | sed -E "s/, [0-9.]* [KMG]*B//; s/ [0-9,]+ chunks,//"
        "$HYPROF" report --zones --json --limit 0 "$1" | jq -c '[.zones.rows[] | {name, count}]'
        "$HYPROF" report --json --limit 0 "$1" | jq -c '[.n_samples, .n_zones, .n_switches, .n_messages, .n_callstacks, [.missing.rows[] | {code, count}]]'
}

same_counts() { # two traces
        same "$(counts "$1")" "$(counts "$2")"
}

# ---- a capture that is killed twenty times, and a buffer that is much too small
# How many events there are in all: the same program with another number of zones, recorded into a file.
flown=(--no-sampling --no-switches)
"$HYPROF" record -q "${flown[@]}" -o "$TMPDIR/few.hyp" -- "$WORKLOADS/w_flight" <<<"flood 1000" >/dev/null
events() { "$HYPROF" check "$1" | sed -E 's/.* ([0-9,]+) events.*/\1/; s/,//g'; }
constant=$(($(events "$TMPDIR/few.hyp") - 2000))
socket=$TMPDIR/s
"${hyprof[@]}" record "${flown[@]}" --listen "$socket" --no-wait --buffer 64K -- "$WORKLOADS/w_flight" \
        <"$TMPDIR/to" >"$TMPDIR/from" 2>"$TMPDIR/killed.err" &
recorder=$!
processes+=("$recorder")
exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
until_true grep -q listening "$TMPDIR/killed.err"
n_zones=3000000 # more than there is room for, before the first capture
tell "flood $n_zones" >/dev/null
for ((i = 0; i < 20; i++)); do
        "${hyprof[@]}" capture "$socket" --no-symbolize -o "$TMPDIR/killed.hyp" >"$TMPDIR/said" 2>&1 4>&- 5<&- &
        taker=$!
        processes+=("$taker")
        n=$((20000 + RANDOM))
        n_zones=$((n_zones + n))
        tell "flood $n" >/dev/null
        read -r -t "0.0$((RANDOM % 10))$((RANDOM % 10))" <> <(:) || true
        kill -KILL "$taker" 2>/dev/null || true
        wait "$taker" 2>/dev/null || true
done
"${hyprof[@]}" capture "$socket" --no-symbolize -o "$TMPDIR/killed.hyp" >"$TMPDIR/said" 2>&1 4>&- 5<&- &
taker=$!
processes+=("$taker")
exec 4>&- 5<&-
has_end() { ended 0 "$taker" || { cat "$TMPDIR/said" "$TMPDIR/killed.err" && return 1; }; }
holds "killed 20 times: the last capture has the end" has_end
holds "killed 20 times: the recording ends as its program" ended 0 "$recorder"
holds "killed 20 times: the trace is intact" "$HYPROF" check "$TMPDIR/killed.hyp"
# Chunks that say what is open after a gap hold no events of the program; they begin with zones_gone.
read -r reopened dropped taken < <("$HYPROF" dump "$TMPDIR/killed.hyp" | awk '
        /^chunk / { is_new = 0 }
        /^zones_gone / { is_new = 1 }
        is_new && / time_ns=/ && !/^(state|loss) / { n++ }
        /^loss / { split($3, reason, "="); sub(/.* count=/, ""); missing[reason[2]] += $1 }
        END { print n + 0, missing[52] + 0, missing[53] + 0 }')
holds "killed 20 times: each event is there or counted" same "$((2 * n_zones + constant))" \
        "$(($(events "$TMPDIR/killed.hyp") - reopened + dropped + taken))"
figure "$((2 * n_zones + constant)) events: $dropped dropped, $taken with an earlier capture; $reopened say what is open"
holds "killed 20 times: some are missing" compare "$dropped" ">" 0
holds "killed 20 times: the recorder says the same" same "$dropped" \
        "$(sed -nE 's/.*warning: ([0-9,]+) events were dropped.*/\1/p' "$TMPDIR/killed.err" | tr -d ,)"

# ---- names that the recorded machine does not have
cat >"$TMPDIR/spin.c" <<'END'
#include <time.h>
__attribute__((noinline)) long spin_inner(long n)
{
        volatile long s = 0;
        for (long i = 0; i < n; i++)
                s += i;
        return s;
}
int main(void)
{
        struct timespec now;
        do {
                (void)spin_inner(100000);
                (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        } while (now.tv_sec == 0 && now.tv_nsec < 300000000);
        return 0;
}
END
mkdir -p "$TMPDIR/board" "$TMPDIR/root/$TMPDIR/board"
gcc -O1 -g -Wl,--build-id=sha1 -o "$TMPDIR/whole" "$TMPDIR/spin.c"
id=$(readelf -n "$TMPDIR/whole" | awk '/Build ID/ { print $3 }')
mkdir -p "$TMPDIR/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug "$TMPDIR/whole" "$TMPDIR/debug/.build-id/${id:0:2}/${id:2}.debug"
objcopy --strip-all "$TMPDIR/whole" "$TMPDIR/root/$TMPDIR/board/spin"
stacks() { # trace: the calls that lead to spin_inner, without the command's name
        "$HYPROF" export folded -q -o - "$1" | sed -n 's/^[^;]*\(;.*;spin_inner\) [0-9]*$/\1/p' | sort -u
}
unnamed() { # trace: frames of the program without a name, and without a line
        "$HYPROF" modules --json --limit 0 "$1" | jq -c '.modules.rows[] | select(.path // "" | endswith("/spin")) |
                [.n_frames - .n_named, .n_frames - .n_with_line]'
}
# The words before a command that sees the program, and no debug files.
# shellcheck disable=SC2016 # the shell within expands it
in_namespace=("${bound[@]}" env "DEBUG=$TMPDIR/debug" "BOARD=$TMPDIR/board" "SPIN=$TMPDIR/root/$TMPDIR/board/spin" unshare -m sh -c '
        mount -t tmpfs none "$DEBUG" && mount -t tmpfs none "$BOARD" && cp "$SPIN" "$BOARD/spin" && exec "$@"' sh)
if ! "${in_namespace[@]}" true 2>"$TMPDIR/why"; then
        skips_group "a namespace without debug files" "$(tail -n 1 "$TMPDIR/why")"
else
        export HYPROF_CACHE_DIR=$TMPDIR/cache
        unset DEBUGINFOD_URLS
        "$HYPROF" record -q -o "$TMPDIR/whole.hyp" -- "$TMPDIR/whole"
        "${in_namespace[@]}" "$HYPROF" record -q --listen "$socket" -o "$TMPDIR/own.hyp" -- "$TMPDIR/board/spin" >"$TMPDIR/said" 2>&1 &
        recorder=$!
        processes+=("$recorder")
        holds "namespace: is taken" ends_with 0 "${hyprof[@]}" capture --wait "$socket" -o "$TMPDIR/named.hyp" \
                --sysroot "$TMPDIR/root" --debug-dir "$TMPDIR/debug"
        holds "namespace: the recording ends" ended 0 "$recorder"
        holds "namespace: there the program has no names" same "" "$(stacks "$TMPDIR/own.hyp")"
        holds "namespace: here it has those that a recording with debug files has" \
                same "$(stacks "$TMPDIR/whole.hyp")" "$(stacks "$TMPDIR/named.hyp")"
        holds "namespace: down to the function" grep -q 'main;spin_inner' <(stacks "$TMPDIR/named.hyp")
        holds "namespace: every frame has its name" same 0 "$(unnamed "$TMPDIR/named.hyp" | jq '.[0]')"
        # Only _start has no line: its code is not of the program's sources.
        holds "namespace: and its line" same 1 "$(unnamed "$TMPDIR/named.hyp" | jq '.[1]')"
fi

# ---- through ssh: Debian's sshd on the loopback, with keys of its own
if ! reach_sshd; then
        skips_group "ssh" "sshd: $(tail -n 1 "$TMPDIR/why")"
else
        run="XDG_RUNTIME_DIR='$TMPDIR/run' ${bound[*]} '$HYPROF'"
        through_pipe() {
                "${ssh[@]}" "$run record -q -o - -- '$WORKLOADS/w_flight' | tee '$TMPDIR/there.hyp'" <<<"flood 200000" \
                        2>"$TMPDIR/err" >"$TMPDIR/here.hyp"
        }
        holds "a pipe: recorded through ssh" through_pipe
        holds "a pipe: byte for byte the file that is there" cmp "$TMPDIR/there.hyp" "$TMPDIR/here.hyp"
        holds "a pipe: with every count" same_counts "$TMPDIR/there.hyp" "$TMPDIR/here.hyp"
        holds "a pipe: and every zone" same 200002 "$("$HYPROF" report --json --limit 0 "$TMPDIR/here.hyp" | jq .n_zones)"
        holds "a pipe: what the command printed is beside the trace" same ok "$(cat "$TMPDIR/err")"
        read_through_pipe() {
                "${ssh[@]}" "$run record -q -o - -- true" 2>/dev/null </dev/null | "$HYPROF" report - >"$TMPDIR/out"
        }
        holds "a pipe: a report reads it" read_through_pipe

        "${ssh[@]}" "exec env $run record --listen 0 -o '$TMPDIR/port_there.hyp' -- '$WORKLOADS/w_flight'" \
                <<<$'flood 200000\nturns 5 1' >"$TMPDIR/port.out" 2>"$TMPDIR/port.err" &
        recorder=$!
        processes+=("$recorder")
        until_true grep -q '^hyprof: listening at 127' "$TMPDIR/port.err"
        listens=$(sed -n 's/^hyprof: listening at //p' "$TMPDIR/port.err")
        "${ssh[@]}" -N -L "$TMPDIR/h.socket:$listens" </dev/null &
        tunnel=$!
        processes+=("$tunnel")
        until_true test -S "$TMPDIR/h.socket"
        holds "a port: taken through ssh -L" ends_with 0 "${hyprof[@]}" capture "$TMPDIR/h.socket" --no-symbolize -o "$TMPDIR/port_here.hyp"
        holds "a port: the recording ends as its program" ended 0 "$recorder"
        holds "a port: what the file there has" same_but_readings "$TMPDIR/port_there.hyp" "$TMPDIR/port_here.hyp"
        holds "a port: with every count" same_counts "$TMPDIR/port_there.hyp" "$TMPDIR/port_here.hyp"
        holds "a port: and every zone" same 200007 "$("$HYPROF" report --json --limit 0 "$TMPDIR/port_here.hyp" | jq .n_zones)"
        no_ssh() { ! pgrep -f -- "$TMPDIR/user_key|$TMPDIR/sshd_config"; }
        kill -KILL "$tunnel" "$daemon"
        holds "ssh: nothing of it is left" until_true no_ssh
fi

# ---- the reader of a pipe goes away
closed() { # the program goes on to its end
        { "$HYPROF" record -q -o - -- "$WORKLOADS/w_flight" <<<$'flood 200000\nturns 5 1' 2>"$TMPDIR/err"; echo $? >"$TMPDIR/status"; } |
                head -c 100 >/dev/null
}
holds "a pipe that its reader closes" closed
holds "closed: the program has ended by itself" same 2 "$(grep -c '^ok$' "$TMPDIR/err")"
holds "closed: the status says that the recording failed" same 125 "$(cat "$TMPDIR/status")"
holds "closed: in one line" same "1 1" "$(grep -vc '^ok$' "$TMPDIR/err") $(grep -c 'standard output: .*Broken pipe' "$TMPDIR/err")"
