#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof record --ring: the last so long in bounded memory; whole traces at the end, at SIGUSR2 and when a zone is slow
set -eu
. tests/tap.sh
plan 70
need jq
need_sampling
set -m # SIGINT is not ignored in jobs

programs=()
cleanup() {
        local pid
        for pid in "${programs[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
}
trap cleanup EXIT
mkfifo "$TMPDIR/to" "$TMPDIR/from"

. tests/flight.sh

# The second one of a second, "-2.hyp", comes after ".hyp".
dumps() { # name: the files that lie beside the trace
        find "$TMPDIR" -name "$1.[0-9]*-[0-9]*.hyp" | sed 's/\.hyp$//' | sort | sed 's/$/.hyp/'
}

n_dumps() { # name
        dumps "$1" | wc -l
}

# A dump is there when it is announced.
wait_for_dumps() { # name, how many
        local i
        for ((i = 0; i < 600; i++)); do
                [ "$(grep -c '^hyprof: wrote' "$TMPDIR/$1.err")" -ge "$2" ] && return 0
                read -r -t 0.1 <> <(:) || true
        done
        cat "$TMPDIR/$1.err"
        return 1
}

# The n-th dump becomes a trace of its own name.
take_dump() { # name, n, new name
        cp "$(dumps "$1" | sed -n "$2p")" "$TMPDIR/$3.hyp"
        read_trace "$3"
}

