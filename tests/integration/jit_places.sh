#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Names of a perf map are found wherever the code lies, and what has none is counted
set -eu
. tests/tap.sh
plan 19
need jq
need_sampling
[ "$(uname -m)" = x86_64 ] || skip_all "w_jit_places has no code for $(uname -m)"

named() { # trace, function
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" | jq --arg name "$2" \
                '[.functions.rows[] | select(.function == $name) | .self_samples] | add // 0'
}

n_samples() { # trace
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" | jq '[.functions.rows[].self_samples] | add // 0'
}

unread() { # trace
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" | jq '[.missing.rows[] | select(.code == "JIT_GARBAGE") | .count] | add // 0'
}

for place in anon memfd deleted data; do
        holds "$place is recorded" record "$place" "$WORKLOADS/w_jit_places" "$place"
        figure "$place: $(named "$place" made) of $(n_samples "$place") samples are in made()"
        # Until the first reading of the map there is no name, and a file must be known to have no code there.
        holds "$place: the code has its name" compare "$(named "$place" made)" ">" "0.6 * $(n_samples "$place")"
        holds "$place: nothing was left out" same 0 "$(unread "$place")"
done

holds "text is recorded" record text "$WORKLOADS/w_jit_places" text
holds "text: a file's own code keeps its name" compare "$(named text reserved)" ">" "0.6 * $(n_samples text)"
holds "text: no name of the map is used for it" same 0 "$(named text made)"

holds "a line without an end is recorded" record open "$WORKLOADS/w_jit_places" anon open
holds "it is read when the program has ended" compare "$(named open made)" ">" "0.6 * $(n_samples open)"

holds "a line of size 0 is recorded" record empty "$WORKLOADS/w_jit_places" anon empty
holds "a line of size 0 is counted" same 1 "$(unread empty)"
