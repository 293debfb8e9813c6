#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# w_messages, w_every_event: all that a program can say is in the trace, in order and with its values
set -eu
. tests/tap.sh
plan 23
need jq
need_sampling

holds "the program is recorded" record all "$WORKLOADS/w_messages"
read_trace all

cat >"$TMPDIR/wanted" <<'EOS'
zone_begin outer main tests/workloads/w_messages.c
message_text 2 0 hello from the workload
message_text 3 16746496 a warning
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
        "$(reported all '"\(.n_zones) \(.n_messages) \(.n_plot_values) \(.n_frame_marks)"')"
holds "and no zone is left open" same "0" "$(reported all '.n_unclosed')"
holds "nothing is lost" same "" "$(lost all)"
holds "the thread is listed" same "teller 2" "$(reported all '.threads.rows[] | select(.name == "teller") | "\(.name) \(.n_zones)"')"

holds "a program that says everything is recorded" record every --embed=none "$WORKLOADS/w_every_event"
read_trace every
holds "nothing of it is lost" same "" "$(lost every)"

# Ids become names, and what may differ becomes a word.
cat >"$TMPDIR/named.awk" <<'EOS'
function value(name,    n) {
        for (n = 2; n <= NF; n++)
                if (index($n, name "=") == 1)
                        return substr($n, length(name) + 2)
}
function quoted() {
        return substr($0, index($0, "=\"") + 2, length($0) - index($0, "=\"") - 2)
}
function named(field,    eq, key, id) {
        eq = index(field, "=")
        key = substr(field, 1, eq - 1)
        id = substr(field, eq + 1)
        if (key == "name" || key == "pool" || (key == "space" && id != 0))
                return key "=" text[id]
        if (key == "location")
                return key "=" text[location[id]]
        return field
}
$1 == "string"   { text[value("id")] = quoted() }
$1 == "location" { location[value("id")] = value("name") }
$1 == "thread"   { fiber[value("id")] = value("kind") == 1 }
$2 !~ /^thread=/ || $3 !~ /^time_ns=/ || $1 ~ /^(sample|switch_)/ { next }
$1 == "thread_name" { if (!fiber[value("thread")]) name[value("thread")] = text[value("name")]; next }
{
        who = fiber[value("thread")] ? "fiber" : name[value("thread")]
        line = $1
        for (i = 4; i <= NF; i++)
                line = line " " named($i)
        if ($1 ~ /_text$/ || $1 == "zone_name")
                line = substr($0, length($1 $2 $3) + 4)
        if ($1 == "message_text" || $1 ~ /^zone_(text|name)$/)
                line = $1 " " line
        sub(/xxxxxxxxxx+/, "x...", line)
        sub(/stack=[1-9][0-9]*/, "stack=some", line)
        sub(/fiber=[1-9][0-9]*/, "fiber=some", line)
        sub(/plot=[1-9][0-9]*/, "plot=some", line)
        print who ": " line
}
EOS
cat >"$TMPDIR/wanted" <<'EOS'
teller: thread_group group=-3
teller: zone_begin location=outer
teller: zone_begin location=inner
teller: zone_text level=0 text="first line"
teller: zone_text level=0 text="second line"
teller: zone_name level=1 name="outer of today"
teller: zone_value value=-42 level=1
teller: zone_key space=submission key=18364758544493064720 level=1
teller: zone_color color=16711680 level=0
teller: flow space=submission id=18364758544493064721 phase=1
teller: flow space=0 id=3 phase=2
teller: flow space=0 id=4 phase=3
teller: zone_end
teller: callstack stack=some
teller: zone_begin location=stacked
teller: zone_end
teller: zone_end
teller: message_text severity=2 color=0 text="hello"
teller: message_text severity=3 color=16746496 text="a warning"
teller: message_text severity=1 color=0 text="x..."
teller: plot_i64 name=depth value=-7
teller: plot_f64 name=load bits=0.25
teller: frame_mark name=
teller: frame_mark name=audio
teller: frame_begin name=video
teller: frame_end name=video
teller: memory_alloc pool= address=0x1000 size_bytes=64
teller: memory_alloc pool=pool address=0x2000 size_bytes=128
teller: memory_free pool= address=0x1000
teller: memory_free pool=pool address=0x2000
teller: memory_discard pool=pool
teller: lock_wait lock=1 shared=0
teller: lock_obtain lock=1 shared=0
teller: lock_mark lock=1 location=holder
teller: lock_release lock=1 shared=0
teller: lock_wait lock=1 shared=1
teller: lock_obtain lock=1 shared=1
teller: lock_release lock=1 shared=1
teller: lock_name lock=1 name=renamed
teller: lock_gone lock=1
teller: device_zone_begin device=1 query=1 location=kernel
teller: device_zone_end device=1 query=2
teller: device_time device=1 query=1 ticks=1100
teller: device_time device=1 query=2 ticks=1200
teller: device_span device=1 location=kernel begin_ticks=1300 length_ticks=50 lane=3 key=4 space=0 text=0
teller: device_span device=1 location=kernel begin_ticks=1400 length_ticks=50 lane=8 key=18364758544493064720 space=submission text=0
teller: device_instant device=1 location=kernel ticks=1420 lane=8 key=5 space=submission text=0
teller: device_value device=1 plot=some ticks=1430 lane=7 kind=0 bits=0x3fe0000000000000
teller: device_value device=1 plot=some ticks=1440 lane=7 kind=1 bits=0xfffffffffffffffe
teller: zone_begin location=on thread
teller: fiber_enter fiber=some
teller: fiber_leave
teller: zone_end
teller: thread_exit
EOS
awk -f "$TMPDIR/named.awk" "$TMPDIR/every.dump" >"$TMPDIR/found"
holds "everything that the thread \"teller\" said, in order" diff "$TMPDIR/wanted" <(grep '^teller: ' "$TMPDIR/found")

