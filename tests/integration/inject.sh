#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that mark their work for ITT, OpenMP's OMPT and NVTX: what they say is in the trace, each once, and they go on
set -eu
. tests/tap.sh
plan 54
need jq
need_sampling
n=200

zones() { # name of the trace, zone: those that began, and those that ended
        echo "$(n_events "$1" "kind == \"zone_begin\" && zone == \"$2\"") $(n_events "$1" "kind == \"zone_end\" && zone == \"$2\"")"
}
spans() { # name of the trace, device: how many zones, and what they are called
        "$HYPROF" report --devices --json --limit 0 "$TMPDIR/$1.hyp" |
                jq -r --arg d "$2" '[.zones.rows[] | select(.device == $d)] | "\(map(.count) | add // 0) \(map(.name) | unique | join(" "))"'
}
texts() { # name of the trace, text of zones: how often
        grep -c "^zone_text .* text=\"$2\"\$" "$TMPDIR/$1.dump" || true
}
has_text() { # name of the trace, string in its table
        grep -qE "^string id=[0-9]+ text=\"$2\"\$" "$TMPDIR/$1.dump"
}
says_note() { # name of the trace, words
        grep -q -- "$2" "$TMPDIR/$1.err"
}
lacks_note() { ! says_note "$@"; }

# ---------------------------------------------------------------------- NVTX

holds "a program with NVTX" record nvtx "$WORKLOADS/w_marks_nvtx" $n
read_trace nvtx
holds "it has what its pushes and pops return" same "attached 1 levels 0 0 1 1, then -2" "$(tr '\n' ' ' <"$TMPDIR/nvtx.out" | sed 's/ $//')"
holds "ranges of threads" same "$n $n" "$(zones nvtx outer)"
holds "ranges of a domain, by a registered string" same "$((2 * n)) $((2 * n))" "$(zones nvtx registered)"
holds "wide characters" same "$n" "$(n_events nvtx 'kind == "zone_begin" && zone ~ /^wide .xc3.xa4$/')"
holds "the program's own zones, from another copy of the client" same "$n $n" "$(zones nvtx 'of the program itself')"
holds "they nest: a registered one is in another one" same "$n" \
        "$(awk -F '\t' "$columns"'kind == "zone_begin" && zone == "registered" { d++; if (d % 2 == 0 && last == "registered") n++ }
        kind ~ /^zone_(begin|end)$/ { last = kind == "zone_begin" ? zone : "" } END { print n + 0 }' "$TMPDIR/nvtx.events")"
holds "their payloads" same "$((2 * n))" "$(grep -c '^zone_value .* value=-5 ' "$TMPDIR/nvtx.dump")"
holds "their categories" same "$((2 * n))" "$(texts nvtx 'category of reading')"
holds "their colour" grep -q '^location .* color=0x112233' "$TMPDIR/nvtx.dump"
holds "the name of the domain" has_text nvtx "a domain"
holds "ranges that end on another thread, one that never ends, one of a child, which does not end its parent's" \
        same "5 across never ended of the child" "$(spans nvtx 'NVTX ranges')"
holds "marks" grep -q '^message_text .* text="a mark"' "$TMPDIR/nvtx.dump"
holds "marks of a domain" grep -q '^message_text .* text="a domain: registered, payload 2.5, category of reading"' "$TMPDIR/nvtx.dump"
holds "attributes of another size are empty ones" grep -q '^message_text .* text="a domain: "' "$TMPDIR/nvtx.dump"
holds "names of threads" same "ender the main one" \
        "$(reported nvtx '[.threads.rows[].name | select(. == "the main one" or . == "ender")] | unique | join(" ")')"
holds "no range is left open" same 0 "$(reported nvtx .n_unclosed)"
holds "nothing is lost" same "" "$(lost_events nvtx)"

holds "a library that states tables that it does not have" record lie "$WORKLOADS/w_marks_nvtx" lie
read_trace lie
holds "goes on without them" same "attached 0 levels 0 0 0 0, then 0" "$(tr '\n' ' ' <"$TMPDIR/lie.out" | sed 's/ $//')"
holds "the trace says so" grep -q '^message_text .* severity=3 .*NVTX: a library of the program states a layout' "$TMPDIR/lie.dump"

# ---------------------------------------------------------------------- ITT

