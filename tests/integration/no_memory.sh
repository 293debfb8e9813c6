#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whichever allocation fails, or all from one on: every command ends by itself, says so, and calls no intact trace damaged
set -eu
. tests/tap.sh
plan 39
need jq sha256sum

# Each that many allocations, nightly more of them; HYPROF_ALLOCATIONS=1 tries all.
step=127
[ -z "${HYPROF_THOROUGH:-}" ] || step=19
step=${HYPROF_ALLOCATIONS:-$step}
trace=$TMPDIR/t.hyp
"$BUILD/tools/made_trace" many "$trace" 1000 400
cp "$trace" "$TMPDIR/b.hyp"
zone=$("$HYPROF" report --zones --csv "$trace" | sed -n '2s/,.*//p')

ends_by_itself() { "$BUILD/tools/try_allocations" "$BUILD/tools/fail_allocation.so" "$step" 100 "$HYPROF" "$@"; }
holds check ends_by_itself check "$trace"
holds report ends_by_itself report "$trace"
holds "report --json" ends_by_itself report --json "$trace"
holds why ends_by_itself why --zone "$zone" "$trace"
holds path ends_by_itself path "$trace"
holds "path of a zone" ends_by_itself path --zone "$zone" "$trace"
holds diff ends_by_itself diff "$trace" "$TMPDIR/b.hyp"
holds annotate ends_by_itself annotate "$trace" function_40
holds modules ends_by_itself modules "$trace"
holds dump ends_by_itself dump "$trace"
holds csv ends_by_itself csv "$trace"
holds extract ends_by_itself extract --force -o "$TMPDIR/extracted" "$trace" 1
holds list ends_by_itself list cpu
holds doctor ends_by_itself doctor
holds guide ends_by_itself guide
holds help ends_by_itself help record
holds query ends_by_itself query --force --sqlite "$TMPDIR/t.db" "$trace"
holds symbolize ends_by_itself symbolize --no-cache --force -o "$TMPDIR/s.hyp" "$trace"
for format in firefox perfetto pprof chrome speedscope folded callgrind; do
        holds "export $format" ends_by_itself export --force -o "$TMPDIR/out" "$format" "$trace"