cat >"$TMPDIR/wanted" <<'EOS'
fiber: zone_begin location=on fiber
fiber: zone_end
fiber: thread_exit
EOS
holds "the fiber's zone is in the fiber's stream, from one thread to the other" \
        diff "$TMPDIR/wanted" <(grep '^fiber: ' "$TMPDIR/found")
cat >"$TMPDIR/wanted" <<'EOS'
helper: fiber_enter fiber=some
helper: fiber_leave
helper: thread_exit
EOS
holds "and not in that of the thread which ended it" diff "$TMPDIR/wanted" <(grep '^helper: ' "$TMPDIR/found")
holds "it ran twice" same "2 2" \
        "$(awk '$1 == "thread" && / kind=1 / { id = substr($2, 4) } $2 == "thread=" id { n[$1]++ }
                END { print n["switch_in"], n["switch_out"] }' "$TMPDIR/every.dump")"
holds "the long text is whole" same "100000" \
        "$(sed -n 's/^message_text .* severity=1 .* text="\(.*\)"$/\1/p' "$TMPDIR/every.dump" | tr -d '\n' | wc -c)"

# The rows of a table, without their ids, with names for strings.
rows() { # table
        awk -v table="$1" '
                $1 == "string" { text[substr($2, 4)] = substr($0, index($0, "text=") + 6, length($0) - index($0, "text=") - 6) }
                $1 != table || $2 !~ /^id=/ { next }
                {
                        line = ""
                        for (i = 3; i <= NF; i++) {
                                split($i, part, "=")
                                if (part[1] ~ /^(time_ns|raw_ns|hash|process|number|location|epoch|recording)$/)
                                        continue
                                if (part[1] ~ /^(name|unit|key|value)$/)
                                        part[2] = text[part[2]]
                                line = line " " part[1] "=" part[2]
                        }
                        print substr(line, 2)
                }' "$TMPDIR/every.dump"
}
holds "how a plot is to be shown" same "name=depth unit=B format=1 flags=0x1 color=0xff00" "$(rows plot | head -n 1)"
holds "one lock" same "1" "$(rows lock | wc -l)"
holds "a device with its clock" same "name=queue period_bits=2 kind=5 clock_name=0 ticks=1000 device=1 error_ns=0 ticks=2000 device=1 error_ns=401" \
        "$(rows device) $(rows device_clock | xargs)"
holds "its tracks, each below the other" same "device=1 parent=0 name=core 0-1 kind=1|device=1 parent=1 name=BRISC kind=2|" \
        "$(rows track | tr '\n' '|')"
holds "what the program says about itself" same "key= value=free text|key=mode value=test|" \
        "$(rows program_info | tr '\n' '|')"
holds "its source text, once, and the image of its code" same \
        "size_bytes=16 kind=1 name=generated.c|size_bytes=19 kind=2 name=jitted|" "$(rows attachment | tr '\n' '|')"
holds "whose bytes are there" same "1 16|2 19|" \
        "$(sed -n 's/^attachment_part attachment=\(.*\) offset=0 bytes=/\1 /p' "$TMPDIR/every.dump" | tr '\n' '|')"
holds "the code comes and goes" same "name=jitted attachment=2 gone=0 source=0|name= attachment=0 gone=1 source=0|" \
        "$(rows code_region | sed 's/^start_avma=0x10000 length_bytes=0x200 //; s/ module=[1-9][0-9]*$//' | tr '\n' '|')"