holds "a program with ITT" record itt "$WORKLOADS/w_marks_itt" $n
read_trace itt
holds "it gets the same handle again" grep -qx "$n of each; the same handle again: 1" "$TMPDIR/itt.out"
holds "tasks, without those while it paused" same "$n $n" "$(zones itt task)"
holds "tasks in tasks" same "$n $n" "$(zones itt inner)"
holds "events" same "$n $n" "$(zones itt event)"
holds "numbers of tasks" same 1 "$(texts itt "key=$((n - 1)),-7")"
holds "words of tasks" same "$n" "$(texts itt 'key=words')"
holds "overlapped tasks that end on another thread" same "$n apart" "$(spans itt 'ITT tasks')"
holds "they know their parent" same "$n" "$(grep -c '^device_span .*space=[1-9]' "$TMPDIR/itt.dump")"
holds "regions" same "1 apart" "$(spans itt 'ITT regions')"
holds "frames that were over when they were reported" same "1 a domain" "$(spans itt 'ITT frames')"
holds "frames" same "$n $n" "$(n_events itt 'kind == "frame_begin"') $(n_events itt 'kind == "frame_end"')"
holds "a marker" grep -q '^message_text .* text="a domain: task"' "$TMPDIR/itt.dump"
holds "counters: each change, and a value" same "$((2 * n + 1)) 1" \
        "$(n_events itt 'kind == "plot_i64"') $(n_events itt 'kind == "plot_f64"')"
holds "waits for a mutex and a barrier, one of them in vain" same "$((2 * n + 1)) $((2 * n))" \
        "$(n_events itt 'kind == "lock_wait"') $(n_events itt 'kind == "lock_obtain"')"
holds "their names" has_text itt "barrier: all"
holds "nothing is lost" same "" "$(lost_events itt)"
if [ "$(uname -m)" = x86_64 ]; then
        holds "code of a JIT compiler has its name and line" same "made.source:11" \
                "$("$HYPROF" report --lines --json "$TMPDIR/itt.hyp" | jq -r '[.. | objects | select(.function? == "made_loop") | .line? // .place?][0]')"
        holds "and is gone at the end" grep -q '^code_region .*gone=1' "$TMPDIR/itt.dump"
else
        skips_group "code of a JIT compiler" "hardware: the program has code of x86-64"
fi
holds "a library that states a list that it does not have" record lie "$WORKLOADS/w_marks_itt" lie
read_trace lie
holds "goes on" same "no collector" "$(cat "$TMPDIR/lie.out")"
holds "the trace says so" grep -q '^message_text .* severity=3 .*ITT: a library of the program states a layout' "$TMPDIR/lie.dump"

# ---------------------------------------------------------------------- what is to be recorded

holds "a program that sets the variables itself" record own --inject=itt "$WORKLOADS/w_marks_itt" own 1
holds "hyprof says that nothing was loaded" says_note own "no program asked for it, or it changed the variables itself"
holds "only some" record some --inject=nvtx,ompt "$WORKLOADS/w_marks_itt" 1
holds "the others are off" same "no collector" "$(cat "$TMPDIR/some.out")"
mine() {
        NVTX_INJECTION64_PATH=/nowhere.so record mine "$WORKLOADS/w_marks_nvtx" 1 &&
                says_note mine "NVTX_INJECTION64_PATH is set already" && grep -qx "attached 0" "$TMPDIR/mine.out"
}
holds "a variable that is set already is left as it is" mine
none() { record none --inject=none env && ! grep -E 'INTEL_|NVTX|OMP_TOOL|HYPROF_INJECT' "$TMPDIR/none.out"; }
holds "none" none
own_library=$(dirname "$(readlink -f "$HYPROF")")/libhyprof_inject.so
within() { # name of the trace, choice, what the program says: as if a recorder around this one had set the variables
        HYPROF_INJECT=itt,ompt,nvtx NVTX_INJECTION64_PATH=$own_library record "$1" "--inject=$2" "$WORKLOADS/w_marks_nvtx" 1 &&
                grep -qx "$3" "$TMPDIR/$1.out" && lacks_note "$1" "note: --inject"
}
holds "none, in a recording within another one" within within_none none "attached 0"
holds "all, in a recording within another one" within within_all nvtx "attached 1"
holds "nonsense is refused" ends_with 2 "$HYPROF" record --inject=itt,vtune -o "$TMPDIR/no.hyp" true
set_user() {
        cp "$WORKLOADS/w_marks_itt" "$TMPDIR/set_user" && chmod 4755 "$TMPDIR/set_user" &&
                record rights --inject=itt "$TMPDIR/set_user" 1 && says_note rights "gets rights of its own" &&
                same "no collector" "$(cat "$TMPDIR/rights.out")"
}
holds "a program that gets rights of its own is left as it is" set_user
by_sudo() {
        SUDO_UID=65534 SUDO_GID=65534 "$HYPROF" record -q -o - "$WORKLOADS/w_marks_nvtx" 1 >"$TMPDIR/sudo.hyp" 2>"$TMPDIR/sudo.err"
}
if [ "$(id -u)" -ne 0 ]; then
        skips "under sudo" "only root can be whom sudo makes of a user"
elif ! by_sudo && grep -q 'cannot be executed' "$TMPDIR/sudo.err"; then
        skips "under sudo" "another user may not execute the program here"
else
        read_trace sudo
        holds "under sudo" same "1 1" "$(zones sudo outer)"
fi
