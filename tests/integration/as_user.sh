#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An ordinary user records what the kernel allows; what is not allowed is named, with the command that would allow it
set -eu
. tests/tap.sh
plan 40
need jq

level=$(cat /proc/sys/kernel/perf_event_paranoid)
figure "kernel.perf_event_paranoid is $level"

if [ "$(id -u)" -eq 0 ]; then
        need setpriv
        # The folder of the test is root's alone.
        folder=$(mktemp -d /tmp/hyprof-user.XXXXXX)
        trap 'rm -rf "$folder"' EXIT
        cp "$HYPROF" "$WORKLOADS/w_split" "$folder/"
        chown -R 65534:65534 "$folder"
        as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all env HOME="$folder" "$@"; }
else
        folder=$TMPDIR
        cp "$HYPROF" "$WORKLOADS/w_split" "$folder/"
        as_user() { "$@"; }
fi

# The trace is read as the user as well.
fetch() {
        as_user "$folder/hyprof" report "$folder/t.hyp" >"$TMPDIR/report" && cp "$folder/t.hyp" "$TMPDIR/user.hyp" && read_trace user
}

said() { grep -E -- "$1" "$TMPDIR/doctor" || { cat "$TMPDIR/doctor" && return 1; }; }

status=0
as_user "$folder/hyprof" doctor >"$TMPDIR/doctor" 2>&1 || status=$?
holds "doctor: fits on one screen" awk 'length > 100 { exit 1 } END { exit NR > 26 }' "$TMPDIR/doctor"
holds "doctor: knows that this is an ordinary user" said 'user +ordinary'

if [ "$level" -gt 2 ]; then
        holds "doctor: nothing can be recorded" same 1 "$status"
        holds "doctor: says what would allow it" said 'try: sudo sysctl kernel.perf_event_paranoid=2'
        holds "record: fails" ends_with 125 as_user "$folder/hyprof" record -o "$folder/t.hyp" -- true
        holds "record: names the setting" grep -q '^hyprof: error: .*perf_event_paranoid' "$TMPDIR/err"
        skips_group "what is recorded" "hardware: kernel.perf_event_paranoid is $level"
        exit 0
fi

holds "doctor: programs can be recorded" same 0 "$status"
holds "doctor: user code" said '^ *yes +user code'
holds "record" ends_with 0 as_user "$folder/hyprof" record -o "$folder/t.hyp" -- "$folder/w_split" 2
cp "$TMPDIR/err" "$TMPDIR/recorded"
holds "report" fetch
holds "samples in the zones" compare \
        "$(n_events user 'kind == "sample" && self == "seventy" && path == "/seventy"')" ">" 200
holds "zones of both names, all of them ended" compare \
        "$(reported user '[.zones.rows[] | select(.n_unclosed == 0 and .count > 0)] | length')" "==" 2
holds "shares of 70% and 30%, within 5 points" jq -e '[.zones.rows[] | { (.name): .samples_share }] | add |
        .seventy > 0.65 and .seventy < 0.75 and .thirty > 0.25 and .thirty < 0.35' "$TMPDIR/user.json"
holds "functions have names" jq -e '.functions.rows[0] | .kind == "named" and .function == "seventy"' "$TMPDIR/user.json"
holds "nothing is lost" same "" "$(lost user)"
holds "the trace is the user's" same "$(as_user id -u)" "$(stat -c %u "$folder/t.hyp")"

