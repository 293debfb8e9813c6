#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# go tool pprof, protoc, callgrind_annotate and perf read the same in exports as hyprof's own report says
set -eu
. tests/tap.sh
plan 47
need jq python3 sqlite3
need_sampling

pprof() { go tool pprof "$@" 2>"$TMPDIR/pprof.err"; }
# The numbers of `pprof -top`: flat, cumulative, function; of the samples unless told otherwise.
pprof_top() { # file, options...
        pprof -top -nodecount=1000000 -nodefraction=0 -sample_index=samples "${@:2}" "$1" |
                awk 'heading { n = $1; c = $4; $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); sub(/ \(inline\)$/, "")
                        sub(/ \(partial-inline\)$/, ""); print n "\t" c "\t" $0 } $1 == "flat" { heading = 1 }'
}
sum_of() { awk -F '\t' '{ sum += $1 } END { print sum + 0 }'; } # what pprof_top printed

# The named functions with samples of their own, in one module or several: "NAME<tab>SAMPLES".
own_of() { # name
        reported "$1" '[.functions.rows[] | select(.kind == "named" and .self_samples > 0)] | group_by(.function)[] |
                "\(.[0].function)\t\(map(.self_samples) | add)"' | LC_ALL=C sort
}
# The functions that have samples, their own or in what they called, and are in one module only.
all_of() { # name
        reported "$1" '[.functions.rows[] | select(.kind == "named")] | group_by(.function)[] | select(length == 1) |
                "\(.[0].function)\t\(.[0].total_samples)"' | LC_ALL=C sort
}
named_only() { grep -vE '^(\[|thread )' | LC_ALL=C sort; } # not modules and threads

# For `holds`: the same lines.
same_lines() { # wanted file, found file
        diff "$1" "$2" | head -n 20
        cmp -s "$1" "$2" && test -s "$1"
}

export_as() { # name, format, options...
        "$HYPROF" export "$2" "$TMPDIR/$1.hyp" --force -o "$TMPDIR/$1.$2" "${@:3}" >"$TMPDIR/$1.$2.err" 2>&1
}

# ---- each consumer, on a trace whose report was read --------------------------------------------------------

