#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import: spans of OpenTelemetry nest in their parents and in nothing else, in whatever order a file has them; processes with one number
set -eu
. tests/tap.sh
plan 3

# Each zone with its thread, and with its time without that of the zones within it.
zones_of() { # lines: id, parent, begin and end in ns, name
        awk 'BEGIN { printf "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[" }
                { printf "%s{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",", n++ ? "," : ""
                  printf "\"spanId\":\"%016d\",\"parentSpanId\":\"%016d\",\"name\":\"%s\",", $1, $2, $5
                  printf "\"startTimeUnixNano\":\"1700000000%09d\",\"endTimeUnixNano\":\"1700000000%09d\"}", $3, $4 }
                END { print "]}]}]}" }' >"$TMPDIR/spans.json"
        "$HYPROF" import -q --force "$TMPDIR/spans.json" -o "$TMPDIR/spans.hyp" || return 1
        "$HYPROF" csv -u "$TMPDIR/spans.hyp" | awk -F , 'NR > 1 { print $1, "on", $6 }' | sort
        "$HYPROF" csv -e "$TMPDIR/spans.hyp" | awk -F , 'NR > 1 { print $1, $4 }' | sort
}

found=$(zones_of <<'END'
3 1 2000 5000 query
1 0 1000 9000 get
2 0 1500 8000 put
END
)
holds "of requests that overlap, each is on a thread with its own spans" \
        same $'get on 2\nput on 3\nquery on 2\nget 5000\nput 6500\nquery 3000' "$found"

# Exporters write a span when it ends: the innermost one comes first.
found=$(zones_of <<'END'
3 2 1000 2000 c
2 1 1000 2000 b
1 0 1000 2000 a
5 4 3000 3000 e
4 0 3000 3000 d
END
)
holds "a span that begins and ends with its parent, and comes before it, is within it" \
        same $'a on 2\nb on 2\nc on 2\nd on 2\ne on 2\na 0\nb 0\nc 1000\nd 0\ne 0' "$found"

# Two containers, of which one has a second file.
for file in front back front-2; do
        cat >"$TMPDIR/$file.json" <<END
{"resourceSpans":[{"resource":{"attributes":[{"key":"process.pid","value":{"intValue":1}},
  {"key":"service.name","value":{"stringValue":"${file%-2}"}}]},
  "scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"0000000000000001","name":"$file",
    "startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000002500"}]}]}]}
END
done
"$HYPROF" import -q --force "$TMPDIR/front.json" "$TMPDIR/back.json" "$TMPDIR/front-2.json" -o "$TMPDIR/spans.hyp"
processes_of_zones() {
        "$HYPROF" dump "$TMPDIR/spans.hyp" | sed 's/=/ /g' | awk '
                $1 == "string" { names[$3] = $5 }
                $1 == "location" { zones[$3] = $5 }
                $1 == "process" { pids[$3] = $5 }
                $1 == "thread" { process[$3] = $5 }
                $1 == "zone_begin" { print names[zones[$7]], pids[process[$3]] == 1 ? "1" : "another" }'
}
holds "of two services with one number in two files, the second is another process, and each is one" \
        same $'"front" 1\n"back" another\n"front-2" 1' "$(processes_of_zones)"