in_kernel='kind == "sample" && module == "[kernel]"'
if [ "$level" -eq 2 ]; then
        holds "record: says that there is no kernel code, once" same 1 "$(grep -c '^hyprof: note: kernel frames are off: .*perf_event_paranoid is 2' "$TMPDIR/recorded")"
        holds "record: says what would allow it" grep -q '^  try: sudo sysctl kernel.perf_event_paranoid=1' "$TMPDIR/recorded"
        holds "record of user code: nothing is said about it" ends_with 0 as_user "$folder/hyprof" record -e cpu-clock:u -o "$folder/u.hyp" -- true
        holds "not a word" same 0 "$(grep -c 'note: kernel' "$TMPDIR/err" || true)"
        holds "doctor: no kernel code" said '^ *no +kernel code'
        holds "doctor: says what would allow it" said 'try: sudo sysctl kernel.perf_event_paranoid=1'
        holds "report: no kernel callstacks" grep -q 'no samples and no call stacks in the kernel' "$TMPDIR/report"
        holds "report: in JSON too" same NO_KERNEL_STACKS \
                "$(reported user '.missing.rows[] | select(.code == "NO_KERNEL_STACKS") | .code')"
        # A program in user code has nothing to say; dd spends its time in the kernel.
        holds "hardly any time is without samples" jq -e '.unsampled_share // 0 | . < 0.2' "$TMPDIR/user.json"
        holds "record a program that is in the kernel" ends_with 0 as_user "$folder/hyprof" record -o "$folder/k.hyp" -- \
                dd if=/dev/zero of=/dev/null bs=4M count=2000
        as_user "$folder/hyprof" report --json --limit 0 "$folder/k.hyp" >"$TMPDIR/kernel.json"
        holds "most of its time has no samples" jq -e '.unsampled_share > 0.6' "$TMPDIR/kernel.json"
        holds "that is the first thing that is missing" same TIME_WITHOUT_SAMPLES \
                "$(jq -r '.missing.rows[0].code' "$TMPDIR/kernel.json")"
        holds "and is said in the first line" jq -e '.answer | test("of the time has no samples")' "$TMPDIR/kernel.json"
        holds "the views say it" [ "$(as_user "$folder/hyprof" report --threads "$folder/k.hyp" |
                grep -c 'have no samples: that in the kernel, which this user may not sample')" -eq 1 ]
        holds "diff says it of both" [ "$(as_user "$folder/hyprof" diff --json --limit 0 "$folder/k.hyp" "$folder/k.hyp" |
                jq '[.warnings[] | select(test("have no samples: that in the kernel"))] | length')" -eq 2 ]
        holds "no sample is in the kernel" same 0 "$(n_events user "$in_kernel")"
        holds "an event with kernel code is refused" ends_with 125 \
                as_user "$folder/hyprof" record -e cpu-clock:k -o "$folder/t.hyp" -- true
        holds "it names the event and what to do" grep -q '^hyprof: error: .*not permitted.*cpu-clock:k.*hyprof doctor' "$TMPDIR/err"
else
        holds "doctor: kernel code" said '^ *yes +kernel code'
        holds "report: nothing is said about kernel callstacks" same "" \
                "$(reported user '.missing.rows[] | select(.code == "NO_KERNEL_STACKS") | .code')"
fi

mkdir "$folder/closed"
cp "$folder/t.hyp" "$folder/secret.hyp"
chmod 555 "$folder/closed"
chmod 200 "$folder/secret.hyp"
holds "a folder that this user may not write to: an error" ends_with 125 \
        as_user "$folder/hyprof" record -o "$folder/closed/t.hyp" -- true
holds "it names the file and the reason" grep -q "^hyprof: error: .*$folder/closed/t.hyp: Permission denied\$" "$TMPDIR/err"
holds "and what to do" grep -q '^  try: ' "$TMPDIR/err"
for command in report dump check; do
        holds "$command: a trace that this user may not read: an error" ends_with 1 \
                as_user "$folder/hyprof" $command "$folder/secret.hyp"
        holds "$command: it names the file and the reason" grep -q "^hyprof: error: $folder/secret.hyp: Permission denied\$" \
                "$TMPDIR/err"
done

printf '#!/bin/sh\n' >"$folder/locked"
chmod 640 "$folder/locked"
[ "$(id -u)" -ne 0 ] || chown 0 "$folder/locked"
holds "a command that this user may not execute" ends_with 126 \
        as_user "$folder/hyprof" record -o "$folder/t.hyp" -- "$folder/locked"
