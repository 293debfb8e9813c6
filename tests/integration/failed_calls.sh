#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whichever system call of hyprof fails, in whichever of its threads and children: a line and a documented status, or a
# loss that is counted, or no difference; the result can be read, and no process or file is left
set -eu
. tests/tap.sh
plan 11
need curl jq zstd
export no_proxy='*' XDG_STATE_HOME="$TMPDIR/state" XDG_CACHE_HOME="$TMPDIR/cache"

# One of so many failures is tried; nightly many more, and HYPROF_FAILURES=1 tries all of them.
step=${HYPROF_FAILURES:-${HYPROF_THOROUGH:+23}}
step=${step:-293}
library=$BUILD/tools/notify_calls.so
trace=$TMPDIR/t.hyp
"$BUILD/tools/made_trace" many "$trace" 200 40
cp "$trace" "$TMPDIR/b.hyp"
zstd -dqc tests/data/import/perf/perf_fp.data.zst >"$TMPDIR/perf.data"
mkdir "$TMPDIR/out" "$TMPDIR/cache"

# Results of a try are in $TMPDIR/out alone, as result.hyp.  It is whole where the status is 0; a recording that failed may
# have left one that is cut off.  $TMPDIR/zones: how many zones of each of two names the program had.
cat >"$TMPDIR/after" <<'END'
wrong() { echo "$*"; status=1; }
status=0
cd "$TMPDIR/out" || exit 1
left=$(ls -A | grep -vx result.hyp)
[ -z "$left" ] || wrong "left: $left"
if [ -e result.hyp ]; then
        "$HYPROF" report --json result.hyp >"$TMPDIR/report.json" 2>"$TMPDIR/said" || wrong "report: $(head -n 1 "$TMPDIR/said")"
        if [ "$TRIED_STATUS" -eq 0 ]; then
                "$HYPROF" check result.hyp >"$TMPDIR/said" 2>&1 || wrong "check: $(head -n 1 "$TMPDIR/said")"
                [ "$MAKES" != recording ] || jq -e --argjson n "$(sed -n 's/^zones //p' "$TMPDIR/zones")" \
                        '.n_zones == 2 * $n or any(.missing.rows[]; .source == "loss" and (.code | test("^(CLOCK|SWITCHES|STACK|SAMPLES|THROTTLED)") | not))' \
                        "$TMPDIR/report.json" >/dev/null ||
                        wrong "zones are missing, and no loss is reported: $(jq .n_zones "$TMPDIR/report.json") of twice $(cat "$TMPDIR/zones")"
        elif [ "$MAKES" = result ]; then
                wrong "left in spite of status $TRIED_STATUS: result.hyp"
        fi
elif [ "$TRIED_STATUS" -eq 0 ] && [ -n "$MAKES" ]; then
        wrong "no result"
fi
rm -rf "$TMPDIR/out" && mkdir "$TMPDIR/out"
exit $status
END

# The sanitizer's own calls fail as well: it gives up without memory, and its search for leaks without files.
chosen=()
if [ "$VARIANT" = asan ]; then
        export ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0:detect_leaks=0
        chosen=(-c "openat,read,write,ioctl,clone,socket,memfd_create,pipe2,sendmsg,ftruncate")
fi
tries() { # options of fail_calls, library, command...
        "$BUILD/tools/fail_calls" -s "$step" "${chosen[@]}" -a "sh $TMPDIR/after" "$@"
}
reads() { # command...
        MAKES='' tries -o "$library" "$HYPROF" "$@"
}
makes() { # command...
        MAKES=result tries "$library" "$HYPROF" "$@" -o "$TMPDIR/out/result.hyp"
}
export TMPDIR MAKES=

# The tool itself: it finds what is there to be found.
finds() { # what it says, options and command of fail_calls...
        local said
        ! said=$("$BUILD/tools/fail_calls" "${@:2}") || { echo "$said" && return 1; }
        grep -q "$1" <<<"$said" || { echo "$said" && return 1; }
}
holds "another status than the documented ones is found" \
        finds 'openat .*another exit status' -c openat -e ENOMEM+ -n 1 -x 0 "$library" "$HYPROF" report "$trace"
# shellcheck disable=SC2016 # for that shell
holds "a difference without a word is found" \
        finds 'printed something else' -c openat -n 1 -e ENOMEM+ -o "$library" sh -c '"$HYPROF" report "$0" 2>/dev/null || true' "$trace"

holds "report" reads report "$trace"
holds "symbolize" makes symbolize --no-cache "$trace"
holds "merge" makes merge "$trace" "$TMPDIR/b.hyp"
holds "import" makes import "$TMPDIR/perf.data"

# Starts the viewer, asks for the page and an answer, and ends it.  An error in an answer is a word.
cat >"$TMPDIR/view" <<'END'
cd "$TMPDIR" && rm -f view.* && : >view.out && : >view.err
"$HYPROF" view --no-open t.hyp >view.out 2>view.err &
pid=$!
until url=$(grep -ho 'http://[^ ]*localhost:[^ ]*' view.out view.err | grep -m 1 .); do
        if ! kill -0 $pid 2>/dev/null; then
                wait $pid || status=$?
                cat view.err >&2
                exit ${status:-0}
        fi
        sleep 0.02
done
for what in '' 'answer?question=zones'; do
        code=$(curl -s -m 100 -o view.answer -w '%{http_code}' "$url$what")
        if [ "$code" = 200 ] && ! grep -q '^{"error":"' view.answer; then cat view.answer; else echo "$code" >>view.refused; sed 's/^{"error":""}//' view.answer >&2; fi
done
kill -INT $pid
wait $pid || status=$?
cat view.err >&2
exit ${status:-0}
END
holds "view: the page and an answer" tries -o "$library" sh "$TMPDIR/view"
holds "view: each file that cannot be opened" tries -s 1 -c openat -e EIO -o "$library" sh "$TMPDIR/view"

if [ "$VARIANT" != release ]; then
        skips_group "record" "hardware: sanitizers are for what reads foreign bytes"
        exit 0
fi
if ! "$HYPROF" doctor >"$TMPDIR/doctor" 2>&1; then
        skips_group "record" "perf_event_open: $(grep -m 1 '^ *no ' "$TMPDIR/doctor")"
        exit 0
fi
records() { # options of fail_calls and --, options of record and its command...
        local options=()
        while [ "$1" != -- ]; do options+=("$1") && shift; done
        MAKES=recording tries "${options[@]}" "$library" "$HYPROF" record -q -o "$TMPDIR/out/result.hyp" "${@:2}"
}
# shellcheck disable=SC2016 # the command's own
holds "record: each zone is in the trace, or a loss is" \
        records -x "0 125 126 127" -- -- sh -c '"$WORKLOADS/w_two_zones" 0.02 1 >"$TMPDIR/zones"'
"$WORKLOADS/w_two_zones" 3000 1 >"$TMPDIR/long" &
pid=$!
attaches() {
        MAKES=attached tries -x "0 125 126 127" "$library" "$HYPROF" record -q -o "$TMPDIR/out/result.hyp" -p "$pid" -d 50ms
}
holds "record -p: the program goes on" attaches
holds "and it does so in the end" kill -0 "$pid"
kill "$pid"
