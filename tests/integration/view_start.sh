#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof view` at its start: the browser, the line for ssh, who it runs as under sudo; and its answers with filters
set -eu
. tests/tap.sh
plan 19
need curl jq
export no_proxy='*'

folder=$(mktemp -d /tmp/hyprof-start.XXXXXX)
trap 'rm -rf "$folder"' EXIT
cp "$HYPROF" tests/golden/v1.4.hyp "$folder/"
export XDG_CACHE_HOME="$folder/cache"
mkdir -p "$folder/bin" "$folder/cache" "$folder/run"

# A browser: writes who it is, what it was given, and what is in that file; in one step, when all of it is there.
cat >"$folder/bin/xdg-open" <<SCRIPT
#!/bin/sh
{ id -u; printf '%s\n' "\$1"; stat -c %a "\$1"; cat "\$1"; } >"$folder/opened.part" && mv "$folder/opened.part" "$folder/opened"
SCRIPT
chmod 755 "$folder/bin/xdg-open"
trace=$folder/v1.4.hyp

# $pid, $url, $port
start() { # environment and options of hyprof view...
        : >"$folder/view.out"
        PATH="$folder/bin:$PATH" XDG_RUNTIME_DIR="$folder/run" env "$@" >"$folder/view.out" 2>"$folder/view.err" &
        pid=$!
        until grep -q '^Ctrl-C' "$folder/view.out"; do
                kill -0 "$pid" 2>/dev/null || { cat "$folder/view.err" && return 1; }
                sleep 0.05
        done
        url=$(sed -n '/^http/p' "$folder/view.out")
        port=${url#http://*.localhost:} port=${port%%/*}
}

stop() {
        kill -INT "$pid" && wait "$pid"
}

browser_is_started() {
        for _ in $(seq 1200); do
                [ ! -e "$folder/opened" ] || return 0
                sleep 0.05
        done
        return 1
}

# ---- the browser
start DISPLAY=:9 "$folder/hyprof" view "$trace"
holds 'with a display the browser is started' browser_is_started
page=$(sed -n 2p "$folder/opened")
holds 'it is given a file, not the address with its token' same "$folder/run" "${page%/hyprof-view-*.html}"
holds 'that leads to the address' grep -qF "$url" "$folder/opened"
holds 'and that no other user can read' same 600 "$(sed -n 3p "$folder/opened")"
holds 'Ctrl-C is the ordinary end' stop
holds 'and removes the file' test ! -e "$page"
rm -f "$folder/opened"
start DISPLAY=:9 "$folder/hyprof" view --no-open "$trace"
holds '--no-open starts none' same '' "$(ls "$folder/run")"
stop

# ---- over ssh
ssh_line() { # port of the ssh server
        start -u DISPLAY -u WAYLAND_DISPLAY USER=ann SSH_CONNECTION="192.0.2.1 50000 192.0.2.7 $1" "$folder/hyprof" view "$trace"
        stop
        line=$(sed -n 's/.*: *\(ssh .*\)/\1/p' "$folder/view.out")
}
ssh_line 22
holds 'over ssh the line to paste is printed' same "ssh -N -L $port:127.0.0.1:$port ann@192.0.2.7" "$line"
ssh_line 2222
holds 'with the port of the ssh server' same "ssh -N -L $port:127.0.0.1:$port -p 2222 ann@192.0.2.7" "$line"
holds 'and no browser is started without a display' test ! -e "$folder/opened"

# ---- the answers, with filters, are the commands'
trace=$folder/many.hyp
"$BUILD/tools/made_trace" many "$trace" 20000 2000
start "$folder/hyprof" view --no-open "$trace"
answers_like() { # parameters, command with its options...
        [ "$(curl -s -o "$folder/page.json" -w '%{http_code}' "${url}answer?$1")" = 200 ] || { cat "$folder/page.json" && echo && return 1; }
        "$HYPROF" "${@:2}" --json --whole -i "$trace" >"$folder/cli.json" && cmp "$folder/cli.json" "$folder/page.json"
}
half=$(($("$HYPROF" report --json --whole -i "$trace" | jq '.duration_ns') / 2))
holds 'zones of a range of time' answers_like "question=zones&from=0&to=$half" report --zones --from 0 --to "${half}ns"
holds 'functions of one thread' answers_like "question=functions&thread=t1" report --functions --thread t1
holds 'functions within a zone' answers_like 'question=functions&zone=z1' report --functions --zone z1
holds 'a zone in a part of its histogram' answers_like "question=zone&zone=z1&longer_than=1000" report --zone z1 --longer-than 1us
holds 'why, of a range' answers_like "question=why&zone=z1&from=0&to=$half" why --zone z1 --from 0 --to "${half}ns"
stop
start "$folder/hyprof" view --no-open --before "$trace" --after "$trace"
holds 'a comparison of one zone' sh -c "curl -s '${url}answer?question=diff&zone=z1' >'$folder/page.json' &&
        '$HYPROF' diff --json --whole --zone z1 '$trace' '$trace' >'$folder/cli.json'; cmp '$folder/cli.json' '$folder/page.json'"
stop

# ---- under sudo
if [ "$(id -u)" -ne 0 ]; then
        skips_group 'who it runs as under sudo' 'not root'
        exit 0
fi
chown -R 65534:65534 "$folder"
chmod 755 "$folder"
start SUDO_UID=65534 SUDO_GID=65534 DISPLAY=:9 "$folder/hyprof" view "$trace"
uids=$(for one in "$pid" $(pgrep -P "$pid"); do awk '$1 == "Uid:" { print $2, $3, $4 }' "/proc/$one/status"; done | sort -u)
holds 'under sudo all its processes are of the user who called it' same '65534 65534 65534' "$uids"
browser_is_started
holds 'so is the browser' same 65534 "$(head -n 1 "$folder/opened")"
stop
holds 'and the index is kept as that user' same '65534' "$(stat -c %u "$folder"/cache/hyprof/timeline/*.timeline | sort -u)"