check_pprof() { # name
        local zone
        export_as "$1" pprof || true
        pprof_top "$TMPDIR/$1.pprof" >"$TMPDIR/$1.top"
        holds "$1: pprof counts the samples" same "$(reported "$1" '[.sample_events.rows[] | select(.shown)][0].n_samples')" \
                "$(sum_of <"$TMPDIR/$1.top")"
        holds "$1: pprof adds up their weight" same "$(reported "$1" '[.sample_events.rows[] | select(.shown)][0].weight')" \
                "$(pprof -raw "$TMPDIR/$1.pprof" | awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
                        on && $1 ~ /^[0-9]+$/ { sum += $2 } END { printf "%.0f", sum }')"
        awk -F '\t' '$1 > 0 { print $3 "\t" $1 }' "$TMPDIR/$1.top" | named_only >"$TMPDIR/found"
        own_of "$1" >"$TMPDIR/wanted"
        holds "$1: pprof has the same functions" same_lines "$TMPDIR/wanted" "$TMPDIR/found"
        all_of "$1" >"$TMPDIR/wanted"
        awk -F '\t' 'NR == FNR { wanted[$1] = 1; next } $3 in wanted { print $3 "\t" $2 }' \
                "$TMPDIR/wanted" "$TMPDIR/$1.top" | LC_ALL=C sort >"$TMPDIR/found"
        holds "$1: and the same functions with their callees" same_lines "$TMPDIR/wanted" "$TMPDIR/found"
        for zone in $(reported "$1" '.zones.rows[] | select(.n_samples > 0) | .name' | head -n 3); do
                holds "$1: pprof -tagfocus=zone=$zone is what was in the zone" \
                        same "$(reported "$1" "[.zones.rows[] | select(.name == \"$zone\").n_samples] | add")" \
                        "$(pprof_top "$TMPDIR/$1.pprof" "-tagfocus=zone=^$zone\$" | sum_of)"
        done
}

# The report's figures, in the words of perfetto_totals.py, with what devices said beside them.
perfetto_wanted() { # name, instants of devices, values of devices
        reported "$1" '[.sample_events.rows[] | select(.shown)][0] | "samples \(.n_samples // 0)", "weight \(.weight // 0)"'
        reported "$1" '"unknown 0", "unbalanced 0", "running 0", "messages \(.n_messages + '"$2"')", "counters \(.n_plot_values + '"$3"')"'
        reported "$1" '[.zones.rows[] | select(.count + .n_unclosed > 0)] | group_by(.name)[] |
                "zone \(.[0].name) \(map(.count + .n_unclosed) | add) \(map(.total_ns) | add)"'
        own_of "$1" | sed 's/^/self /; s/\t/ /'
}

check_perfetto() { # name, instants of devices, values of devices
        export_as "$1" perfetto || true
        protoc --decode=Trace -Itests/consumers perfetto_subset.proto <"$TMPDIR/$1.perfetto" |
                python3 tests/consumers/perfetto_totals.py >"$TMPDIR/$1.totals"
        perfetto_wanted "$1" "$2" "$3" | LC_ALL=C sort >"$TMPDIR/wanted"
        grep -vE '^(switches|stack_samples|flow|self \[)' "$TMPDIR/$1.totals" | LC_ALL=C sort >"$TMPDIR/found"
        holds "$1: protoc knows all of Perfetto's fields, and finds the samples, zones and functions" \
                same_lines "$TMPDIR/wanted" "$TMPDIR/found"
}

annotate() { # name, options...: in a folder whose name callgrind_annotate cannot take for a part of a path
        (cd "$TMPDIR" && callgrind_annotate --auto=no --threshold=100 --show=samples --sort=samples "${@:2}" "$1.callgrind") |
                sed -nE 's/^ *([0-9,]+) \([^)]*\)  (.*)$/\1\t\2/p' |
                sed -E ':a; s/^([0-9]*),/\1/; ta; s/\t[^:]*:/\t/; s/ \[\[?[^]]*\]?\]$//'
}

check_callgrind() { # name
        export_as "$1" callgrind || true
        annotate "$1" | awk -F '\t' '$1 > 0 && $2 != "PROGRAM TOTALS" { sum[$2] += $1 }
                END { for (f in sum) print f "\t" sum[f] }' | named_only >"$TMPDIR/found"
        own_of "$1" >"$TMPDIR/wanted"
        holds "$1: callgrind_annotate has the same functions" same_lines "$TMPDIR/wanted" "$TMPDIR/found"
        all_of "$1" >"$TMPDIR/wanted"
        annotate "$1" --inclusive=yes | awk -F '\t' '{ print $2 "\t" $1 }' | LC_ALL=C sort >"$TMPDIR/inclusive"
        awk -F '\t' 'NR == FNR { wanted[$1] = 1; next } $1 in wanted' "$TMPDIR/wanted" "$TMPDIR/inclusive" >"$TMPDIR/found"
        holds "$1: and the same functions with their callees" same_lines "$TMPDIR/wanted" "$TMPDIR/found"
}

check_perf() { # name
        export_as "$1" perf-data || true
        perf script -i "$TMPDIR/$1.perf-data" -F tid,time,period,event -G 2>"$TMPDIR/perf.err" >"$TMPDIR/$1.script" || true
        holds "$1: perf script counts the samples and adds up their weight" \
                same "$(reported "$1" '[.sample_events.rows[] | select(.shown)][0] | "\(.n_samples) \(.weight)"')" \
                "$(awk 'NF { n++; sum += $3 } END { printf "%d %.0f", n, sum }' "$TMPDIR/$1.script")"
        perf report -i "$TMPDIR/$1.perf-data" --stdio --no-children -g none -F sample,sym -t '|' 2>"$TMPDIR/perf.err" |
                sed -nE 's/^ *([0-9]+) *\|\[\.\] *([^ ]+) *$/\2\t\1/p' | LC_ALL=C sort >"$TMPDIR/$1.syms"
        for function in busy_a busy_b; do
                holds "$1: perf report finds $function as often" \
                        same "$(own_of "$1" | awk -F '\t' -v f=$function '$1 == f { print $2 }')" \
                        "$(awk -F '\t' -v f=$function '$1 == f { print $2 }' "$TMPDIR/$1.syms")"
        done
        # Names that begin with 0x are addresses; those of modules of the kernel stay what they are.
        if grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* . _text$' /proc/kallsyms; then
                holds "$1: perf names the functions of the kernel" same 0 "$(perf report -i "$TMPDIR/$1.perf-data" --stdio \
                        --no-children -g none -F sample,dso,sym -t '|' 2>"$TMPDIR/perf.err" |
                        grep 'kernel.kallsyms' | grep -c '|\[k\] *0x')"
        fi
        holds "$1: perf sees the context switches" compare \
                "$(perf script -i "$TMPDIR/$1.perf-data" --show-switch-events 2>/dev/null | grep -c PERF_RECORD_SWITCH)" \
                == "$(reported "$1" .n_switches)"
}