done
holds "top: one table of a trace" ends_by_itself top -n 1 "$trace"
# Where names are shortened, too: a report is whole, or says that it is not.
is_whole_or_fails() ( # command, option...: a narrow answer about a trace with long names
        n_failed=0 command=("$HYPROF" "$@" tests/golden/recorded-0.1.0.hyp)
        export COLUMNS=44
        "${command[@]}" >"$TMPDIR/wanted"
        grep -qE '…|[a-z]\.\.[a-z]' "$TMPDIR/wanted" || { echo "no name was shortened" && return 1; }
        for ((n = 1; n < 600; n += 7)); do
                status=0
                FAIL_AT=$n LD_PRELOAD=$BUILD/tools/fail_allocation.so "${command[@]}" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
                [ "$status" -eq 0 ] || n_failed=$((n_failed + 1))
                [ "$status" -ne 0 ] || cmp -s "$TMPDIR/wanted" "$TMPDIR/out" || { echo "allocation $n:" && diff "$TMPDIR/wanted" "$TMPDIR/out"; return 1; }
        done
        compare "$n_failed" ">" 6
)
holds "report: shortened names are whole, whichever allocation fails" is_whole_or_fails report
holds "report --top-down: the same" is_whole_or_fails report --top-down
# It makes more allocations than the others, so fewer of them are tried.
holds html "$BUILD/tools/try_allocations" "$BUILD/tools/fail_allocation.so" $((step * 16)) 100 "$HYPROF" html --force -o "$TMPDIR/out.html" "$trace"
# Ended by SIGINT as soon as it listens, or by itself before.
view_ends() {
        local n status
        for ((n = 1; n < 240; n += 47)); do
                status=0
                timeout -s INT -k 60 1 env FAIL_AT="$n" LD_PRELOAD="$BUILD/tools/fail_allocation.so" \
                        "$HYPROF" view --no-open "$trace" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
                case $status in
                0 | 124) ;;
                1) grep -q '^hyprof: error: ' "$TMPDIR/err" || { echo "allocation $n: fails without a word"; return 1; } ;;
                *) echo "allocation $n: status $status" && cat "$TMPDIR/err" && return 1 ;;
                esac
        done
}
holds "view: serves, or says why not" view_ends
# Its filter of system calls, its threads and its children come and go: a hang here was one at a raised priority.
if "$HYPROF" doctor >/dev/null 2>&1; then
        recording=(record -q -o "$TMPDIR/r.hyp" -- "$WORKLOADS/w_two_zones" 0.02)
        holds record ends_by_itself "${recording[@]}"
        # The filter of system calls is made in a child, whose allocations come after those that are counted: there libseccomp
        # may leave calls out without a word.
        filter_is_whole() {
                local n status
                for ((n = 60; n < 3600; n += 293)); do
                        status=0
                        timeout -k 1 100 env FAIL_AT="$n" LD_PRELOAD="$BUILD/tools/fail_allocation.so" "$HYPROF" "${recording[@]}" >"$TMPDIR/out" 2>&1 || status=$?
                        if [ "$status" -ge 124 ] && [ "$status" -ne 125 ] && [ "$status" -ne 126 ]; then
                                echo "allocation $n: status $status"
                                cat "$TMPDIR/out"
                                return 1
                        fi
                done
        }
        holds "record: a filter that lacks calls is not used" filter_is_whole
        # Whatever it leaves can be read, and its status says whether there is anything.
        leaves_what_can_be_read() {
                local n status n_traces=0
                for ((n = 1; n < 900; n += 61)); do
                        rm -f "$TMPDIR"/r.hyp*
                        status=0
                        FAIL_AT=$n LD_PRELOAD=$BUILD/tools/fail_allocation.so "$HYPROF" "${recording[@]}" >"$TMPDIR/out" 2>&1 || status=$?
                        [ "$status" -ne 0 ] || [ -s "$TMPDIR/r.hyp" ] || { echo "allocation $n: no trace"; return 1; }
                        [ -s "$TMPDIR/r.hyp" ] || continue
                        n_traces=$((n_traces + 1))
                        "$HYPROF" report "$TMPDIR/r.hyp" >"$TMPDIR/out" 2>&1 || { echo "allocation $n:"; cat "$TMPDIR/out"; return 1; }
                done
                figure "traces in spite of a failed allocation: $n_traces"
        }
        holds "record: a trace that can be read, or none" leaves_what_can_be_read
        # A capture that fails says why and leaves what can be read; where the recorder still waits, the next one gets the rest.
        capture_ends() {
                local n status again recorder socket=$TMPDIR/s
                for ((n = 1; n < 160; n += 23)); do
                        rm -f "$TMPDIR"/c.hyp* "$socket"
                        "$HYPROF" record -q --no-wait --linger 30s --listen "$socket" -- "$WORKLOADS/w_two_zones" 0.02 >/dev/null 2>"$TMPDIR/record_err" &
                        recorder=$!
                        status=0 again=0
                        timeout -k 1 100 env FAIL_AT="$n" LD_PRELOAD="$BUILD/tools/fail_allocation.so" \
                                "$HYPROF" capture --wait -o "$TMPDIR/c.hyp" "$socket" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
                        case $status in
                        0) ;;
                        1) grep -q '^hyprof: error: ' "$TMPDIR/err" || { echo "allocation $n: fails without a word"; return 1; } ;;
                        *) echo "allocation $n: status $status" && cat "$TMPDIR/err" && return 1 ;;
                        esac
                        timeout -k 1 100 "$HYPROF" capture -o "$TMPDIR/c.hyp" "$socket" >"$TMPDIR/out" 2>"$TMPDIR/err" || again=$?
                        [ "$again" -eq 0 ] || grep -q 'no recorder listens' "$TMPDIR/err" || { echo "allocation $n: then"; cat "$TMPDIR/err"; return 1; }
                        wait "$recorder" || { echo "allocation $n: the recorder: $(cat "$TMPDIR/record_err")"; return 1; }
                        "$HYPROF" report "$TMPDIR/c.hyp" >"$TMPDIR/out" 2>&1 || { echo "allocation $n:"; cat "$TMPDIR/out"; return 1; }
                done
        }
        holds "capture: whichever allocation fails, the trace comes with the next one" capture_ends
        for one in a b; do "$HYPROF" record -q -o "$TMPDIR/merge_$one.hyp" -- "$WORKLOADS/w_two_zones" 0.02 >/dev/null; done
        holds merge ends_by_itself merge --force -o "$TMPDIR/m.hyp" "$TMPDIR/merge_a.hyp" "$TMPDIR/merge_b.hyp"
