#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# w_messages: every kind of event that a program can emit is in the trace, in order and with its values
set -eu
. tests/tap.sh
need jq
need_sampling

holds "the program is recorded" record all "$WORKLOADS/w_messages"
read_trace all

cat >"$TMPDIR/wanted" <<'EOS'
zone_begin outer main tests/workloads/w_messages.c
message 2 0 hello from the workload
message 3 16746496 a warning
plot_i64 depth -7
plot_f64 load 0.25
zone_begin inner main tests/workloads/w_messages.c
zone_end inner
frame_mark
frame_mark audio
zone_end outer
EOS
awk -F '\t' "$columns"'
kind ~ /^(zone_|message|plot_|frame_mark)/ {
        words = kind
        for (i = 6; i <= NF; i++)
                words = words " " $i
        sub(/:[0-9]+$/, "", words) # the line in the source
        sub(/ *$/, "", words)
        print words
}' "$TMPDIR/all.events" >"$TMPDIR/found"
holds "every event, in order, with its values" diff "$TMPDIR/wanted" "$TMPDIR/found"
holds "all of them on the thread \"teller\"" same "$(wc -l <"$TMPDIR/wanted")" \
        "$(n_events all 'kind ~ /^(zone_|message|plot_|frame_mark)/ && thread == "teller"')"
holds "the times never go back" awk -F '\t' "$columns"'
        kind !~ /^(zone_|message|plot_|frame_mark)/ { next }
        time_ns + 0 < last { print "after", last, "comes", time_ns; bad = 1 }
        { last = time_ns + 0 }
        END { exit bad }' "$TMPDIR/all.events"
holds "the report counts them" same "2 2 2 2" \
        "$(reported all '.counts | "\(.zones) \(.messages) \(.plot_values) \(.frame_marks)"')"
holds "and no zone is left open" same "0" "$(reported all '.counts.zones_unclosed')"
holds "nothing is lost" same "" "$(lost all)"
holds "the thread is listed" same "teller 2" "$(reported all '.threads.rows[] | select(.name == "teller") | "\(.name) \(.zones)"')"
