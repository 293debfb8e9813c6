#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Zones of devices belong to the zones of threads with their keys; gaps of a device to what the program did meanwhile
set -eu
. tests/tap.sh
plan 33
need jq python3 sqlite3
need_sampling

holds "w_keys is recorded" record keys --embed=none "$WORKLOADS/w_keys"
holds "w_keys without keys is recorded" record plain --embed=none "$WORKLOADS/w_keys" none

report() { # trace, expression, options...
        "$HYPROF" report --devices --json --limit 0 "${@:3}" "$TMPDIR/$1.hyp" | jq -r "$2"
}
query() { # sql
        sqlite3 "$TMPDIR/keys.db" "$1"
}
holds "export sqlite" "$HYPROF" export sqlite "$TMPDIR/keys.hyp" -o "$TMPDIR/keys.db" --force -q

# ---- keys: what w_keys.c says
holds "zones that said keys, with their work" same "submit 20 20000000 0 46 26" \
        "$(report keys '.host_operations.rows[] | "\(.name) \(.spans) \(.total_ns) \(.early) \(.keys) \(.without_span)"')"
holds "each kind of key is of its own, though numbers are the same" same "frame 0 0 20 20
submission 23 3 20 0
ticket 23 23 0 0" "$(report keys '.keys.rows[] | "\(.space) \(.keys) \(.without_span) \(.spans) \(.without_zone)"' | sort)"

# ---- delays: from the begins of zones, and from those of zones of devices, found by their order
# shellcheck disable=SC2034 # the queries have it
delays="WITH z AS (SELECT begin_ns, row_number() OVER (ORDER BY begin_ns) AS n FROM zones JOIN locations l
        ON l.id = location WHERE l.name = 'submit'), s AS (SELECT begin_ns, row_number() OVER (ORDER BY begin_ns) AS n
        FROM device_spans JOIN locations l ON l.id = location WHERE name = 'kernel')
        SELECT s.begin_ns - z.begin_ns AS ns FROM z JOIN s USING (n)"
expected=$(query "SELECT (sum(ns) / count(*)) || ' ' || max(ns) FROM ($delays)")
holds "delays: a millisecond from what was said" compare "${expected#* }" ">=" 900000
holds "as the begins have them" same "$expected" \
        "$(report keys '.host_operations.rows[] | "\(.mean_delay_ns) \(.max_delay_ns)"')"
holds "sqlite: the same" same "$expected 20 20000000 0" "$(query "SELECT CAST(mean_delay_ns AS INTEGER) || ' ' || max_delay_ns ||
        ' ' || spans || ' ' || total_ns || ' ' || early FROM host_operations WHERE name = 'submit'")"
holds "sqlite: the zone is found by its begin" same 20 "$(query "SELECT count(*) FROM device_hosts h JOIN zones z
        ON z.thread = h.thread AND z.begin_ns = zone_begin_ns AND z.location = h.location WHERE space = 'submission'")"
holds "sqlite: zones of devices without one" same "copy 20" "$(query "SELECT name || ' ' || count(*) FROM device_spans s
        JOIN locations l ON l.id = location WHERE s.id NOT IN (SELECT span FROM device_hosts) GROUP BY name")"

# ---- gaps
gaps=$(query "SELECT sum(next - end_ns) || ' ' || count(*) || ' ' || max(next - end_ns) FROM (SELECT end_ns,
        lead(begin_ns) OVER (ORDER BY begin_ns) AS next FROM device_spans JOIN locations l ON l.id = location
        WHERE name = 'kernel') WHERE next NOT NULL")
holds "gaps: between the zones of any lane" same "$gaps" \
        "$(report keys '.gaps.rows | "\([.[].idle_ns] | add) \(length) \([.[].idle_ns] | max)"')"
holds "the longest first" same true "$(report keys '[.gaps.rows[].idle_ns] | . == (sort | reverse)')"
holds "meanwhile the next work was prepared" same "prepare kernel" \
        "$(report keys '.gaps.rows[] | "\(.name) \(.next)"' | sort -u)"