else
        skips_group record "hardware: no events here"
fi

# ---- check --repair: the file stays as it was, or holds all that is whole
sum() { sha256sum <"$1"; }
events() { "$HYPROF" check --json "$1" 2>/dev/null | jq '.traces.rows[0].n_events'; }
trace=$TMPDIR/intact.hyp
"$BUILD/tools/made_trace" many "$trace" 10000 3000
whole=$(sum "$trace")
cut_trace=$TMPDIR/cut.hyp
head -c "$(($(stat -c %s "$trace") * 2 / 3))" "$trace" >"$cut_trace"
cut=$(sum "$cut_trace")
n_cut=$(events "$cut_trace")
holds "there is something to lose" compare "$n_cut" ">" 1000

fails() { # number of the allocation, file
        FAIL_AT=$1 LD_PRELOAD=$BUILD/tools/fail_allocation.so "$HYPROF" check --repair "$2" >"$TMPDIR/out" 2>"$TMPDIR/err"
}
never_changed() {
        local n status bad=0
        cp "$trace" "$TMPDIR/same.hyp"
        for ((n = 1; n < 160; n += 5)); do
                status=0
                fails "$n" "$TMPDIR/same.hyp" || status=$?
                [ "$(sum "$TMPDIR/same.hyp")" = "$whole" ] || { echo "allocation $n: the file was changed"; return 1; }
                ! grep -E "damaged|cut off|repaired" "$TMPDIR/out" "$TMPDIR/err" || bad=1
                [ "$status" -eq 0 ] || grep -q memory "$TMPDIR/err" || { echo "allocation $n: status $status"; cat "$TMPDIR/err"; bad=1; }
        done
        return $bad
}
loses_nothing() {
        local n found n_repaired=0
        for ((n = 1; n < 320; n += 7)); do
                rm -f "$TMPDIR"/less.hyp*
                cp "$cut_trace" "$TMPDIR/less.hyp"
                fails "$n" "$TMPDIR/less.hyp" || true
                [ "$(sum "$TMPDIR/less.hyp")" != "$cut" ] || continue
                found=$(events "$TMPDIR/less.hyp")
                n_repaired=$((n_repaired + 1))
                [ "$found" = "$n_cut" ] || { echo "allocation $n: $found of $n_cut events"; return 1; }
                [ "$(sum "$TMPDIR/less.hyp.unrepaired")" = "$cut" ] || { echo "allocation $n: the old file is gone"; return 1; }
        done
        figure "repaired in spite of a failed allocation: $n_repaired times"
}
holds "an intact trace is not changed, and not called damaged, whichever allocation fails" never_changed
holds "a repaired trace has all events, whichever allocation fails" loses_nothing

# The decompressor allocates by itself, and needs much at once: memory that is short meets it first.  Below some limit the
# loader ends the command; from there on, until there is enough, each limit is tried.
least_kib() { # at which the command begins
        local kib=4096 step
        for step in 65536 8192 1024 128 16; do
                while ! (ulimit -v $((kib + step)) && "$HYPROF" --version) >"$TMPDIR/out" 2>&1 && [ "$kib" -lt 1000000 ]; do
                        kib=$((kib + step))
                done
        done
        echo $((kib + 16))
}
says_no_damage() {
        local kib status n_unpacking=0 n_passed=0
        "$BUILD/tools/made_trace" many "$TMPDIR/packed.hyp" 20000 20000
        whole=$(sum "$TMPDIR/packed.hyp")
        for ((kib = $(least_kib); n_passed < 4 && kib < 1000000; kib += 16)); do
                status=0
                (ulimit -v "$kib" && "$HYPROF" check --repair "$TMPDIR/packed.hyp") >"$TMPDIR/out" 2>&1 || status=$?
                ! grep -E "damaged|cut off|repaired" "$TMPDIR/out" || { echo "ulimit -v $kib"; return 1; }
                if [ "$status" -eq 0 ]; then
                        n_passed=$((n_passed + 1))
                elif grep -q 'no memory to unpack' "$TMPDIR/out"; then
                        n_unpacking=$((n_unpacking + 1))
                fi
        done
        compare "$n_unpacking" ">" 0 && compare "$n_passed" "==" 4 && same "$whole" "$(sum "$TMPDIR/packed.hyp")"
}
holds "nor when address space is short" says_no_damage
