#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program with a client of version 1.0 of the shared memory is recorded as before, whatever it has where later versions
# have something; one of another major version is refused, and that is said
set -eu
. tests/tap.sh
plan 15
need jq
need_sampling

for filling in 0 0xff 0x01; do
        name=old_$filling
        holds "1.0, $filling in reserved bytes: recorded" record "$name" --no-symbolize --no-sampling -- \
                "$WORKLOADS/w_old_client" 1 "$filling"
        read_trace "$name"
        holds "$filling: every zone is there" same 1000 "$(reported "$name" .n_zones)"
        holds "$filling: nothing is lost" same "" "$(lost "$name")"
        holds "$filling: by its name" same 1000 "$(n_events "$name" 'kind == "zone_begin" && zone == "old zone"')"
done

record new --no-symbolize --no-sampling -- "$WORKLOADS/w_old_client" 2 0
read_trace new
holds "2.0: its zones are not there" same 0 "$(reported new .n_zones)"
# A program that has ended by then may also be counted as gone.
holds "2.0: it is refused once" same "CLIENT_REFUSED 1" "$(lost new | grep -v '^CLIENT_GONE ')"
"$HYPROF" report "$TMPDIR/new.hyp" >"$TMPDIR/new.text"
holds "2.0: the report says so" grep -q "of another ABI" "$TMPDIR/new.text"
