#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof view`: who is served and who is refused, the same answers as the commands', and an end that leaves no process
set -eu
. tests/tap.sh
plan 87
need curl jq python3
export no_proxy='*' XDG_STATE_HOME="$TMPDIR/state"

trace=tests/golden/v1.4.hyp
cp "$trace" "$TMPDIR/t.hyp"
export XDG_CACHE_HOME="$TMPDIR/cache"
mkdir -p "$XDG_CACHE_HOME"

# $pid, $url, $port
start() { # options...
        : >"$TMPDIR/view.out"
        "$HYPROF" view --no-open "$@" >"$TMPDIR/view.out" 2>"$TMPDIR/view.err" &
        pid=$!
        until grep -q '^http' "$TMPDIR/view.out"; do
                kill -0 "$pid" 2>/dev/null || { cat "$TMPDIR/view.err" && return 1; }
                sleep 0.05
        done
        url=$(sed -n '/^http/p' "$TMPDIR/view.out")
        port=${url#http://*.localhost:} port=${port%%/*}
}

status() { # options of curl...
        curl -s -o "$TMPDIR/body" -w '%{http_code}' "$@"
}

serves() { # status, address below the token
        same "$1" "$(status "$url$2")"
}

index_is_made() { curl -s "${url}model" | jq -e '.progress == 1'; }
wait_for_index() {
        wait_until "the index is made" index_is_made
}

answers_like() { # question, options of report...
        same 200 "$(status "${url}answer?question=$1")" &&
                "$HYPROF" report --json --whole -i "$TMPDIR/t.hyp" "${@:2}" >"$TMPDIR/cli.json" &&
                cmp "$TMPDIR/cli.json" "$TMPDIR/body"
}

children_are_gone() {
        local child
        for child in $children; do
                ! kill -0 "$child" 2>/dev/null || { echo "process $child runs" && return 1; }
        done
}

# Where the address cannot be printed, the viewer says it on standard error.
says_address() {
        : >"$TMPDIR/view.err"
        "$HYPROF" view --no-open "$TMPDIR/t.hyp" >/dev/full 2>"$TMPDIR/view.err" &
        pid=$!
        until_it_says "$TMPDIR/view.err" 'standard output: No space left on device; the address is http' || return 1
        url=$(sed -n 's/.*the address is //p' "$TMPDIR/view.err")
        serves 200 ''
        kill -INT "$pid"
        wait "$pid" || true
}
holds 'a full disk in place of standard output: the address is said' says_address

start "$TMPDIR/t.hyp"
holds 'the page' serves 200 ''
holds 'its policy allows scripts of the server only' sh -c "curl -s -D - -o /dev/null '$url' | grep -i \"^content-security-policy: default-src 'none'; script-src 'self';\""
holds 'no header allows other sites' sh -c "! curl -s -D - -o /dev/null -H 'Origin: http://evil.example' '$url' | grep -i access-control"
holds 'without the last slash the browser is sent to the page' same 302 "$(status "${url%/}")"
holds 'a wrong token is refused' same 403 "$(status "http://127.0.0.1:$port/00000000000000000000000000000000/model")"
holds 'no token is refused' same 403 "$(status "http://127.0.0.1:$port/")"
holds 'the name is made of 128 random bits' sh -c "echo '$url' | grep -qE '^http://[0-9a-f]{32}\.localhost:[0-9]+/[0-9a-f]{32}/\$'"
holds 'and says nothing of the token' test "${url:7:32}" != "${url: -33:32}"
holds 'another host is refused' same 403 "$(status -H 'Host: evil.example' "${url}model")"
holds 'programs that do not know the name ask 127.0.0.1' same 200 "$(status "http://127.0.0.1:$port/${url#http://*/}model")"
holds 'and localhost' same 200 "$(status "http://localhost:$port/${url#http://*/}model")"
holds 'the page is not there, nor its script' sh -c "curl -s -o /dev/null -w '%{http_code}' -o /dev/null 'http://127.0.0.1:$port/${url#http://*/}' 'http://localhost:$port/${url#http://*/}page.js' | grep -qx 403403"
holds 'no script becomes a service worker' same 403 "$(status -H 'Service-Worker: script' "${url}page.js")"
holds 'POST is refused' same 405 "$(status -d x "${url}model")"
holds 'a path is no page' same 404 "$(status --path-as-is "${url}../../../../etc/passwd")"
holds 'an unknown page' serves 404 nothing.js
holds 'a range that is nonsense' serves 400 'lanes?from=5&to=3&bucket=0&ids=0'
holds 'a lane that is none' serves 400 'lanes?from=0&to=3&bucket=0&ids=99999'
holds 'the model is JSON' sh -c "curl -s '${url}model' | jq -e '.schema == \"hyprof.timeline/1\"'"
wait_for_index
lane=$(curl -s "${url}model" | jq '[.tracks[].lanes[] | select(.kind == "zones")][0].id')
holds 'a lane' serves 200 "lanes?from=0&to=1000000000&bucket=4&ids=$lane"
holds 'it begins with its mark' same HYTL "$(head -c 4 "$TMPDIR/body")"
holds 'the next zone' sh -c "curl -s '${url}find?lane=$lane&at=0&direction=next' | jq -e '.end_ns >= .begin_ns'"
holds 'functions as the command shows them' answers_like functions --functions
holds 'zones likewise' answers_like zones --zones
holds 'a zone likewise' answers_like "zone&zone=z1&histogram=1" --zone z1 --histogram
note='[{"from":1,"to":1,"text":"here"}]'
keep() { # name, text; further options of curl
        status -d "$2" "${@:3}" "${url}keep?name=$1"
}
holds 'nothing is kept yet, in no file' sh -c "curl -s '${url}kept' | jq -e '. == {}' && ! test -e '$XDG_STATE_HOME'"
holds 'notes are kept' same 200 "$(keep notes "$note")"
holds 'in a file of the user alone' same 600 "$(stat -c %a "$XDG_STATE_HOME"/hyprof/viewer/*.notes)"
holds 'a setting likewise' same 200 "$(keep theme dark)"
holds 'not for another page' same 403 "$(keep theme light -H 'Origin: http://127.0.0.1:1')"
holds 'not under any name' same 400 "$(keep x y)"
head -c 1048577 /dev/zero | tr '\0' x >"$TMPDIR/long"
holds 'not without a bound' same 500 "$(keep tracks "@$TMPDIR/long")"
head -c 1048576 "$TMPDIR/long" >"$TMPDIR/longest"
holds 'up to it in one piece' sh -c "curl -s -d '@$TMPDIR/longest' '${url}keep?name=tracks' && cmp '$TMPDIR/longest' '$XDG_STATE_HOME'/hyprof/viewer/*.tracks"
holds 'a question that is none' serves 400 'answer?question=rm'
holds "a command's complaint comes as JSON" sh -c "curl -s '${url}answer?question=functions&thread=nobody' | jq -e '.error | length > 0'"
holds 'a comparison needs two traces' serves 400 'answer?question=diff'
holds 'so does what is before' serves 404 before/model

# As many connections as there may be, of a program that says nothing; it hangs up, or waits until the server does.
idle() { # "close" or "wait"
        python3 - "$port" "$1" <<'PYTHON'
import socket
import sys

idle = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=40) for _ in range(24)]
if sys.argv[2] == "wait":
    for one in idle:
        assert one.recv(1) == b""
