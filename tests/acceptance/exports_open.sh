#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `hyprof export` writes is opened by the tools that it is for, and they count what hyprof counts itself.
set -u
# shellcheck source=tests/tap.sh
. tests/tap.sh
plan 20

need jq node chromium sqlite3
export CONSUMERS=$PWD/build/consumers
[ -f "$CONSUMERS/installed-lock.json" ] || skip_all "network: npm has not installed tests/consumers"
# Debian 12 has 18, and the consumers ask for more.
[ "$(node --version | sed -E 's/^v([0-9]+).*/\1/')" -ge 20 ] || skip_all "network: Node.js 20 is from another archive than Debian's"
need_sampling

export HOME=$TMPDIR # for what these programs keep
scope=$CONSUMERS/node_modules/speedscope/dist/release

export_as() { # format, name of the trace, extension, options...
        "$HYPROF" export "$1" "$TMPDIR/$2.hyp" -o "$TMPDIR/$2$3" --force "${@:4}" 2>"$TMPDIR/$2.said"
}

# ---------------------------------------------------------------- Firefox

# Each thread: its samples that are not off the CPU, and its zones by name, as "samples N" and "zone N NAME".
open_in_firefox() { # name
        timeout 120 node tests/consumers/firefox_totals.js "$CONSUMERS/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js" \
                "$TMPDIR/$1.json.gz" >"$TMPDIR/$1.firefox"
}

firefox_sum() { # name, kind
        awk -v kind="$2" '$1 == kind { n += $2 } END { printf "%.0f\n", n }' "$TMPDIR/$1.firefox"
}

same_in_firefox() { # name
        export_as firefox "$1" .json.gz --max-markers 0 || { cat "$TMPDIR/$1.said" && return 1; }
        open_in_firefox "$1" || return 1
        same "$(reported "$1" '[.sample_events.rows[] | select(.shown) | .n_samples] | add // 0')" "$(firefox_sum "$1" samples)" || return 1
        same "$(reported "$1" '.zones.rows[] | "\(.count + .n_unclosed) \(.name)"' | sort)" \
                "$(awk '$1 == "zone" { n[$3] += $2 } END { for (name in n) print n[name], name }' "$TMPDIR/$1.firefox" | sort)"
}

# ---------------------------------------------------------------- speedscope

# All in one browser: each start takes seconds.  Words about a file that it does not open are shown by the case of that file.
open_in_speedscope() { # files; result: FILE.totals
        node tests/consumers/speedscope_totals.js "$(command -v chromium)" "$scope/index.html" "$@" 2>"$TMPDIR/scope.said" || true
}

# "12.3ms" and "1.00s (3%)" as nanoseconds, rounded as they are
# shellcheck disable=SC2016 # awk expands it
as_ns='function ns(text) {
        sub(/ .*/, "", text)
        if (text ~ /:/) { split(text, part, ":"); return (part[1] * 60 + part[2]) * 1e9 }
        return text * (text ~ /ns$/ ? 1 : text ~ /µs$/ ? 1e3 : text ~ /ms$/ ? 1e6 : text ~ /min$/ ? 6e10 : 1e9)
}'

# The sum of what speedscope says of the samples of all profiles; of the functions of the only one.
speedscope_sum() { # result
        jq -r 'if .profiles == [] then .functions[][1] else .profiles[] | select(.[1] | endswith(": samples")) | .[2] end' "$1" |
                awk "$as_ns { sum += ns(\$0) } END { printf \"%.0f\\n\", sum }"
}

within() { # share, wanted, found
        awk -v share="$1" -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= share * (a > 0 ? a : 1)) }' ||
                { echo "wanted $2 within $1, found $3" && return 1; }
}

same_in_speedscope() { # name
        node tests/consumers/valid_json.js "$scope/file-format-schema.json" "$TMPDIR/$1.speedscope.json" || return 1
        [ -s "$TMPDIR/$1.speedscope.json.totals" ] || { cat "$TMPDIR/scope.said" && return 1; }
        # A file of zones alone has no total of samples.
        [ "$(jq -r '[.profiles[].type] | unique | join(" ")' "$TMPDIR/$1.speedscope.json")" = evented ] ||
                within 0.01 "$(reported "$1" '[.sample_events.rows[] | select(.shown) | .weight] | add // 0')" \
                        "$(speedscope_sum "$TMPDIR/$1.speedscope.json.totals")"
}

# Total and self of each zone, in the profile that is the only one of the file.
zones_in_speedscope() { # name
        local count name total found
        [ -s "$TMPDIR/only.speedscope.json.totals" ] || { cat "$TMPDIR/scope.said" && return 1; }
        reported "$1" '.zones.rows[] | "\(.count) \(.total_ns) \(.name)"' >"$TMPDIR/zones"
        [ -s "$TMPDIR/zones" ] || return 1
        while read -r count total name; do
                found=$(jq -r --arg name "$name" '.functions[] | select(.[2] == $name) | .[0]' "$TMPDIR/only.speedscope.json.totals" |
                        awk "$as_ns { print ns(\$0) }")
                within 0.01 "$total" "${found:-0}" || { echo "zone $name, $count times" && return 1; }
        done <"$TMPDIR/zones"
}

