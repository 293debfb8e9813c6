#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof view --follow`, `hyprof view -` and `hyprof record --view`: a trace is shown while it grows, and whole after its end
set -eu
. tests/tap.sh
plan 50
need curl jq

trace=tests/golden/v1.4.hyp
size=$(stat -c %s "$trace")
export XDG_CACHE_HOME="$TMPDIR/cache"
mkdir -p "$XDG_CACHE_HOME"
unset DISPLAY WAYLAND_DISPLAY SSH_CONNECTION

# $url; the words are in $TMPDIR/view.out and view.err
await_address() { # pid
        until grep -q '^Ctrl-C' "$TMPDIR/view.out"; do
                kill -0 "$1" 2>/dev/null || { cat "$TMPDIR/view.err" && return 1; }
                sleep 0.05
        done
        url=$(sed -n '/^http/p' "$TMPDIR/view.out")
}

start() { # options and operands of hyprof view...
        : >"$TMPDIR/view.out"
        "$HYPROF" view "$@" >"$TMPDIR/view.out" 2>"$TMPDIR/view.err" 7>&- &
        pid=$!
        await_address "$pid"
}

model() { # jq filter; the server may be the next one in a moment
        curl -s --retry 20 --retry-delay 1 --retry-all-errors "${url}model" | jq -r "$1"
}

# Until the model has it: a jq filter that is true.
becomes() {
        for _ in $(seq 600); do
                [ "$(model "$1")" != true ] || return 0
                sleep 0.1
        done
        model .
        return 1
}

ends_with() { # status, pid
        local status=0
        wait "$2" || status=$?
        same "$1" "$status" || { cat "$TMPDIR/view.err" && return 1; }
}

n_zones='[.tracks[].lanes[] | select(.kind == "zones") | .items] | add // 0'

start "$trace"
n_whole=$(model "$n_zones")
holds 'the whole trace has zones' test "$n_whole" -gt 0
kill -INT "$pid"
ends_with 0 "$pid"

# ---- a file that grows
head -c $((size / 2)) "$trace" >"$TMPDIR/grow.hyp"
start --follow "$TMPDIR/grow.hyp"
holds 'half of a trace is live' becomes '.is_live'
holds 'the model is as its schema says' python3 - "$url" <<'PYTHON'
import json, re, sys, urllib.request
import jsonschema
schema = json.load(open("docs/schemas/hyprof.timeline.1.json"))
jsonschema.validate(json.load(urllib.request.urlopen(re.sub(r"^http://[^:]*:", "http://127.0.0.1:", sys.argv[1]) + "model")), schema)
PYTHON
tail -c +$((size / 2 + 1)) "$trace" >>"$TMPDIR/grow.hyp"
holds 'the rest of it ends that' becomes '.is_live | not'
holds 'then all zones are there' becomes '.progress == 1 and ('"$n_zones) == $n_whole"
holds 'and the functions' becomes '.functions | length > 0'
holds 'an answer is the command'"'"'s' same "$("$HYPROF" report --zones --json --limit 0 "$trace" | jq -c '[.zones.rows[].count]')" \
        "$(curl -s "${url}answer?question=zones" | jq -c '[.zones.rows[].count]')"
kill -INT "$pid"
holds 'Ctrl-C ends it' ends_with 0 "$pid"

# ---- devices that a program makes after its first events: their zones come about a second later
holds 'a program with a device is recorded' record devices --embed=none sh -c "'$WORKLOADS/w_device_waits' kernel; '$WORKLOADS/w_device_waits' kernel"
last=$("$HYPROF" dump "$TMPDIR/devices.hyp" | sed -n 's/^chunk offset=\([0-9]*\) kind=2 .*/\1/p' | tail -n 1)
head -c "$last" "$TMPDIR/devices.hyp" >"$TMPDIR/live.hyp"
start --follow "$TMPDIR/live.hyp"
holds 'its zones are shown while it runs' becomes '.is_live and ([.tracks[] | select(.kind == "device" and .title == "gpu lane 0") | .lanes[].items] | add // 0) > 0'
kill -INT "$pid"
wait "$pid" || true

# ---- files that change
head -c $((size / 2)) "$trace" >"$TMPDIR/cut.hyp"
start --follow "$TMPDIR/cut.hyp"
becomes .is_live
: >"$TMPDIR/cut.hyp"
holds 'a file that is truncated ends it' ends_with 1 "$pid"
holds 'in one line' same 1 "$(grep -c 'the file was truncated' "$TMPDIR/view.err")"
head -c $((size / 2)) "$trace" >"$TMPDIR/old.hyp"
cp "$TMPDIR/old.hyp" "$TMPDIR/new.hyp"
start --follow "$TMPDIR/old.hyp"
becomes .is_live
mv "$TMPDIR/new.hyp" "$TMPDIR/old.hyp"
holds 'a file that is replaced ends it' ends_with 1 "$pid"
holds 'in one line, too' same 1 "$(grep -c 'another file has its name now' "$TMPDIR/view.err")"
holds 'what is no trace is refused' sh -c "! '$HYPROF' view --follow --no-open README.md 2>'$TMPDIR/err' && grep -q README.md '$TMPDIR/err'"
holds 'two traces are not followed' sh -c "'$HYPROF' view --follow --before a --after b 2>'$TMPDIR/err'; test \$? -eq 2"

