#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Traces of older recorders are read with the counts of versions.table; of newer ones what is known, and one line says the rest
set -eu
. tests/tap.sh
table=tests/integration/versions.table
n_old=$(grep -vc '^#' "$table")
plan $((n_old * 2 + 24))
need jq

# In the order of the table's columns.
counts='.traces.rows[0].n_events'
report='"\(.n_processes) \(.n_threads) \(.n_samples) \(.n_zones) \(.n_switches) \(.n_messages) \(.n_plot_values)"'
counted() { # trace
        echo "$("$HYPROF" check --json --limit 0 "$1" 2>/dev/null | jq "$counts") $("$HYPROF" report --json --limit 0 "$1" 2>/dev/null | jq -r "$report")"
}
shares_above_one() { # trace
        "$HYPROF" report --json --limit 0 "$1" 2>/dev/null | jq -c '[.. | objects | to_entries[] | select(.key | endswith("share")) | .value |
                select(type == "number" and (. > 1.000001 or . < 0))]'
}

# ---- older ones
while read -r trace wanted; do
        holds "$trace: the counts that it always had" same "$wanted" "$(counted "$trace" | xargs)"
        holds "$trace: no share of more than everything" same '[]' "$(shares_above_one "$trace")"
done < <(grep -v '^#' "$table" | tr -s ' ')

# ---- a newer minor version: events of an op and chunks of a kind that do not exist
old=tests/golden/v1.11.hyp
newer=$TMPDIR/newer.hyp
read -r n_chunks n_events <<<"$("$BUILD/tools/newer_trace" $old "$newer" 1 12)"
said="warning: $newer: trace version 1.12 of a newer hyprof, read as 1.11: $n_events events and $n_chunks chunks left out"
says_it() { # command and options...: it succeeds, and has one line about this
        ends_with 0 "$HYPROF" "$@" </dev/null && same "hyprof: $said" "$(grep -F 'of a newer hyprof' "$TMPDIR/err")"
}

holds "a newer one has more" compare "$n_chunks" ">=" 1
holds "check reads it" says_it check "$newer"
holds "report reads it" says_it report "$newer"
holds "its report has them among what is missing" same "$n_events $n_chunks" "$("$HYPROF" report --json --limit 0 "$newer" 2>/dev/null | jq -r \
        '[.missing.rows[] | select(.code == "UNKNOWN_EVENTS" or .code == "UNKNOWN_CHUNKS") | .count] | join(" ")')"
holds "all that is known is counted as before" same "$(counted $old)" "$(counted "$newer")"
holds "why" says_it why --zone frame "$newer"
holds "csv" says_it csv "$newer"
holds "annotate" says_it annotate "$newer" load_level
holds "export" says_it export chrome -o "$TMPDIR/newer.json" "$newer"
holds "query" says_it query --sqlite "$TMPDIR/newer.db" "$newer"
holds "top" says_it top "$newer"
holds "an older one is not said to be newer" sh -c "\"$HYPROF\" report $old 2>&1 >/dev/null | grep -c 'of a newer hyprof' | grep -qx 0"
holds "top of a pipe" sh -c "\"$HYPROF\" top - <\"$newer\" >\"$TMPDIR/out\" 2>\"$TMPDIR/err\""
holds "says so too" grep -qF "trace version 1.12 of a newer hyprof, read as 1.11: $n_events events and $n_chunks chunks" "$TMPDIR/err"

# The page's warnings, of a file and of a pipe.
warnings_of() { # its standard input, argument of hyprof view
        : >"$TMPDIR/view" # not the address of the one before
        "$HYPROF" view --no-open "$2" <"$1" >"$TMPDIR/view" 2>"$TMPDIR/view.err" &
        local pid=$! url
        until grep -q '^Ctrl-C' "$TMPDIR/view"; do
                kill -0 "$pid" 2>/dev/null || { cat "$TMPDIR/view.err" && return 1; }
                sleep 0.05
        done
        url=$(sed -n '/^http/p' "$TMPDIR/view")
        curl -s "${url}model" >"$TMPDIR/model"
        kill -INT "$pid"
        wait "$pid" || true
        jq -r '.warnings[]' "$TMPDIR/model"
}
words='trace version 1.12 of a newer hyprof, read as 1.11: what is new in it is left out'
if command -v curl >/dev/null; then
        holds "the viewer says it" sh -c "printf '%s\n' \"\$1\" | grep -qF \"\$2\"" sh "$(warnings_of /dev/null "$newer")" "$words"
        holds "the viewer of a pipe says it" sh -c "printf '%s\n' \"\$1\" | grep -qF \"\$2\"" sh "$(warnings_of "$newer" -)" "$words"
else
        skips_group "the viewer" "curl is not installed"
fi

# ---- another major version: refused in words, by a documented status
"$BUILD/tools/newer_trace" $old "$TMPDIR/major.hyp" 2 0 >/dev/null
refused() { # command and options...
        ends_with 1 "$HYPROF" "$@" && grep -qF 'trace version 2.0, this hyprof reads version 1' "$TMPDIR/err" &&
                grep -qF 'try: a newer hyprof' "$TMPDIR/err"
}
for command in report check top; do
        holds "$command: another major version is refused" refused $command "$TMPDIR/major.hyp"
done
holds "view: refused" refused view --no-open "$TMPDIR/major.hyp"
holds "top of a pipe: refused" sh -c "\"$HYPROF\" top - <\"$TMPDIR/major.hyp\" 2>\"$TMPDIR/err\"; test \$? = 1 && grep -qF 'trace version 2.0' \"$TMPDIR/err\""
holds "view of a pipe: refused" sh -c "\"$HYPROF\" view --no-open - <\"$TMPDIR/major.hyp\" >\"$TMPDIR/out\" 2>\"$TMPDIR/err\"; test \$? = 1 && grep -qF 'trace version 2.0' \"$TMPDIR/err\""
holds "merge: refused" ends_with 1 "$HYPROF" merge "$TMPDIR/major.hyp" $old -o "$TMPDIR/merged.hyp"
holds "and leaves nothing" test ! -e "$TMPDIR/merged.hyp"
