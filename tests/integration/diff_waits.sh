#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof diff names the wait, or the system call, that is gone; two equal recordings have neither
set -eu
. tests/tap.sh
plan 19
need jq
need_sampling

for run in 1 2; do
        record often$run --off-cpu --syscalls "$WORKLOADS/w_threads" 60 8 20 || {
                grep -q -- '--syscalls counts' "$TMPDIR/often$run.err" || { cat "$TMPDIR/often$run.err" && exit 1; }
                skip_all "hardware: $(grep -m 1 -- '--syscalls' "$TMPDIR/often$run.err")"
        }
        record once$run --off-cpu --syscalls "$WORKLOADS/w_threads" 60 8 0
done
record plain "$WORKLOADS/w_threads" 60 8 20
record many --syscalls "$WORKLOADS/w_syscalls" 100000
record few --syscalls "$WORKLOADS/w_syscalls" 100

told() { # jq's expression
        jq -r "$1" "$TMPDIR/out"
}
file() { # name
        echo "$TMPDIR/$1.hyp"
}
# As often as the C library's nanosleep() is this call.
sleeps='.waits.rows[] | select(.name | test("^(clock_)?nanosleep from emit$"))'

holds "fewer waits" ends_with 0 "$HYPROF" diff --json --limit 0 "$(file often1)" "$(file once1)"
holds "fewer waits: less time at the place" same true "$(told "$sleeps | .verdict == \"faster\" or .verdict == \"gone\"")"
holds "fewer waits: 60 of 20 ms" compare "$(told "$sleeps | .before_ns")" ">" 1199000000
holds "fewer waits: how many" same 60 "$(told "$sleeps | .n_before")"
holds "fewer waits: where" same w_threads "$(told "$sleeps | .module")"
holds "fewer waits: the answer names a wait, and says that it is one" same true \
        "$(told '.answer | test("(faster|gone): waiting in .*nanosleep from emit")')"
holds "waits fail the gate if they are asked for" ends_with 1 "$HYPROF" diff --json --limit 0 --only waits --fail-above 5% "$(file once1)" "$(file often1)"
holds "only waits: no function is shown" same 0 "$(told '.functions.rows | length')"
holds "waits fail the gate by name" ends_with 1 "$HYPROF" diff --json --limit 0 --only '*sleep from emit' --fail-above 5% "$(file once1)" "$(file often1)"
holds "two equal recordings" ends_with 0 "$HYPROF" diff --json --limit 0 "$(file often1)" "$(file often2)"
holds "two equal recordings: no wait and no call has changed" same 0 \
        "$(told '[(.waits.rows + .syscalls.rows)[] | select(.verdict | test("faster|slower|more|less")) | .name] | length')"
holds "sets" ends_with 0 "$HYPROF" diff --json --limit 0 --before "$(file 'often?')" --after "$(file 'once?')"
holds "sets: named" same true "$(told '.answer | test("waiting in .*nanosleep from emit")')"

holds "one without call stacks of waits" ends_with 0 "$HYPROF" diff --json --limit 0 "$(file plain)" "$(file often1)"
holds "one without call stacks of waits: said, and no wait is new" same "true true false" \
        "$(told '"\(.warnings | any(test("record --off-cpu"))) \(.warnings | any(test("record --syscalls"))) \(has("waits"))"')"

calls='.syscalls.rows[] | select(.name == "pwritev")'
holds "fewer calls" ends_with 0 "$HYPROF" diff --json --limit 0 "$(file many)" "$(file few)"
holds "fewer calls: exact" same "less 101000 1100" "$(told "$calls | \"\(.verdict) \(.before) \(.after)\"")"
holds "fewer calls: in the answer" same true "$(told '.answer | test("system calls: .*pwritev .*101,000 -> 1,100")')"
holds "a filter: calls are of whole recordings, so they are not compared" same false \
        "$("$HYPROF" diff --json --limit 0 --thread reader "$(file many)" "$(file few)" | jq 'has("syscalls")')"