# ---- a pipe
mkdir "$TMPDIR/spool"
mkfifo "$TMPDIR/pipe"
: >"$TMPDIR/view.out"
TMPDIR=$TMPDIR/spool "$HYPROF" view - <"$TMPDIR/pipe" >"$TMPDIR/view.out" 2>"$TMPDIR/view.err" &
pid=$!
exec 7>"$TMPDIR/pipe"
head -c $((size / 2)) "$trace" >&7
await_address "$pid"
holds 'half of a trace on standard input is live' becomes '.is_live'
tail -c +$((size / 2 + 1)) "$trace" >&7
exec 7>&-
holds 'its end is the end of the recording' becomes '(.is_live | not) and .progress == 1 and ('"$n_zones) == $n_whole"
kill -TERM "$pid"
holds 'SIGTERM ends it' ends_with 0 "$pid"
holds 'and no file stays' same '' "$(ls "$TMPDIR/spool")"
: >"$TMPDIR/view.out"
head -c $((size / 2)) "$trace" | "$HYPROF" view - >"$TMPDIR/view.out" 2>"$TMPDIR/view.err" &
pid=$!
await_address "$pid"
holds 'a pipe that ends early is shown, and said' becomes '(.is_live | not) and (.warnings | length > 0)'
kill -TERM "$pid"
ends_with 0 "$pid"

