#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The client library in programs of musl, static and dynamic: they link, and all of their zones arrive
set -u
. tests/tap.sh
plan 4
need musl-gcc
need_sampling

compile() { # options...
        musl-gcc -std=c11 -D_GNU_SOURCE -I. -Iinstrument/client/include -DHYPROF_VERSION='"test"' -O2 -fno-omit-frame-pointer \
                examples/hello_zones/*.c instrument/client/*.c -o "$TMPDIR/program" -lm -pthread "$@"
}
# hello_zones has 20 frames with a zone each.
all_zones_arrive() {
        "$HYPROF" record -o "$TMPDIR/t.hyp" -- "$TMPDIR/program" &&
                same 20,20 "$("$HYPROF" report --zones --csv "$TMPDIR/t.hyp" | awk -F, 'NR > 1 { print $3 }' | paste -sd ,)"
}

holds "a static program links with the client" compile -static
holds "all of its zones are in the trace" all_zones_arrive
holds "a dynamic program links with the client" compile
holds "all of its zones are in the trace too" all_zones_arrive