# ---- a real recording ---------------------------------------------------------------------------------------

record two_zones -- "$WORKLOADS/w_two_zones"
"$HYPROF" report --json --limit 0 "$TMPDIR/two_zones.hyp" >"$TMPDIR/two_zones.json"
record every -- "$WORKLOADS/w_every_event"
"$HYPROF" report --json --limit 0 "$TMPDIR/every.hyp" >"$TMPDIR/every.json"

if command -v go >/dev/null; then
        check_pprof two_zones
else
        skips_group "pprof" "go is not installed"
fi
if command -v protoc >/dev/null; then
        check_perfetto two_zones 0 0
        check_perfetto every 1 2
        holds "every: Perfetto has a track of the device, and one for each of three lanes with a zone" same "1
1
1" \
                "$(protoc --decode=Trace -Itests/consumers perfetto_subset.proto <"$TMPDIR/every.perfetto" |
                        awk '/name: "queue"/ { n++ } /type: / { type = $2 } /track_uuid: / { uuid = $2 }
                                /name: "kernel"/ && type == "TYPE_SLICE_BEGIN" { zones[uuid]++ }
                                END { for (u in zones) if (n > 0) print zones[u] }')"
        holds "two_zones: Perfetto has the context switches" compare \
                "$(awk '$1 == "switches" { print $2 }' "$TMPDIR/two_zones.totals")" ">=" "$(reported two_zones .n_switches)"
        export_as two_zones perfetto --zone a
        holds "two_zones: a filter leaves whole zones, and their samples" same \
                "$(reported two_zones '.zones.rows[] | select(.name == "a") |
                        "samples \(.n_samples)", "unbalanced 0", "zone a \(.count) \(.total_ns)"')" \
                "$(protoc --decode=Trace -Itests/consumers perfetto_subset.proto <"$TMPDIR/two_zones.perfetto" |
                        python3 tests/consumers/perfetto_totals.py | grep -E '^(samples|unbalanced|zone) ')"
else
        skips_group "perfetto" "protoc is not installed"
fi
if command -v callgrind_annotate >/dev/null; then
        check_callgrind two_zones
else
        skips_group "callgrind" "valgrind is not installed"
fi
if command -v perf >/dev/null; then
        check_perf two_zones
else
        skips_group "perf-data" "perf is not installed"
fi

# ---- waits --------------------------------------------------------------------------------------------------

# Together, in pprof's third number.
off_cpu_of() { # name
        pprof -raw "$TMPDIR/$1.pprof" | awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
                on && $1 ~ /^[0-9]+$/ { sum += $3 } END { printf "%.0f", sum }'
}

