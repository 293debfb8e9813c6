#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof check --repair: the trace is never written to, the old file stays, and a lack of memory is not taken for damage
set -eu
. tests/tap.sh
need jq sha256sum

trace=$TMPDIR/intact.hyp
"$BUILD/tools/made_trace" many "$trace" 10000 3000
sum() { sha256sum <"$1"; }
whole=$(sum "$trace")
events() { "$HYPROF" check --json "$1" 2>/dev/null | jq '.traces.rows[0].n_events'; }

# ---- a trace that is cut off
head -c "$(($(stat -c %s "$trace") * 2 / 3))" "$trace" >"$TMPDIR/cut.hyp"
chmod 640 "$TMPDIR/cut.hyp"
cut=$(sum "$TMPDIR/cut.hyp")
n_cut=$(events "$TMPDIR/cut.hyp")
holds "there is something to lose" compare "$n_cut" ">" 1000
try_repair() { "$HYPROF" check --repair "$1" >"$TMPDIR/out" 2>"$TMPDIR/err"; }
holds "a trace that is cut off is repaired" ends_with 0 "$HYPROF" check --repair "$TMPDIR/cut.hyp"
holds "says where the old file is" grep -qF "kept as $TMPDIR/cut.hyp.unrepaired" "$TMPDIR/err"
holds "which is as it was" same "$cut" "$(sum "$TMPDIR/cut.hyp.unrepaired")"
holds "the new one is whole, with all events" same "$n_cut" "$(events "$TMPDIR/cut.hyp")"
holds "with the mode of the old one" same 640 "$(stat -c %a "$TMPDIR/cut.hyp")"
repaired=$(sum "$TMPDIR/cut.hyp")
holds "repairing what is whole" ends_with 0 "$HYPROF" check --repair "$TMPDIR/cut.hyp"
holds "changes nothing" same "$repaired" "$(sum "$TMPDIR/cut.hyp")"
head -c "$(($(stat -c %s "$trace") / 3))" "$trace" >"$TMPDIR/cut.hyp"
holds "another one of that name" ends_with 0 "$HYPROF" check --repair "$TMPDIR/cut.hyp"
holds "does not replace the old file that was kept" same "$cut" "$(sum "$TMPDIR/cut.hyp.unrepaired")"
holds "its own is beside it" test -s "$TMPDIR/cut.hyp.unrepaired-2"
holds "nothing else is left behind" same 3 "$(find "$TMPDIR" -name 'cut.hyp*' | wc -l)"
holds "standard input cannot be repaired" ends_with 1 "$HYPROF" check --repair - <"$TMPDIR/cut.hyp.unrepaired"

# ---- no memory
case ${VARIANT:-} in
asan | tsan) skips "without memory" "a sanitizer has an allocator of its own" && exit ;;
esac

# Each N-th allocation fails: the file stays as it was, or holds all that is whole.
fails() { # file
        FAIL_AT=$n LD_PRELOAD=$BUILD/tools/fail_allocation.so "$HYPROF" check --repair "$1" >"$TMPDIR/out" 2>"$TMPDIR/err"
}
never_changed() {
        local n status bad=0
        cp "$trace" "$TMPDIR/same.hyp"
        for ((n = 1; n < 160; n += 3)); do
                status=0
                fails "$TMPDIR/same.hyp" || status=$?
                [ "$(sum "$TMPDIR/same.hyp")" = "$whole" ] || { echo "allocation $n: the file was changed"; return 1; }
                ! grep -E "damaged|cut off|mended" "$TMPDIR/out" "$TMPDIR/err" || bad=1
                [ "$status" -eq 0 ] || grep -q memory "$TMPDIR/err" || { echo "allocation $n: status $status"; cat "$TMPDIR/err"; bad=1; }
        done
        return $bad
}
loses_nothing() {
        local n found n_repaired=0
        for ((n = 1; n < 320; n += 7)); do
                rm -f "$TMPDIR"/less.hyp*
                cp "$TMPDIR/cut.hyp.unrepaired" "$TMPDIR/less.hyp"
                fails "$TMPDIR/less.hyp" || true
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

# The decompressor allocates by itself, and needs much at once: memory that is short meets it first.
says_no_damage() {
        local kib
        for kib in 10900 11000 11100 11250 11500 11750 12000 12500 13000 14000; do
                (ulimit -v "$kib" && "$HYPROF" check --repair "$TMPDIR/same.hyp") >"$TMPDIR/out" 2>&1 || true
                ! grep -E "damaged|cut off|mended" "$TMPDIR/out" || { echo "ulimit -v $kib"; return 1; }
        done
        same "$whole" "$(sum "$TMPDIR/same.hyp")"
}
holds "nor when address space is short" says_no_damage
