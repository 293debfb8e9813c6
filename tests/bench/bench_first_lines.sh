#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The first line of `hyprof report` for programs that wait or call the kernel too often, beside the call that has most of the
# time by `strace -f -c -w`.  Each is recorded with and without --off-cpu.
#
# Programs that are not installed are left out: of the packages sqlite3, redis-server, postgresql, zstd, curl, tesseract-ocr,
# nginx-light and git.  By the environment: FIRST_LINES (names of cases).  Exit status: 0 = with --off-cpu all but one name the
# call that is expected, 1 = they do not.
set -u
hyprof=$(realpath "${1:-build/release}/hyprof")
picture=$(realpath "$(find docs -name '*.png' | head -n 1)")
folder=$(mktemp -d)
chmod 755 "$folder"
server=
trap 'kill $server 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 2
PATH=$PATH:/usr/sbin:$(echo /usr/lib/postgresql/*/bin)
for ((i = 0; i < 2000; i++)); do echo "some text of file $i"; done >lines
mkdir small && (cd small && split -l 1 -a 4 ../lines)

# Does what follows "100 Continue" only after a second, as a server that does not know "Expect".
cat >slow.py <<'END'
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    data = b""
    while len(data) < 2_000_000 and (piece := connection.recv(65536)):
        data += piece
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    connection.close()
END

# The call that the first line has to name; what is to be recorded is left in ./run.
prepare() { # name
        local calls=$1 run
        case $1 in
        sqlite)
                calls=fdatasync run='rm -f x.db; exec sqlite3 x.db <inserts'
                { echo 'CREATE TABLE t(a);' && sed 's/.*/INSERT INTO t VALUES("&");/' lines; } >inserts ;;
        redis)
                calls=fdatasync run='redis-server --port 0 --unixsocket s --appendonly yes --appendfsync always --save "" >redis.log &
while ! redis-cli -s s ping; do :; done >pings 2>&1; sed "s/.*/SET k\"&\" v/" lines | head -n 300 | redis-cli -s s; redis-cli -s s shutdown nosave; wait' ;;
        postgres)
                calls=fdatasync run='exec setpriv --reuid=nobody --clear-groups postgres --single -D data postgres <rows'
                mkdir data && chown nobody data && setpriv --reuid=nobody --clear-groups initdb -D data || return
                { echo 'CREATE TABLE t(a int)' && seq -f 'INSERT INTO t VALUES(%g)' 500; } >rows ;;
        zstd) calls=open run='exec zstd -q -f --no-check -r small' ;;
        curl)
                calls=poll
                head -c 2000000 /dev/zero >body
                [ -n "$server" ] || { exec {port}< <(exec python3 slow.py) && server=$! && read -r number <&"$port"; }
                run="exec curl -s --data-binary @body http://127.0.0.1:$number/" ;;
        tesseract) calls=futex run="exec env OMP_NUM_THREADS=4 tesseract '$picture' out" ;;
        tar) calls='write|read' run='exec tar -b1 -cf x.tar numbers' && seq 3000000 >numbers ;;
        make)
                calls='wait|nanosleep' run='exec make -s -f sleeps' && printf 'all: a b c\na b c:\n\tsleep 0.3\n' >sleeps ;;
        nginx)
                calls='writev|write|sendfile' run="nginx -p '$folder' -c nginx.conf -g 'daemon off;' & i=0
while ! curl -s -o page http://127.0.0.1:8093/numbers; do :; done; while [ \$i -lt 5 ]; do curl -s -o page http://127.0.0.1:8093/numbers; i=\$((i + 1)); done; kill \$!; wait"
                seq 300000 >numbers
                printf 'pid nginx.pid; error_log e.log; events {}\nhttp { access_log off; server { listen 127.0.0.1:8093; root %s; output_buffers 1 64; sendfile off; } }\n' "$folder" >nginx.conf ;;
        git)
                calls='fsync|open' run='rm -f r/.git/index; exec git -C r -c core.fsync=all add .'
                git init -q r && cp -r small r ;;
        esac
        printf '#!/bin/sh\n%s\n' "$run" >run && chmod +x run
        expected=$calls
}

needs() { case $1 in sqlite) echo sqlite3 ;; redis) echo redis-cli ;; *) echo "$1" ;; esac; }
n_cases=0 n_right=0
for name in ${FIRST_LINES-sqlite redis postgres zstd curl tesseract tar make nginx git}; do
        if ! command -v "$(needs "$name")" >/dev/null; then
                echo "$name: $(needs "$name") is not installed"
                continue
        fi
        prepare "$name" >"$name.log" 2>&1 || { echo "$name: could not be prepared" && cat "$name.log" && continue; }
        n_cases=$((n_cases + 1))
        "$hyprof" record -q --off-cpu -o off.hyp -- ./run >/dev/null 2>&1
        "$hyprof" record -q -o on.hyp -- ./run >/dev/null 2>&1
        strace -f -c -w -o calls ./run >/dev/null 2>&1
        first=$("$hyprof" report --json --limit 0 off.hyp | jq -r .answer)
        verdict=no
        grep -qE "in ($expected)" <<<"$first" && verdict=yes && n_right=$((n_right + 1))
        printf '%s: expected %s: %s\n  --off-cpu: %s\n  without:   %s\n  strace:    %s\n' "$name" "$expected" $verdict "$first" \
                "$("$hyprof" report --json --limit 0 on.hyp | jq -r .answer)" "$(awk 'NR > 2 && NR < 6 { print $NF, $1 "%", $4 " calls" }' calls | paste -sd ';')"
done
echo "$n_right of $n_cases first lines name the expected call"
[ $n_cases -gt 0 ] && [ $n_right -ge $((n_cases - 1)) ]