meta() { # name, key
        awk -v key="$2" '
                /^string / { id = $2; sub(/^id=/, "", id); text = $0; sub(/^[^"]*"/, "", text); sub(/"$/, "", text); texts[id] = text }
                /^meta / { sub(/^key=/, "", $3); sub(/^value=/, "", $4); if (texts[$3] == key) print texts[$4] }' "$TMPDIR/$1.dump"
}

# The numbers of the turns, as their messages say.
turns() { # name
        awk '/^(event|message_text|.*message_text)/ && match($0, /text="turn [0-9]+"/) {
                print substr($0, RSTART + 11, RLENGTH - 12) }' "$TMPDIR/$1.dump"
}
no_hole() { # name
        turns "$1" | awk 'NR > 1 && $1 != before + 1 { print before, $1; bad = 1 } { before = $1 } END { exit bad || NR < 2 }'
}
last_turn() { turns "$1" | tail -n 1; }
first_turn() { turns "$1" | head -n 1; }

# Everything that a dump must be, whenever it was made.
is_good() { # name
        is_whole "$1" &&
                no_hole "$1" &&
                same "" "$(lost "$1")" &&
                same 2 "$(n_different "$1" 'kind == "sample" || kind == "zone_begin"' 'tid')" &&
                compare "$(n_events "$1" 'kind == "zone_begin" && zone == "run"')" == 1 &&
                compare "$(n_events "$1" 'kind == "zone_begin" && zone == "waiting"')" == 1 &&
                compare "$(n_events "$1" 'kind == "sample" && path != open')" == 0 &&
                compare "$(n_events "$1" "time_ns < $(meta "$1" start_raw_ns) && time_ns > 0")" == 0
}

has_names() { # name
        compare "$(n_events "$1" 'kind == "sample" && self == "flight_turn" && path == "/run/turn"')" ">" 10
}

# ---- the end of a recording
fly end --ring 2s
for _ in 1 2 3 4 5 6; do tell turns 40 20 >/dev/null; done # five seconds at least
tell turns 3 1 >/dev/null
holds "it ends as its command does" land
read_trace end
holds "the trace is whole and its figures are right" is_good end
holds "its functions have names" has_names end
holds "it holds two seconds exactly" same 2000000000 $(($(meta end end_raw_ns) - $(meta end start_raw_ns)))
holds "and says that there were more" compare "$(meta end start_raw_ns) - $(meta end recording_start_raw_ns)" ">" 2e9
holds "and what it is" same "2s, the end of the recording" "$(meta end ring), $(meta end ring_cause)"
holds "the closing line counts what is in the file" same "$(reported end '"\([.sample_events.rows[].n_samples] | add) \(.n_zones)"')" \
        "$(sed -n 's/,//g; s/^hyprof: wrote .*end.hyp (.*): .* \([0-9]*\) samples .* \([0-9]*\) zones .*/\1 \2/p' "$TMPDIR/end.err")"
holds "the last turn is there" same 243 "$(last_turn end)"
holds "the first ones are not" compare "$(first_turn end)" ">" 1
holds "a report says so" same 1 "$(reported end '[.missing.rows[] | select(.code == "RING")] | length')"
holds "the waiting thread has its name" grep -q '"idle"' "$TMPDIR/end.dump"
holds "no other file was made" same 0 "$(n_dumps end)"
for format in firefox perfetto chrome speedscope folded; do
        holds "hyprof export $format" ends_with 0 "$HYPROF" export "$format" -o "$TMPDIR/end.$format" "$TMPDIR/end.hyp"
done
holds "hyprof why" ends_with 0 "$HYPROF" why --zone turn "$TMPDIR/end.hyp"

# ---- shorter than the ring
fly short --ring 60s
tell turns 20 5 >/dev/null
holds "a short recording" land
read_trace short
holds "is there from its beginning" same "1 20" "$(first_turn short) $(last_turn short)"
holds "and nothing is missing" same 0 "$(reported short '[.missing.rows[] | select(.code == "RING")] | length')"

# ---- SIGUSR2
fly usr2 --ring 60s
tell turns 20 20 >/dev/null
kill -USR2 "$recorder"
holds "SIGUSR2 writes a file" wait_for_dumps usr2 1
holds "the recording goes on" tell turns 30 20
holds "the file is whole meanwhile" "$HYPROF" check "$(dumps usr2 | head -n 1)"
kill -USR2 "$recorder"
holds "and another one" wait_for_dumps usr2 2
tell turns 10 5 >/dev/null
holds "the command did not get it" land
holds "there are two files beside the trace" same 2 "$(n_dumps usr2)"
take_dump usr2 1 first
take_dump usr2 2 second
read_trace usr2
for name in first second usr2; do
        holds "$name is whole and right" is_good "$name"
        holds "$name has names" has_names "$name"
done
holds "each ends where it was wanted" same "20 50 60" "$(last_turn first) $(last_turn second) $(last_turn usr2)"
holds "and says why it is there" same SIGUSR2 "$(meta first ring_cause)"

# ---- slow instances
fly slow --ring 60s --trigger 'zone:nothing>1ms' --trigger 'zone:run/turn>1500ms'
tell turns 20 10 >/dev/null
tell turns 1 1600 >/dev/null
holds "a slow instance writes a file" wait_for_dumps slow 1
tell turns 1 1600 >/dev/null
tell turns 5 10 >/dev/null
holds "the recording ends" land
holds "one, until the ring has been filled again" same 1 "$(n_dumps slow)"
holds "which is said" grep -q '1 dump beside the trace; 2 slow instances, 1 without a dump of its own' "$TMPDIR/slow.err"
take_dump slow 1 caught
holds "it is whole and right" is_good caught
holds "it says why it is there" grep -q "^zone:run/turn>1500ms: an instance of 1[0-9][0-9][0-9]\." <(meta caught ring_cause)
longest() { # name: the longest instance of "turn", in milliseconds
        "$HYPROF" csv --unwrap "$TMPDIR/$1.hyp" 2>/dev/null | awk -F, '$1 == "turn" && $5 > most { most = $5 } END { printf "%.0f\n", most / 1e6 }'
}
holds "the slow instance is in it from its begin to its end" compare "$(longest caught)" ">=" 1599

fly many --ring 100ms --max-dumps 2 --trigger 'zone:turn>30ms'
for _ in 1 2 3 4; do
        tell turns 1 50 >/dev/null
        tell turns 1 400 >/dev/null
done
land >/dev/null
holds "--max-dumps limits the files" same 2 "$(n_dumps many)"

# ---- bounded memory
fly flood --ring 1M
for _ in 1 2 3 4 5 6 7 8; do tell flood 3000000 >/dev/null; done
tell turns 2 5 >/dev/null
holds "a flood of zones" land
holds "is whole" is_whole flood
figure "$(grep 'ring of' "$TMPDIR/flood.err")"
holds "the trace is not larger than the ring and its tables" compare "$(stat -c %s "$TMPDIR/flood.hyp")" "<" 2000000
holds "the end is there" same 1 "$("$HYPROF" dump "$TMPDIR/flood.hyp" | grep -c 'text="turn 2"')"

# ---- processes that are running before the recording
"$WORKLOADS/w_flight" <"$TMPDIR/to" >"$TMPDIR/from" &
programs+=($!)
program=$!
exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
tell turns 1 1 >/dev/null
"$HYPROF" record --ring 2s -p "$program" -o "$TMPDIR/joined.hyp" 2>"$TMPDIR/joined.err" &
recorder=$!
programs+=("$recorder")
wait_until "SIGUSR2 is expected" grep -q '^SigBlk:.*[89a-f]..$' "/proc/$recorder/status"
tell turns 40 10 >/dev/null
kill -USR2 "$recorder"
holds "a program that runs already" wait_for_dumps joined 1
kill -INT "$recorder"
holds "Ctrl-C writes the trace" wait "$recorder"
holds "which is whole" is_whole joined
holds "the dump is, too" "$HYPROF" check "$(dumps joined)"
exec 4>&- 5<&-
wait "$program" # or it would still read what is for the next one

# ---- no place for a dump
mkdir "$TMPDIR/gone"
fly gone/x --ring 60s
tell turns 2 1 >/dev/null
rm "$TMPDIR/gone/x.hyp"
mv "$TMPDIR/gone/x.err" "$TMPDIR/x.err"
rmdir "$TMPDIR/gone"
kill -USR2 "$recorder"
holds "a dump whose folder is gone is written elsewhere" wait_for_dumps x 1
holds "which is said with the reason" grep -q "^hyprof: warning: the folder of .*/gone/x.hyp takes no dump any more (No such file or directory): it goes to $TMPDIR\$" "$TMPDIR/x.err"
holds "it is whole" "$HYPROF" check "$(dumps x)"
holds "the user's alone" same 600 "$(stat -c %a "$(dumps x)")"
holds "and the recording goes on" tell turns 2 1
holds "to its end" land

# ---- as whom
if [ "$(id -u)" -eq 0 ]; then
        uid=$(id -u nobody)
        folder=$(mktemp -d /tmp/hyprof-ring.XXXXXX)
        chmod 755 "$folder"
        mkdir "$folder/home"
        cp "$WORKLOADS/w_flight" "$folder/"
        chown "$uid" "$folder/home"
        (cd "$folder/home" && exec env SUDO_UID="$uid" SUDO_GID="$(id -g nobody)" SUDO_USER=nobody "$HYPROF" record --ring 2s -o t.hyp -- ../w_flight) \
                <"$TMPDIR/to" >"$TMPDIR/from" 2>"$TMPDIR/sudo.err" &
        recorder=$!
        programs+=("$recorder")
        exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
        tell turns 10 10 >/dev/null
        kill -USR2 "$recorder"
        holds "under sudo" wait_for_dumps sudo 1
        holds "it ends" land
        holds "all is the user's" same "$uid" "$(stat -c %u "$folder"/home/*.hyp | sort -u)"
        holds "a dump and the trace" same 2 "$(find "$folder/home" -name '*.hyp' | wc -l)"
        rm -f "$folder"/home/*.hyp
        "$HYPROF" record --ring 2s -o "$folder/home/root.hyp" -- "$WORKLOADS/w_flight" <"$TMPDIR/to" >"$TMPDIR/from" 2>"$TMPDIR/root.err" &
        recorder=$!
        programs+=("$recorder")
        exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
        tell turns 10 10 >/dev/null
        kill -USR2 "$recorder"
        wait_for_dumps root 1 || true
        land >/dev/null
        holds "root in a folder of another user has dumps beside the trace" \
                same 2 "$(find "$folder/home" -name 'root*.hyp' | wc -l)"
        rm -rf "$folder"
else
        skips_group "under sudo" "hardware: only root can be whom sudo makes of a user"
fi

# ---- what is refused
refuses() { # words, options...
        ends_with 2 "$HYPROF" record "${@:2}" -- true && grep -q -e "$1" "$TMPDIR/err"
}
holds "neither time nor size" refuses 'neither a time' --ring 30 -o "$TMPDIR/no.hyp"
holds "a pipe has nothing beside it" refuses 'is not a file, and dumps are written beside it' --ring 2s -o /dev/null
holds "a trigger without a ring" refuses 'needs --ring' --trigger 'zone:a>1s' -o "$TMPDIR/no.hyp"
holds "a trigger's time without a unit" refuses 'with a unit' --ring 2s --trigger 'zone:a>5' -o "$TMPDIR/no.hyp"
holds "a trigger by a handle, which no zone has yet" refuses 'zones have handles only in a trace' --ring 2s --trigger 'zone:handle:z1>1s' -o "$TMPDIR/no.hyp"
holds "a trigger that is none" refuses 'not of the form' --ring 2s --trigger 'a>1s' -o "$TMPDIR/no.hyp"
holds "totals" refuses 'whole recording' --ring 2s --stat -o "$TMPDIR/no.hyp"
holds "a limit of the trace's size" refuses 'cannot be combined with --ring' --ring 2s --max-size 1G -o "$TMPDIR/no.hyp"
