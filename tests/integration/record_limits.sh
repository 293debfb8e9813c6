#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof record -F max, --strict-freq, --max-size, --call-graph none, --list-events: what is limited is said, and the trace is whole
set -eu
. tests/tap.sh
plan 43
need jq
need_sampling

# ---- the kernel's limit of rates; another one is put over it for these processes alone, so that no other process notices
limit=/proc/sys/kernel/perf_event_max_sample_rate
echo 2000 >"$TMPDIR/limit"
alone=(unshare -m)
[ "$(id -u)" -eq 0 ] || alone=(unshare -rm)
# shellcheck disable=SC2016 # for the shell inside
under_limit=("${alone[@]}" sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$TMPDIR/limit" "$limit" "$HYPROF" record)
notes() { cat "$TMPDIR/err" && grep -qE -- "$1" "$TMPDIR/err"; }
rate_of() { "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" | jq '.events[0].rate'; }
if "${alone[@]}" sh -c "mount --bind '$TMPDIR/limit' $limit" 2>/dev/null; then
        holds "a rate over the limit" ends_with 0 "${under_limit[@]}" -F 5000 -o "$TMPDIR/over.hyp" -- true
        holds "is lowered, and it is said" notes '^hyprof: note: 5000 Hz is over .*perf_event_max_sample_rate.*sampling at 2000 Hz'
        holds "with the way to raise it" notes '^  try: sudo sysctl kernel.perf_event_max_sample_rate=5000'
        holds "--strict-freq: refused" ends_with 125 "${under_limit[@]}" -F 5000 --strict-freq -o "$TMPDIR/strict.hyp" -- true
        holds "before there is a trace" test ! -e "$TMPDIR/strict.hyp"
        holds "-F max" ends_with 0 "${under_limit[@]}" -F max -o "$TMPDIR/max.hyp" -- "$WORKLOADS/w_two_zones" 1
        holds "-F max: nothing to note" same 0 "$(grep -c 'note: .*over' "$TMPDIR/err" || true)"
        holds "-F max: the summary has the limit" notes ' at 2000 Hz'
        holds "a limit that falls meanwhile" ends_with 0 "${under_limit[@]}" -o "$TMPDIR/falls.hyp" -- sh -c "echo 1500 >'$TMPDIR/limit'"
        holds "is reported" notes '^hyprof: note: .*kernel lowered .* from 2000 to 1500'
else
        skips_group "the kernel's limit of rates" "hardware: nothing can be mounted here"
fi
holds "-F 0: status 2" ends_with 2 "$HYPROF" record -F 0 -- true
holds "-F and -c: status 2" ends_with 2 "$HYPROF" record -o "$TMPDIR/none.hyp" -F 99 -c 10 -- true
# shellcheck disable=SC2016 # for the shell that is started
holds "-c and -F: it says so" sh -c '"$1" record -o "$2" -c 10 -F 99 -- true 2>&1 | grep -q "only one of -F.* and -c"' - "$HYPROF" "$TMPDIR/none.hyp"
holds "-F more than ever: status 2" ends_with 2 "$HYPROF" record -F 100001 -- true

# ---- the size of the trace.  The command goes on to its end, and its status counts.  It works until the file is as large,
# however slow the machine is, and then for a second: one thread does not make a mebibyte before the recorder notices.
cat >"$TMPDIR/until_full" <<'EOF'
until [ "$(stat -c %s "$2" 2>/dev/null || echo 0)" -ge 65536 ]; do "$1" 0.5 1 || exit 1; done
"$1" 1 1
exit 5
EOF
holds "--max-size" ends_with 5 "$HYPROF" record --max-size 64K -F 5000 -o "$TMPDIR/small.hyp" -- \
        sh "$TMPDIR/until_full" "$WORKLOADS/w_two_zones" "$TMPDIR/small.hyp"
holds "it is said" notes '^hyprof: note: the trace has reached --max-size'
holds "the trace is whole" is_whole small
holds "and not much larger" compare "$(stat -c %s "$TMPDIR/small.hyp")" "<" "1024 * 1024"
holds "a limit that is not reached" ends_with 0 "$HYPROF" record --max-size 1G -o "$TMPDIR/large.hyp" -- true
holds "is not reported" same 0 "$(grep -c max-size "$TMPDIR/err" || true)"
for size in 1 64X -1; do
        holds "--max-size $size: status 2" ends_with 2 "$HYPROF" record --max-size=$size -- true
done

# ---- the size of any file, of which shared memory is one
record_in_small_files() { (ulimit -f 1024 && exec "$HYPROF" record -o "$TMPDIR/files.hyp" -- true 2>"$TMPDIR/err"); }
holds "ulimit -f" record_in_small_files
holds "no room for zones: one line says so" notes '^hyprof: note: no zones will be recorded: their shared memory takes 19.3 MB, and ulimit -f allows'
# Not even the first bytes of a trace; its words go through a pipe, as they are a file's otherwise.
without_files() { # option...
        local status
        (ulimit -f 0 && exec "$HYPROF" record "$@" -- touch "$TMPDIR/ran") 2>&1 >"$TMPDIR/no_files_out" | cat >"$TMPDIR/err"
        status=${PIPESTATUS[0]}
        same 125 "$status" && notes '^hyprof: error: recording to .*: write of [0-9]+ bytes: File too large$'
}
holds "ulimit -f 0: an error that is said" without_files -o "$TMPDIR/no_files.hyp"
holds "no empty trace is left" test ! -e "$TMPDIR/no_files.hyp"
holds "ulimit -f 0: standard output" without_files -o -
holds "the command did not begin" test ! -e "$TMPDIR/ran"

# ---- the addresses of the program, of which shared memory takes an 8th; sanitizers need more than any such limit
if [ "$VARIANT" != asan ] && [ "$VARIANT" != tsan ]; then
        record_with_addresses() { (ulimit -v "$1" && exec "$HYPROF" record --no-symbolize -o "$TMPDIR/space.hyp" -- "$WORKLOADS/w_two_zones" 0.1 >/dev/null 2>"$TMPDIR/err"); }
        n_zones() { "$HYPROF" report --json --limit 0 "$TMPDIR/space.hyp" | jq .n_zones; }
        holds "ulimit -v" record_with_addresses 150000
        holds "no room for zones: one line says so" notes '^hyprof: note: no zones will be recorded: their shared memory takes 19.3 MB, and ulimit -v allows an 8th of 154 MB$'
        holds "and there are none" same 0 "$(n_zones)"
        holds "a little more, and room for the rings of the kernel" record_with_addresses 160000
        holds "is enough" compare "$(n_zones)" ">" 10
        holds "and not called too little" same 0 "$(grep -c 'no zones will be' "$TMPDIR/err" || true)"
else
        skips_group "the addresses of the program" "hardware: sanitizers take all that a limit would leave"
fi

# ---- standard output on a full disk: there is no trace whose names could be made
holds "-o - onto a full disk" ends_with 125 sh -c "\"$HYPROF\" record -o - -- true >/dev/full"
holds "one line, without advice for the file" same 1 "$(wc -l <"$TMPDIR/err")"

# ---- no callstacks
record none --call-graph none -- "$WORKLOADS/w_two_zones" 1
read_trace none
holds "--call-graph none: said in the trace" same none "$(reported none .unwind)"
holds "there are samples" compare "$(n_events none 'kind == "sample"')" ">" 0
# The kernel's innermost function stands on nothing, nor does the user's.
holds "each of one function" same 0 "$(awk '$1 == "stack" && $3 != "parent=0"' "$TMPDIR/none.dump" | wc -l)"
holds "and none is missing for that" same "" "$(lost none | grep STACK || true)"

# ---- other names for what there is
"$HYPROF" list >"$TMPDIR/list"
"$HYPROF" record --list-events >"$TMPDIR/list-events"
holds "--list-events" cmp "$TMPDIR/list" "$TMPDIR/list-events"
record without --no-cswitch -- "$WORKLOADS/w_two_zones" 1
holds "--no-cswitch" same 0 "$("$HYPROF" dump "$TMPDIR/without.hyp" | grep -c '^switch_' || true)"