PYTHON
}
holds '24 idle connections are closed' idle wait
holds 'and the server answers' wait_until "the server answers" serves 200 model
holds '24 idle connections hang up' idle close
holds 'and the server answers' wait_until "the server answers" serves 200 model

server=$(pgrep -P "$pid" | head -n 1)
holds 'the server has no capabilities' grep -q '^CapEff:	0000000000000000$' "/proc/$server/status"
holds 'it cannot gain any' grep -q '^NoNewPrivs:	1$' "/proc/$server/status"
holds 'the kernel refuses it the system calls of the list' grep -q '^Seccomp:	2$' "/proc/$server/status"
holds 'it may serve as long as it is wanted' grep -q '^Max cpu time  *unlimited' "/proc/$server/limits"
children=$(pgrep -P "$pid")
cp "$trace" "$TMPDIR/other" && printf x >>"$TMPDIR/other" && mv "$TMPDIR/other" "$TMPDIR/t.hyp"
holds 'a trace that was replaced is noticed by the model' serves 409 model
holds 'and by an answer' serves 409 'answer?question=functions'
kill -INT "$pid"
holds 'Ctrl-C is the ordinary end' wait "$pid"
holds 'and ends all processes' children_are_gone

former=$url
cp "$trace" "$TMPDIR/copy.hyp"
start "$TMPDIR/copy.hyp"
holds 'the next viewer has another name' test "${url%%.*}" != "${former%%.*}"
holds 'and finds the notes of the trace, also of a copy' same "$note dark" "$(curl -s "${url}kept" | jq -r '.notes + " " + .theme')"
kill -INT "$pid"
wait "$pid" || true
"$BUILD/tools/made_trace" many "$TMPDIR/other.hyp" 200 200
start "$TMPDIR/other.hyp"
holds 'another trace has the settings only' same '{"theme":"dark"}' "$(curl -s "${url}kept")"
kill -INT "$pid"
wait "$pid" || true
holds 'the index was kept' sh -c "ls '$XDG_CACHE_HOME'/hyprof/timeline/*.* >/dev/null"
holds 'and no part of one' sh -c "! ls '$XDG_CACHE_HOME'/hyprof/timeline/*.part 2>/dev/null"
cp "$trace" "$TMPDIR/t.hyp"
"$BUILD/tools/made_trace" many "$TMPDIR/before.hyp" 200 200
start "$TMPDIR/before.hyp" "$TMPDIR/t.hyp"
holds 'two traces are compared' serves 200 'answer?question=diff'
duration_of() { curl -s "${url}$1" | jq .duration_ns; }
holds 'each has its model' test "$(duration_of before/model)" != "$(duration_of model)"
holds 'and its lanes' serves 200 'before/lanes?from=0&to=1000&bucket=4&ids=0'
holds 'and its notes' same 200 "$(status -d '["before"]' "${url}before/keep?name=notes")"
holds 'which are not those of the other' sh -c "curl -s '${url}before/kept' | jq -e '.notes == \"[\\\"before\\\"]\"' && curl -s '${url}kept' | jq -e '.notes != \"[\\\"before\\\"]\"'"
holds 'answers say by themselves whom they are about' serves 404 'before/answer?question=functions'
holds 'and pages are those of both' serves 404 before/page.js
{ printf HYPC && head -c 200 /dev/zero; } >"$TMPDIR/broken.hyp"
has_failed() { curl -s "${url}nearby" | jq -e '.failure | test("broken.hyp")'; }
was=$(duration_of before/model)
status -d broken.hyp "${url}compare" >/dev/null
holds 'another one that cannot be read is refused' wait_until "the refusal" has_failed
holds 'and the one before stays' same "$was" "$(duration_of before/model)"
rm "$TMPDIR/broken.hyp"
children=$(pgrep -P "$pid")
kill -TERM "$pid"
wait "$pid" || true
holds 'SIGTERM ends all as well' children_are_gone