holds "by the thread that said the key, and not that which reported the work" same 1 \
        "$(report keys '.gaps.rows[] | .thread' | sort -u | wc -l)"
holds "the time of gaps is divided among zones" same "${gaps%% *}" "$(report keys '[.idle.rows[].idle_ns] | add')"
holds "most of it to prepare" same prepare "$(report keys '.idle.rows[0].name')"
holds "shares are whole" same true "$(report keys '[.idle.rows[].share] | add | . > 0.999 and . < 1.001')"
holds "each gap has one longest zone" same 19 "$(report keys '[.idle.rows[].gaps] | add')"
holds "gaps of lanes: between the zones of each" same "$(query "SELECT lane || ' ' || sum(next - end_ns) || ' ' || count(*) ||
        ' ' || max(next - end_ns) FROM (SELECT lane, end_ns, lead(begin_ns) OVER (PARTITION BY lane ORDER BY begin_ns) AS next
        FROM device_spans) WHERE next NOT NULL GROUP BY lane ORDER BY lane")" \
        "$(report keys '.lane_gaps.rows | group_by(.lane)[] | "\(.[0].lane) \([.[].idle_ns] | add) \(length) \([.[].idle_ns] | max)"')"
# shellcheck disable=SC2016 # variables of jq
holds "as the table of lanes has them, with the zone of most of that time" same "0 prepare true
9 null true" "$(report keys '. as $all | .lanes.rows[] | .lane as $lane | [$all.lane_gaps.rows[] | select(.lane == $lane).idle_ns] as $gaps |
        "\($lane) \(.idle_name) \(.idle_ns == ($gaps | add) and .gaps == ($gaps | length) and .longest_gap_ns == ($gaps | max))"')"
# shellcheck disable=SC2016 # likewise
holds "that time is divided among zones, for each lane" same true "$(report keys '. as $all | [.lanes.rows[] | .lane as $lane |
        .idle_ns == ([$all.lane_idle.rows[] | select(.lane == $lane).idle_ns] | add)] | all')"
holds "text has the tables" grep -q "^Host operations" <("$HYPROF" report --devices "$TMPDIR/keys.hyp")

# ---- a range: the work of the last ten, the keys of which were said in it or before
from=$(query "SELECT begin_ns || 'ns' FROM device_spans s JOIN locations l ON l.id = location WHERE name = 'kernel'
        ORDER BY begin_ns LIMIT 1 OFFSET 10")
holds "a range: what began in it, and no word on what is missing" same "submit 10 null" \
        "$(report keys '.host_operations.rows[] | "\(.name) \(.spans) \(.without_span)"' --from "$from")"
holds "a range has its own gaps" same 9 "$(report keys '.gaps.rows | length' --from "$from")"

# ---- arrows
flows() { # file, options...
        "$HYPROF" export "${1%%.*}" "$TMPDIR/${FROM:-keys}.hyp" -o "$TMPDIR/$1" --force -q "${@:2}" &&
                python3 tests/tools/device_flows.py "$TMPDIR/$1"
}
sum=$(query "SELECT sum(ns) FROM ($delays)")
for format in perfetto chrome; do
        holds "$format: arrows from zones to what they started" same "kernel 20 $sum" "$(flows $format.out)"
        holds "$format: none from a zone that is left out" same "kernel 9" \
                "$(flows $format.out --from "$from" | cut -d' ' -f 1,2)"
        holds "$format: none without keys" same "" "$(FROM=plain flows $format.out)"
done

# ---- no keys
holds "no keys: no tables of them" same "false false" "$(report plain '"\(has("host_operations")) \(has("keys"))"')"
holds "gaps belong to who reported the work" same "19 null" \
        "$(report plain '"\(.gaps.rows | length) \(.gaps.rows[0].name)"')"
holds "no warning" same 0 "$(report plain '.warnings | length')"