# ---------------------------------------------------------------- folded

same_in_folded() { # name
        export_as folded "$1" .folded || return 1
        # The lines that flamegraph.pl takes: frames between semicolons, a blank, a number.
        if grep -vE '^[^;]+(;[^;]+)* [0-9]+$' "$TMPDIR/$1.folded"; then return 1; fi
        same "$(reported "$1" '[.sample_events.rows[] | select(.shown) | .n_samples] | add // 0')" \
                "$(awk '{ n += $NF } END { print n + 0 }' "$TMPDIR/$1.folded")" || return 1
        # Self of each function: what its lines end with.
        same "$(reported "$1" '.functions.rows[] | select(.kind == "named" and .self_samples > 0) | "\(.self_samples) \(.function)"' |
                awk '{ n = $1; sub(/^[^ ]* /, ""); self[$0] += n } END { for (name in self) print self[name], name }' | sort)" \
                "$(sed -E 's/ ([0-9]+)$/\t\1/; s/_\[[ik]\]\t/\t/; s/.*;//' "$TMPDIR/$1.folded" |
                        awk -F '\t' '{ n[$1] += $2 } END { for (name in n) print n[name], name }' | grep -vE '^[0-9]+ \[' | sort)"
}

# ---------------------------------------------------------------- Chrome

# The traps that were found with tracy-import-chrome, Perfetto and speedscope.
same_in_chrome() { # name
        export_as chrome "$1" .trace.json || return 1
        jq -e 'keys == ["displayTimeUnit", "traceEvents"]' "$TMPDIR/$1.trace.json" >"$TMPDIR/keys" || return 1
        jq -e '.traceEvents | all(has("tid") and has("pid") and has("name"))' "$TMPDIR/$1.trace.json" >"$TMPDIR/keys" || return 1
        # By begin, outermost first, each inside of the one around it.
        jq -e '[.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid]) | all(
                reduce .[] as $x ({ fine: true, open: [], last: 0 };
                        .fine = (.fine and $x.ts >= .last) | .last = $x.ts |
                        until(.open == [] or .open[-1] > $x.ts + 0.0005; .open |= .[:-1]) |
                        .fine = (.fine and (.open == [] or $x.ts + $x.dur <= .open[-1] + 0.002)) |
                        .open += [$x.ts + $x.dur]) | .fine)' "$TMPDIR/$1.trace.json" >"$TMPDIR/keys" || { echo "not in order" && return 1; }
        same "$(reported "$1" '.zones.rows[] | "\(.count + .n_unclosed) \(.total_ns) \(.name)"' | sort)" \
                "$(jq -r '.traceEvents[] | select(.ph == "X" and .cat == "zone") | "\(.dur * 1000 | round) \(.name)"' "$TMPDIR/$1.trace.json" |
                        awk '{ count[$2]++; total[$2] += $1 } END { for (name in count) printf "%d %d %s\n", count[name], total[name], name }' | sort)"
}

# Each pair of threads, and how many arrows it has: by the database and by the engine of DevTools.
arrows_in_devtools() { # name
        export_as chrome "$1" .trace.json || return 1
        "$HYPROF" export sqlite "$TMPDIR/$1.hyp" -o "$TMPDIR/$1.db" --force -q || return 1
        sqlite3 "$TMPDIR/$1.db" "select printf('wakes %s %d -> woken by %s %d %d', t.name, t.tid, w.name, w.tid, count(*))
                from waits join threads t on t.id = thread join threads w on w.id = waker_thread
                where ended group by t.id, w.id" | LC_ALL=C sort >"$TMPDIR/$1.arrows"
        node tests/consumers/devtools_flows.js "$TMPDIR/$1.trace.json" | LC_ALL=C sort >"$TMPDIR/$1.flows"
        same "$(cat "$TMPDIR/$1.arrows")" "$(cat "$TMPDIR/$1.flows")" || return 1
        # Ten waits of "waiter" for each of the three, and those until they were ready.
        compare "$(awk '/^wakes waiter .* by (holder|futexer|piper) / && $NF >= 10 { n++ } END { print n }' "$TMPDIR/$1.flows")" == 3
}

# ---------------------------------------------------------------- recordings

record two "$WORKLOADS/w_two_zones" 1 2
read_trace two
record shares "$WORKLOADS/w_shares" 1
read_trace shares
record few -F 3 "$WORKLOADS/w_two_zones" 1 1
read_trace few
record every "$WORKLOADS/w_every_event"
"$BUILD/tools/edge_traces" "$TMPDIR"
scoped=()
for name in shares two empty one samples zones unclosed; do
        export_as speedscope $name .speedscope.json
        scoped+=("$TMPDIR/$name.speedscope.json")