# ---- another trace of the folder is chosen
start "$TMPDIR/t.hyp"
is_compared() { curl -s "${url}nearby" | jq -e .is_compared; }
holds 'the folder has another trace' sh -c "curl -s '${url}nearby' | jq -e '[.traces[].name] | index(\"before.hyp\") != null and index(\"t.hyp\") == null'"
holds 'which is compared' same 200 "$(status -d before.hyp "${url}compare")"
wait_until "the next server" is_compared
holds 'answers about it are about it' sh -c "curl -s '${url}answer?question=zones&side=before' >'$TMPDIR/of_before.json' &&
        '$HYPROF' report --zones --json --whole -i '$TMPDIR/before.hyp' | cmp - '$TMPDIR/of_before.json'"
holds 'and the difference has both' serves 200 'answer?question=diff'
kill -KILL "$(pgrep -P "$pid" | head -n 1)"
is_without() { curl -s "${url}nearby" | jq -e '.is_compared == false and (.failure | test("killed by signal 9"))'; }
holds 'a server that dies of two traces is followed by one of the first alone' wait_until "that server" is_without
holds 'which answers' serves 200 'answer?question=functions'
kill -INT "$pid"
wait "$pid" || true

# ---- an answer that is awaited no longer
"$BUILD/tools/made_trace" many "$TMPDIR/many.hyp" 2000000 20000
start "$TMPDIR/many.hyp"
wait_for_index
others=$(pgrep -P "$pid" | sort)

is_stopped() { # process: waits until it is stopped, or has ended before
        local state
        while state=$(ps -o state= -p "$1") && [ "$state" != Z ]; do
                [ "$state" != T ] || return 0
        done
        return 1
}

# $answer is a process that answers and was stopped before its end, for $client; again if it was too fast.
stop_an_answer() {
        for _ in $(seq 100); do
                curl -s -o "$TMPDIR/unwanted" "${url}answer?question=zones&job=7" &
                client=$!
                while kill -0 "$client" 2>/dev/null; do
                        answer=$(pgrep -P "$pid" | sort | comm -13 <(echo "$others") - | head -n 1)
                        [ -n "$answer" ] || continue
                        kill -STOP "$answer" 2>/dev/null && is_stopped "$answer" && return 0
                done
                wait "$client" || true
        done
        return 1
}

ends() { # process
        for _ in $(seq 1200); do
                kill -0 "$1" 2>/dev/null || return 0
                sleep 0.05
        done
        return 1
}