record waits --off-cpu -- "$WORKLOADS/w_waits" || record waits -- "$WORKLOADS/w_waits"
"$HYPROF" report --json --limit 0 "$TMPDIR/waits.hyp" >"$TMPDIR/waits.json"
"$HYPROF" report --json --limit 0 --off-cpu "$TMPDIR/waits.hyp" >"$TMPDIR/off_cpu.json"
if command -v go >/dev/null; then
        export_as waits pprof
        holds "waits: pprof adds up the time off a CPU" same "$(reported off_cpu .waiting_ns)" "$(off_cpu_of waits)"
fi
if command -v protoc >/dev/null; then
        check_perfetto waits 0 0
        holds "waits: Perfetto adds up the time off a CPU" same "$(reported off_cpu .waiting_ns)" \
                "$(awk '$1 == "stack_samples" && $2 == "off-cpu" { print $4 }' "$TMPDIR/waits.totals")"
        "$HYPROF" export sqlite "$TMPDIR/waits.hyp" -o "$TMPDIR/waits.db" --force -q
        holds "waits: Perfetto has an arrow for each wait that a recorded thread ended" same \
                "$(sqlite3 "$TMPDIR/waits.db" "select printf('flow wake-up %s wakes %s %d -> %s woken by %s %d %d',
                        w.name, t.name, t.tid, t.name, w.name, w.tid, count(*))
                        from waits join threads t on t.id = thread join threads w on w.id = waker_thread
                        where ended group by t.id, w.id" | LC_ALL=C sort)" \
                "$(grep '^flow' "$TMPDIR/waits.totals" | LC_ALL=C sort)"
fi

# ---- zones as frames ----------------------------------------------------------------------------------------

if command -v go >/dev/null; then
        export_as two_zones pprof --zones-as-frames
        holds "zones are the outermost frames" same \
                "$(reported two_zones '.zones.rows[] | select(.name == "a").n_samples')" \
                "$(pprof_top "$TMPDIR/two_zones.pprof" | awk -F '\t' '$3 == "zone:a" { print $2 }')"
fi

# ---- traces with next to nothing in them --------------------------------------------------------------------

# For `holds`: the consumer reads it.
opens() { # name, format
        export_as "$1" "$2" || { cat "$TMPDIR/$1.$2.err" && return 1; }
        case $2 in
        perfetto) protoc --decode=Trace -Itests/consumers perfetto_subset.proto <"$TMPDIR/$1.$2" |
                python3 tests/consumers/perfetto_totals.py | grep -qx "unknown 0" ;;
        pprof) pprof -raw "$TMPDIR/$1.$2" | grep -q '^samples/count' ;;
        callgrind) (cd "$TMPDIR" && callgrind_annotate --auto=no "$1.$2") | grep -q 'Events recorded' ;;
        perf-data) perf script -i "$TMPDIR/$1.$2" -F tid,time,event ;;
        esac
}

declare -A tool=([perfetto]=protoc [pprof]=go [callgrind]=callgrind_annotate [perf-data]=perf)
for kind in empty one samples zones unclosed; do
        "$BUILD/tools/made_trace" $kind "$TMPDIR/$kind.hyp"
        for format in perfetto pprof callgrind perf-data; do
                if command -v "${tool[$format]}" >/dev/null; then
                        holds "$kind: $format is opened" opens $kind $format
                else
                        skips "$kind: $format" "${tool[$format]} is not installed"
                fi
        done
done

# ---- what a large one costs ---------------------------------------------------------------------------------

"$BUILD/tools/made_trace" many "$TMPDIR/many.hyp" 1000000 200000
for format in perfetto pprof callgrind perf-data; do
        begin_ms=$(date +%s%3N)
        export_as many $format || true
        figure "1,000,000 zones and 200,000 samples as $format: $(($(date +%s%3N) - begin_ms)) ms,\
 $(($(stat -c %s "$TMPDIR/many.$format") / 1000)) KB"
        holds "many: all of it is written as $format" grep -q "200,000 samples" "$TMPDIR/many.$format.err"
done