done
jq -c '.profiles |= map(select(.type == "evented")) | .activeProfileIndex = 0 | .profiles |= .[:1]' \
        "$TMPDIR/zones.speedscope.json" >"$TMPDIR/only.speedscope.json"
open_in_speedscope "${scoped[@]}" "$TMPDIR/only.speedscope.json"

holds "firefox: profiler-cli counts the samples and zones of two threads as hyprof does" same_in_firefox two
holds "firefox: all zones of a recording with few samples" same_in_firefox few
holds "firefox: and the samples of a program without zones" same_in_firefox shares
holds "speedscope: its totals of the samples are hyprof's" same_in_speedscope shares
holds "speedscope: the same with zones" same_in_speedscope two
holds "folded: every line is one, and self of each function is hyprof's" same_in_folded shares
holds "folded: the same with two threads of one name" same_in_folded two
holds "chrome: zones in order, and their numbers and lengths are hyprof's" same_in_chrome two
if record waits --off-cpu "$WORKLOADS/w_waits"; then
        holds "chrome: DevTools finds an arrow for each wait that a recorded thread ended" arrows_in_devtools waits
else
        skips "chrome: arrows" "wake-ups cannot be recorded here"
fi
figure "profiler-cli, speedscope, trace_engine: $(jq -r .version \
        "$CONSUMERS"/node_modules/{@firefox-devtools/profiler-cli,speedscope,@paulirish/trace_engine}/package.json | paste -sd ' ')"

# ---------------------------------------------------------------- everything that programs say

every_event() {
        export_as firefox every .json.gz || return 1
        gzip -dc "$TMPDIR/every.json.gz" >"$TMPDIR/every.json" || return 1
        jq -e '[.threads[].markers.data[].type] | contains(["Zone", "Message", "Frame", "Lock", "Device"])' "$TMPDIR/every.json" || return 1
        jq -e '.counters | length > 0' "$TMPDIR/every.json" || return 1
        jq -e '[.threads[] | select(has("nativeAllocations"))] | length > 0' "$TMPDIR/every.json" || return 1
        open_in_firefox every
}
holds "firefox: markers, messages, frames, locks, devices, counters and allocations open too" every_event

locks_and_devices() {
        export_as chrome every .trace.json || return 1
        # Two waits, the second after the lock was renamed; zones of 200 and 100 ns, each lane a thread of its own;
        # one of a lane with a name, and a key beyond what numbers of JSON hold; a moment and two values of the
        # device.  "key": both ends of an arrow.
        same "lock wait for renamed X
lock wait for renamed X
device kernel i
device power C
device power C
device kernel X
device kernel X
device kernel X
device key s
device key f" "$(jq -r '.traceEvents[] | select(.cat == "lock" or .cat == "device") | "\(.cat) \(.name) \(.ph)"' \
                "$TMPDIR/every.trace.json")" || return 1
        same "200 0 null queue lane 0
100 3 4 queue lane 3
100 8 18364758544493064720 queue / core 0-1 / BRISC" "$(jq -r '.traceEvents as $all | $all[] | select(.cat == "device" and .ph == "X") | .tid as $tid |
                "\(.dur * 1000 | round) \(.args.lane) \(.args.key) \($all[] | select(.ph == "M" and .tid == $tid) | .args.name)"' \
                "$TMPDIR/every.trace.json")"
}
holds "chrome: waits for locks and zones of devices" locks_and_devices

few_markers() {
        export_as firefox two .json.gz --max-markers 100 || return 1
        open_in_firefox two || return 1
        same 100 "$(firefox_sum two zone)" || return 1
        grep -q 'left out: .* zones, shorter than' "$TMPDIR/two.said"
}
without_waits() {
        export_as firefox two .json.gz --no-waits || return 1
        gzip -dc "$TMPDIR/two.json.gz" >"$TMPDIR/without.json" || return 1
        jq -e '.shared.stringArray | all(test("^\\[(waiting|preempted|stopped)") | not)' "$TMPDIR/without.json" || return 1
        same "$(reported two '[.sample_events.rows[] | select(.shown) | .n_samples] | add')" \
                "$(jq '[.threads[].samples.weight[] | select(. > 0)] | length' "$TMPDIR/without.json")"
}
holds "firefox: --no-waits leaves samples alone" without_waits
holds "firefox: --max-markers keeps that many and says how many are left out" few_markers

# ---------------------------------------------------------------- traces with next to nothing

for name in empty one samples zones unclosed; do
        read_trace "$name"
        edge() {
                same_in_firefox "$name" && same_in_speedscope "$name" && same_in_folded "$name" && same_in_chrome "$name"
        }
        holds "$name: opens everywhere, with the totals that it has" edge
done
holds "zones: total of each in speedscope" zones_in_speedscope zones

every_format() {
        local format
        for format in $("$HYPROF" export --list | awk '{ print $1 }'); do
                for name in empty one samples zones unclosed; do
                        ends_with 0 "$HYPROF" export "$format" "$TMPDIR/$name.hyp" -o "$TMPDIR/any" --force || return 1
                done
        done
}
holds "every format writes them" every_format