lists_no_job() {
        for _ in $(seq 1200); do
                [ "$(curl -s "${url}jobs")" != '[]' ] || return 0
                sleep 0.05
        done
        return 1
}

holds 'an answer takes its time' stop_an_answer
holds 'it is listed meanwhile, with its progress' sh -c "curl -s '${url}jobs' | jq -e 'length == 1 and .[0].job == 7 and .[0].elapsed_ms >= 0 and .[0].progress >= 0 and .[0].progress <= 1'"
kill "$client"
wait "$client" 2>/dev/null || true
holds 'hanging up ends its process' ends "$answer"
holds 'and the list is empty' lists_no_job
holds 'the server goes on' answers_like modules --modules -i "$TMPDIR/many.hyp"
kill -INT "$pid"
wait "$pid" || true

# ---- odd traces
for way in empty one unclosed hostile threads; do
        "$BUILD/tools/odd_trace" "$TMPDIR/$way.hyp" "$way"
done
# In the chunks of the first threads; then a byte of the last chunk with events.
head -c $(($(stat -c %s "$TMPDIR/threads.hyp") / 5)) "$TMPDIR/threads.hyp" >"$TMPDIR/cut.hyp"
cp "$TMPDIR/hostile.hyp" "$TMPDIR/damaged.hyp"
printf '\377\377\377\377\377' | dd of="$TMPDIR/damaged.hyp" bs=1 seek=$(($(stat -c %s "$TMPDIR/hostile.hyp") - 400)) conv=notrunc status=none

shows() { # name, jq's expression of the model
        local status=0
        start "$TMPDIR/$1.hyp" || return 1
        wait_for_index
        curl -s "${url}model" >"$TMPDIR/model"
        jq -e "$2" "$TMPDIR/model" >/dev/null || { jq '.warnings' "$TMPDIR/model" && status=1; }
        serves 200 '' && serves 200 'answer?question=overview' && jq -e . "$TMPDIR/body" >/dev/null || status=1
        kill -INT "$pid"
        wait "$pid" || status=1
        return $status
}

holds 'an empty trace opens' shows empty '.threads == [] and .warnings == []'
holds 'one with a single event' shows one '[.tracks[].lanes[].items] | add == 1'
holds 'one with zones that never end' shows unclosed '[.tracks[].lanes[] | select(.kind == "zones").items] | add == 4'
holds 'one that is cut off, with more than a thousand threads, and says so' \
        shows cut '(.threads | length) > 1000 and any(.warnings[]; startswith("cut off at byte"))'
holds 'a damaged one, and says so' shows damaged 'any(.warnings[]; startswith("damaged in the chunk"))'
holds 'names that attack are whole, as text' shows hostile 'any(.locations[]; .name == "say \"hi\", '\''you'\'' \\ </script><b>&amp;")'
holds 'and in a page as well' "$HYPROF" html "$TMPDIR/hostile.hyp" -o "$TMPDIR/hostile.html"
holds 'where they open and close no element' sh -c "test \$(grep -o '<script' '$TMPDIR/hostile.html' | wc -l) = \$(grep -o '</script' '$TMPDIR/hostile.html' | wc -l) && ! grep -qF '<b>&amp;' '$TMPDIR/hostile.html'"

head -c $(($(stat -c %s "$trace") - 100)) "$trace" >"$TMPDIR/cut.hyp"
warns_of_cut() {
        start "$TMPDIR/cut.hyp"
        wait_for_index
        curl -s "${url}model" | jq -e '.warnings | any(contains("cut off"))' && kill -INT "$pid" && wait "$pid"
}
holds 'a trace that is cut off says so' warns_of_cut
holds 'also when it is opened again' warns_of_cut

instructions_are_served() {
        "$HYPROF" record -q -o "$TMPDIR/split.hyp" -- "$WORKLOADS/w_split" 1 >/dev/null
        start "$TMPDIR/split.hyp"
        curl -s "${url}answer?question=annotate" >"$TMPDIR/answer.json"
        kill -INT "$pid" && wait "$pid" && ! grep -o '[^"]*Permission denied' "$TMPDIR/answer.json" &&
                "$HYPROF" annotate --json --whole "$TMPDIR/split.hyp" >"$TMPDIR/cli.json" && cmp "$TMPDIR/cli.json" "$TMPDIR/answer.json"
}
if "$HYPROF" doctor >/dev/null 2>&1; then
        holds 'instructions as the command shows them, though the answer is made in confinement' instructions_are_served
else
        skips 'instructions as the command shows them' 'no perf_event_open'
fi
