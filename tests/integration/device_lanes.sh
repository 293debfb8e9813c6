#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lanes of devices: each view has its zones as they were, crossing ones, and ranges of time by when they ran
set -eu
. tests/tap.sh
plan 24
need jq python3 sqlite3
need_sampling

holds "w_lanes is recorded" record lanes --embed=none "$WORKLOADS/w_lanes"

exported() { # format, file, options...
        "$HYPROF" export "$1" "$TMPDIR/lanes.hyp" -o "$TMPDIR/$2" --force -q "${@:3}"
}

query() { # sql
        sqlite3 "$TMPDIR/lanes.db" "$1"
}

slices() { # file, awk's condition
        python3 tests/tools/track_slices.py "$TMPDIR/$1" >"$TMPDIR/slices" || return 1
        awk "$2" "$TMPDIR/slices"
}

# The zones of w_lanes.c: device, lane, name, count, ns.
truth() {
        for core in 0 1 2 3; do
                echo "chip 0|$core|inner|10|80000"
                echo "chip 0|$core|outer|10|100000"
        done
        for core in 100 101 102 103; do
                echo "chip 0|$core|other|10|30000"
        done
        echo "chip 1|5|step|10|50000000"
}

# ---- SQLite
holds "export sqlite" exported sqlite lanes.db
holds "a row for each zone, with its lane" same "$(truth)" "$(query 'SELECT d.name, lane, l.name, count(*), sum(duration_ns)
        FROM device_spans s JOIN devices d ON d.id = device JOIN locations l ON l.id = location
        GROUP BY d.id, lane, l.name ORDER BY d.id, lane, l.name')"
holds "keys: one to ten of each" same "13|55|1|10" "$(query 'SELECT count(*), min(sum), min(least), max(most) FROM (
        SELECT sum(key) AS sum, min(key) AS least, max(key) AS most FROM device_spans GROUP BY lane, location) WHERE sum = 55')"
holds "begin, end and length agree" same 0 "$(query 'SELECT count(*) FROM device_spans WHERE end_ns - begin_ns <> duration_ns OR NOT placed')"
holds "begins are those that were said" same "100|700" "$(query "SELECT (SELECT min(begin_ns) FROM device_spans WHERE lane = 1) - min(begin_ns),
        (SELECT min(begin_ns) FROM device_spans s JOIN locations l ON l.id = location WHERE name = 'inner') - min(begin_ns)
        FROM device_spans s JOIN devices d ON d.id = device WHERE d.name = 'chip 0'")"
holds "they were handed over when all were over" same 0 "$(query 'SELECT count(*) FROM device_spans WHERE said_ns < (SELECT max(end_ns) FROM device_spans)')"

# ---- exports: nothing is cut, nothing crosses
lanes_of_chip_0() {
        for core in 0 1 2 3; do
                echo "chip 0$1lane $core inner 10 80000"
                echo "chip 0$1lane $core outer 10 100000"
        done
        for core in 100 101 102 103; do
                echo "chip 0$1lane $core other 10 30000"
        done
}
# Ten zones of 5 ms, a millisecond apart, are five at once: the sixth is on the first sub-lane again.
sublanes_of_chip_1() {
        echo "chip 1$1lane 5 step 2 10000000"
        for sublane in 2 3 4 5; do
                echo "chip 1$1lane 5 ($sublane) step 2 10000000"
        done
}
for format in perfetto chrome; do
        between=$([ $format = chrome ] && echo ' ' || echo /)
        holds "export $format" exported $format lanes.$format
        holds "$format: a track for each lane, all lengths true" same "$(lanes_of_chip_0 "$between" | sort)" "$(slices lanes.$format /^chip.0/ | sort)"
        holds "$format: zones that cross are on sub-lanes" same "$(sublanes_of_chip_1 "$between" | sort)" "$(slices lanes.$format /^chip.1/ | sort)"
done
holds "chrome: lane and key" same "110 130" "$(jq -r '[.traceEvents[] | select(.cat == "device") | .args] |
        "\([.[] | select(.lane >= 100) | .key] | add / 2) \(length)"' "$TMPDIR/lanes.chrome")"

# ---- report
rows() { # table, expression, options...
        "$HYPROF" report --devices --json "${@:3}" "$TMPDIR/lanes.hyp" | jq -r ".$1.rows[] | $2"
}
holds "report --devices: lanes, each with its union" same "0 20 180000 100000
1 20 180000 100000
2 20 180000 100000
3 20 180000 100000
100 10 30000 30000
101 10 30000 30000
102 10 30000 30000
103 10 30000 30000
5 10 50000000 14000000" "$(rows lanes '"\(.lane) \(.count) \(.total_ns) \(.busy_ns)"')"
holds "of the time from the device's first zone to its last" same 14000000 \
        "$(rows devices 'select(.device == "chip 1") | .last_at_ns - .first_at_ns')"
holds "csv -g: lane and key behind Tracy's columns" same "130 715" "$("$HYPROF" export csv -g "$TMPDIR/lanes.hyp" |
        awk -F, 'NR > 1 { n++; keys += $7 } END { print n, keys }')"

# ---- a range: three of the ten rounds of each lane of chip 0, from the begin of one, which counts, to that of another
read -r from to < <(query "SELECT (SELECT begin_ns || 'ns' FROM device_spans WHERE lane = 0 AND key = 4 ORDER BY begin_ns LIMIT 1) || ' ' ||
        (SELECT begin_ns || 'ns' FROM device_spans WHERE lane = 0 AND key = 7 ORDER BY begin_ns LIMIT 1)")
range=(--from "$from" --to "$to")
holds "report of a range: what began in it" same "inner 12
other 12
outer 12" "$(rows zones 'select(.name != "step") | "\(.name) \(.count)"' "${range[@]}" | sort)"
# shellcheck disable=SC2016 # awk expands it
in_range() { # format
        case $1 in
        sqlite) exported sqlite lanes.db "${range[@]}" && query 'SELECT count(*) FROM device_spans WHERE device = 1' ;;
        csv) "$HYPROF" export csv -g "${range[@]}" "$TMPDIR/lanes.hyp" | grep -c ',chip 0,' ;;
        *) exported "$1" "lanes.$1" "${range[@]}" && slices "lanes.$1" '/^chip 0/ { n += $(NF - 1) } END { print n }' ;;
        esac
}
for format in sqlite csv perfetto chrome; do
        holds "$format: the same" same 36 "$(in_range $format)"
done
holds "none was handed over inside of a zone" same 0 "$(rows zones .count "${range[@]}" --zone '*' 2>/dev/null | wc -l)"
holds "a range with nothing at all is refused" ends_with 1 "$HYPROF" export chrome --to 1ns "$TMPDIR/lanes.hyp" -o "$TMPDIR/none.json"
