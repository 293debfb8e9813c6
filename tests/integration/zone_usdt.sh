#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --zone-usdt and --usdt: static probes are zones and messages with their arguments, of PostgreSQL as well
set -eu
. tests/tap.sh
plan 16
need jq
need_sampling
[ "$(uname -m)" = x86_64 ] || skip_all "hardware: static probes are read on x86-64"
set -m
n=50
server='' job='' recorders=()
trap '[ -z "$server" ] || kill -INT "$server" 2>/dev/null || true' EXIT

texts() { # name of the trace: those of zones, and of messages
        "$HYPROF" dump "$TMPDIR/$1.hyp" | sed -n 's/^\(zone\|message\)_text .* text="\(.*\)"$/\2/p'
}
refused() { # words, options...
        local status=0
        "$HYPROF" record -q -o "$TMPDIR/refused.hyp" "${@:2}" "$WORKLOADS/w_static" 1 >"$TMPDIR/refused.out" 2>"$TMPDIR/refused.err" ||
                status=$?
        same 125 "$status" && same "" "$(cat "$TMPDIR/refused.out")" && grep -q -- "$1" "$TMPDIR/refused.err"
}

# The command ran, or nothing can be probed here: then the reason is the one that hyprof gave.
record zones --zone-usdt='query__start,w_static:query__done' --zone-usdt='w_static!inner__start,inner__done' --usdt='w_static:step' \
        "$WORKLOADS/w_static" $n || {
        grep -q 'BPF' "$TMPDIR/zones.err" || { cat "$TMPDIR/zones.err" && exit 1; }
        skip_all "hardware: $(grep -m 1 BPF "$TMPDIR/zones.err")"
}
read_trace zones
for ((i = 0; i < n; i++)); do
        printf 'select %d from t, %d\n%d\nw_static:step: -3, ?, %d\n' "$i" "$((-i))" "$i" "$i"
done >"$TMPDIR/wanted"
holds "all texts, numbers with and without a sign, an argument of an unknown form" same "$(cat "$TMPDIR/wanted")" "$(texts zones)"
holds "as many zones as turns" same "$n $n" \
        "$(n_events zones 'kind == "zone_begin" && zone == "query"') $(n_events zones 'kind == "zone_begin" && zone == "inner"')"
holds "one within the other, all ended" same "$((2 * n))" "$(n_events zones 'kind == "zone_end"')"
holds "the semaphore was set in each turn" grep -q "^watched $n\$" "$TMPDIR/zones.out"
"$WORKLOADS/w_static" 5 >"$TMPDIR/later.out"
holds "and is 0 without a recording" grep -q '^watched 0$' "$TMPDIR/later.out"
holds "nothing was lost" same "" "$(lost zones)"

# ---- a running program, and another tool that watches the same probe: another recording
mkfifo "$TMPDIR/to"
"$WORKLOADS/w_static" $n wait <"$TMPDIR/to" >"$TMPDIR/runs.out" &
program=$!
exec 4>"$TMPDIR/to"
wait_until "it runs" grep -q pid "$TMPDIR/runs.out"
for name in first second; do
        "$HYPROF" record -q -o "$TMPDIR/$name.hyp" -p "$program" --usdt='query__start' >"$TMPDIR/$name.out" 2>"$TMPDIR/$name.err" 4>&- &
        recorders[${#recorders[@]}]=$!
        wait_until "it is joined" "$HYPROF" ctl "$!" status
done
kill -INT "${recorders[0]}"
wait "${recorders[0]}" || true
exec 4>&-
wait "${recorders[1]}"
holds "the semaphore stays set for the other recording" grep -q "^watched $n\$" "$TMPDIR/runs.out"
holds "which has all messages" same "$n" "$(texts second | grep -c '^w_static:query__start: select')"

# ---- what cannot be
holds "no such probe at the begin" refused "'nosuch,query__done': the file has no static probe (SDT) nosuch" --zone-usdt='nosuch,query__done'
holds "nor at the end" refused "no static probe (SDT) nosuch" --zone-usdt='query__start,nosuch'
holds "one name" refused "not two names with a comma" --zone-usdt='query__start'
holds "no such message" refused "no such static probe" --usdt='w_static:nosuch*'

# ---- PostgreSQL, as Debian built it
bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
if [ -z "$bin" ] || ! id postgres >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
        skips_group "PostgreSQL" "tool: no postgresql, or not root"
        exit
fi
data=$(TMPDIR=/tmp mktemp -d) # the server may not look into ours
trap 'kill -INT "$server" 2>/dev/null; wait "$job" 2>/dev/null; rm -rf "$data"' EXIT
chown postgres "$data"
as() { (cd "$data" && setpriv --reuid postgres --regid postgres --init-groups "$@"); }
as "$bin/initdb" -D "$data/db" -A trust -U postgres --no-sync >"$TMPDIR/initdb.out"
as "$bin/postgres" -D "$data/db" -k "$data" -c listen_addresses= -c fsync=off >"$TMPDIR/server.out" 2>&1 &
job=$!
ask() { as "$bin/psql" -X -q -h "$data" -U postgres -d postgres "$@" >"$TMPDIR/ask.out" 2>&1; }
wait_until "the server answers" ask -c 'select 1'
server=$(head -n 1 "$data/db/postmaster.pid")
"$HYPROF" record -q -o "$TMPDIR/sql.hyp" -p "$server" --zone-usdt='query__start,query__done' >"$TMPDIR/sql.out" 2>"$TMPDIR/sql.err" &
recorder=$!
wait_until "the server is joined" "$HYPROF" ctl "$recorder" status
for i in 1 2 3 4; do
        ask -c "select $i + 41" -c "select count(*) from pg_class where oid > $i" &
        clients[i]=$!
done
wait "${clients[@]}"
ask -c 'select 1/0' || true
kill -INT "$recorder"
wait "$recorder"
for i in 1 2 3 4; do
        printf 'select %d + 41\nselect count(*) from pg_class where oid > %d\n' "$i" "$i"
done >"$TMPDIR/queries"
read_trace sql
holds "PostgreSQL's queries are zones with their SQL, in processes that it starts later" same \
        "$({ cat "$TMPDIR/queries" && echo 'select 1/0'; } | sort)" "$(texts sql | sort)"
holds "all but the one that failed have ended" same 8 "$(n_events sql 'kind == "zone_end"')"
holds "each in the process of its client" same 5 "$(n_different sql 'kind == "zone_begin"' pid)"
holds "the server runs on" ask -c 'select 2'