# ---- a recording of its own
if "$HYPROF" doctor >"$TMPDIR/doctor" 2>&1; then
        : >"$TMPDIR/view.out"
        mkfifo "$TMPDIR/gate"
        "$HYPROF" record --view -o "$TMPDIR/own.hyp" -- sh -c "'$WORKLOADS/w_two_zones' 1 && read -r line <'$TMPDIR/gate'" \
                >"$TMPDIR/view.out" 2>"$TMPDIR/view.err" </dev/null &
        pid=$!
        await_address "$pid"
        holds 'a recording is shown while it runs' becomes '.is_live and ('"$n_zones"') > 1000'
        holds 'its threads have names' becomes '[.threads[].name] | index("w_two_zones") != null'
        holds 'its functions too' becomes '.is_live and ([.functions[].name] | any(. == "busy_a" or . == "busy_b"))'
        # An answer of the server, as its page asks for it: a question, a jq filter that is true of it.
        answers() {
                for _ in $(seq 100); do
                        [ "$(curl -s "${url}answer?question=$1" | jq -r "$2")" != true ] || return 0
                        sleep 0.1
                done
                curl -s "${url}answer?question=$1"
                return 1
        }
        holds 'the table of functions has their names' answers functions '[.functions.rows[].function] | any(. == "busy_a" or . == "busy_b")'
        holds 'with files and lines' answers 'annotate&function=busy_a' '[.. | strings | select(endswith("w_two_zones.c"))] | length > 0'
        holds 'and so has the tree of callers' answers top_down '[.. | strings] | any(. == "busy_a" or . == "busy_b")'
        holds 'and no answer says that names are missing' answers functions '(.warnings | any(test("still being written"))) and (.warnings | any(test("without names")) | not)'
        codes=$("$HYPROF" report --functions --json --limit 0 "$TMPDIR/own.hyp" 2>"$TMPDIR/report" | jq -c '[.missing.rows[].code]')
        holds 'a report does not advise to look for names that come' same 'true false' "$(jq -r '[any(. == "STILL_WRITTEN"), any(startswith("NO_SYMBOLS"))] | map(tostring) | join(" ")' <<<"$codes")"
        holds 'while it is live' test true = "$(model .is_live)"
        holds 'which are on its timeline' becomes '.is_live and ([.tracks[].lanes[] | select(.kind == "ghosts") | .items] | add) > 0'
        echo >"$TMPDIR/gate"
        holds 'when the command ends the trace is whole' becomes '(.is_live | not) and .progress == 1'
        n=$(sed -n 's/^zones //p' "$TMPDIR/view.out")
        holds 'with each of its zones' same $((2 * n)) "$(model "$n_zones")"
        kill -INT "$pid"
        holds 'then Ctrl-C ends the viewer' ends_with 0 "$pid"

        # Zones that are not over: "open" around the others, which begin and end inside of it.
        mkfifo "$TMPDIR/commands"
        "$HYPROF" record -q -o "$TMPDIR/open.hyp" -- "$WORKLOADS/w_life" serve <"$TMPDIR/commands" >"$TMPDIR/answers" 2>"$TMPDIR/record.err" &
        recorder=$!
        exec 7>"$TMPDIR/commands"
        printf "open\nemit\n" >&7
        until [ -s "$TMPDIR/open.hyp" ]; do
                kill -0 "$recorder"
                sleep 0.05
        done
        start --follow "$TMPDIR/open.hyp"
        outer='[.tracks[].lanes[] | select(.kind == "zones" and .depth == 0)]'
        holds "a zone that is not over is there" becomes ".is_live and ($outer | length == 1 and .[0].items == 1)"
        holds "as long as it is so far" becomes ".is_live and (${outer}[0] | .last_ns - .first_ns >= 1000)"
        holds "and is drawn" test 1 = "$(curl -s "${url}lanes?from=0&to=$(model .duration_ns)&bucket=10&ids=$(model "${outer}[0].id")" | od -An -tu4 -j24 -N4 | tr -d " ")"
        printf "close\n" >&7
        exec 7>&-
        holds "it ends with the others" becomes "(.is_live | not) and .progress == 1 and ($outer | length == 1 and .[0].items == 1)"
        kill -INT "$pid"
        ends_with 0 "$pid"
        wait "$recorder"

        # One that is captured: shown while it comes, from a recorder that leaves the names to the capture.
        listen() { # options...
                : >"$TMPDIR/record.err"
                "$HYPROF" record --no-symbolize --listen "$TMPDIR/socket" "$@" -- sh -c "'$WORKLOADS/w_two_zones' 1 && read -r line <'$TMPDIR/gate'" \
                        >"$TMPDIR/record.out" 2>"$TMPDIR/record.err" </dev/null &
                recorder=$!
                until grep -q listening "$TMPDIR/record.err"; do
                        kill -0 "$recorder"
                        sleep 0.05
                done
        }
        capture() {
                : >"$TMPDIR/view.out"
                "$HYPROF" capture "$TMPDIR/socket" --view -o "$TMPDIR/captured.hyp" >"$TMPDIR/view.out" 2>"$TMPDIR/view.err" </dev/null &
                pid=$!
                await_address "$pid"
        }
        named='[.functions[].name] | any(. == "busy_a" or . == "busy_b")'
        listen
        capture
        holds 'a capture is shown while it comes' becomes '.is_live and ('"$n_zones"') > 1000'
        holds 'with its functions' becomes ".is_live and ($named)"
        holds 'report says that it is still being written' sh -c "'$HYPROF' report --zones '$TMPDIR/captured.hyp' 2>&1 >'$TMPDIR/report' | grep -q 'still being written'"
        echo >"$TMPDIR/gate"
        holds 'its end is the end of the recording' becomes '(.is_live | not) and .progress == 1'
        wait "$recorder"
        n=$(sed -n 's/^zones //p' "$TMPDIR/record.out")
        holds 'with all of its zones' same $((2 * n)) "$(model "$n_zones")"
        holds 'and the names that the capture found' same true "$(model "$named")"
        holds 'which answers have' grep -q busy_a <(curl -s "${url}answer?question=functions")
        kill -INT "$pid"
        holds 'until Ctrl-C' ends_with 0 "$pid"

        # One that is left by Ctrl-C, gone on with, and left for good.
        rm -f "$TMPDIR"/captured.hyp*
        listen --linger 1ms
        capture
        becomes '.is_live and ('"$n_zones"') > 1000'
        kill -INT "$pid"
        holds 'after Ctrl-C the part that came is shown' becomes '(.is_live | not) and .progress == 1 and (.warnings | length > 0)'
        kill -INT "$pid"
        holds 'until another one, with the status of the capture' ends_with 1 "$pid"
        capture
        holds 'the same command goes on' becomes '.is_live and ('"$n_zones"') > 1000'
        kill -TERM "$pid"
        holds 'SIGTERM ends both' ends_with 1 "$pid"
        echo >"$TMPDIR/gate"
        wait "$recorder" || true
else
        for name in 'a recording is shown while it runs' 'its threads have names' 'its functions too' \
                'the table of functions has their names' 'with files and lines' 'and so has the tree of callers' \
                'and no answer says that names are missing' 'a report does not advise to look for names that come' \
                'while it is live' 'which are on its timeline' \
                'when the command ends the trace is whole' 'with each of its zones' \
                'then Ctrl-C ends the viewer' 'a zone that is not over is there' 'as long as it is so far' \
                'and is drawn' 'it ends with the others' 'a capture is shown while it comes' 'with its functions' \
                'report says that it is still being written' 'its end is the end of the recording' \
                'with all of its zones' 'and the names that the capture found' 'which answers have' 'until Ctrl-C' \
                'after Ctrl-C the part that came is shown' 'until another one, with the status of the capture' \
                'the same command goes on' 'SIGTERM ends both'; do
                skips "$name" 'no events can be opened'
        done
fi
