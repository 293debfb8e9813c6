#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Commands that read traces give up rights before the first byte: no programs, sockets or new rights, no files but the result
set -u
. tests/tap.sh
plan 54
need jq
need_sampling

# Temporary files may be made below /tmp, so the place where nothing may be made is elsewhere.
folder=$(mktemp -d /var/lib/hyprof-readers.XXXXXX 2>/dev/null || mktemp -d "$HOME/hyprof-readers.XXXXXX") || exit 1
chmod 755 "$folder"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/work" "$folder/results" "$folder/outside" "$folder/cache"
HYPROF=$(realpath "$HYPROF")
escape=$(realpath "$BUILD/tools/try_escape.so")
cd "$folder/work" || exit 1
export HYPROF_CACHE_DIR=$folder/cache
"$HYPROF" record -q -o a.hyp -- true
"$HYPROF" record -q --embed=all -o b.hyp -- "$WORKLOADS/w_split" 1
landlock=0
! dmesg 2>/dev/null | grep -q 'landlock: Up and running' || landlock=1
[ ! -r /sys/kernel/security/lsm ] || { landlock=0 && ! grep -q landlock /sys/kernel/security/lsm || landlock=1; }
file_outcome=EACCES
[ $landlock = 1 ] || file_outcome=worked

# ---- each of them, at its end
escapes() { # what it may do, command...
        ESCAPE_FOLDER=$folder/outside LD_PRELOAD=$escape "${@:2}" >"$TMPDIR/out" 2>"$TMPDIR/err"
        same "escape: $1" "$(grep -a '^escape:' "$TMPDIR/err" | sort -u)"
}
nothing="program EPERM, socket EPERM, local socket EPERM, file $file_outcome, memory EPERM, terminal EPERM"
while read -r words; do
        read -r -a command <<<"$words"
        holds "$words: nothing but its result" escapes "$nothing" "$HYPROF" "${command[@]}"
done <<'END'
report a.hyp
report --json b.hyp
report --zones b.hyp
path --zone seventy b.hyp
why --zone seventy b.hyp
diff a.hyp b.hyp
annotate b.hyp seventy
modules a.hyp
dump a.hyp
dump --extract ../results/attachments a.hyp
check a.hyp
csv b.hyp
export csv b.hyp -o ../results/b.csv
export firefox a.hyp -o ../results/a.json.gz
export chrome b.hyp
export perfetto a.hyp -o -
export perf-data a.hyp -o ../results/a.data
export sqlite a.hyp -o ../results/a.db
query b.hyp --sqlite ../results/b.db
html a.hyp -o ../results/a.html
merge a.hyp b.hyp -o ../results/m.hyp
symbolize a.hyp
symbolize a.hyp -o ../results/s.hyp
modules --extract b.hyp w_split -o ../results/w_split
END
holds "nothing was made outside" same "" "$(ls "$folder/outside")"
holds "the results are all there" same 10 "$(find ../results -mindepth 1 -maxdepth 1 | wc -l)"
ln -s "$folder/results/linked.json.gz" link.json.gz
"$HYPROF" export -q firefox a.hyp -o "$folder/results/linked.json.gz"
holds "a result that a link leads to is replaced there" escapes "$nothing" "$HYPROF" export --force firefox a.hyp -o link.json.gz
holds "the link is as it was" test -L link.json.gz
holds "a result that is a device" ends_with 0 "$HYPROF" export --force chrome a.hyp -o /dev/null
holds "standard output by its name" grep -q traceEvents <<<"$("$HYPROF" export -q chrome a.hyp -o /dev/stdout | cat)"
head -c 2000 a.hyp >cut.hyp
holds "check does not repair: the folder is closed" escapes "$nothing" "$HYPROF" check cut.hyp
ESCAPE_FOLDER=$folder/work LD_PRELOAD=$escape "$HYPROF" check a.hyp >"$TMPDIR/out" 2>"$TMPDIR/err"
holds "also to a command that only prints" same "escape: $nothing" "$(grep '^escape:' "$TMPDIR/err")"
holds "check --repair: it is repaired" ends_with 0 "$HYPROF" check --repair cut.hyp
holds "and kept" test -e cut.hyp.unrepaired
holds "symbolize makes its cache" test -d "$folder/cache"
DEBUGINFOD_URLS=http://127.0.0.1:9 ESCAPE_FOLDER=$folder/outside LD_PRELOAD=$escape "$HYPROF" symbolize a.hyp >"$TMPDIR/out" 2>"$TMPDIR/err"
holds "with debuginfod: sockets to other machines, and nothing else" same "escape: program EPERM, socket worked, local socket EPERM, file $file_outcome, memory EPERM, terminal EPERM" "$(grep '^escape:' "$TMPDIR/err")"
holds "top: nothing" escapes "$nothing" "$HYPROF" top --json a.hyp
"$HYPROF" record -q --listen ./socket --no-wait --linger 60s -- true >"$TMPDIR/listen" 2>&1 &
recorder=$!
wait_until "the recorder listens" test -S socket
holds "capture, when it finds names: nothing" escapes "$nothing" "$HYPROF" capture -q ./socket -o c.hyp
wait "$recorder"
holds "nothing was made outside by these" same "" "$(ls "$folder/outside")"

# ---- before the first byte: a trace that does not come yet
mkfifo pipe.hyp
exec 8<>pipe.hyp
status_of() { awk -v row="$2:" '$1 == row { print $2 }' "/proc/$1/status"; }
# The shell that becomes the command has the pipe for a moment, too.
waits_in_pipe() { [ "$(readlink "/proc/$1/exe")" = "$HYPROF" ] && find "/proc/$1/fd" -lname "*/pipe.hyp" 2>/dev/null | grep -q .; }
start() { # command...: sets `reader`
        "$@" >"$TMPDIR/reader.out" 2>&1 8>&- &
        reader=$!
        wait_until "$* reads" waits_in_pipe "$reader"
}
stop() { kill -KILL "$reader" && ! wait "$reader" 2>"$TMPDIR/kill.err"; }
rights() { echo "$(status_of "$reader" NoNewPrivs) $(status_of "$reader" Seccomp) $(status_of "$reader" CapPrm) $(status_of "$reader" CapBnd)"; }
bounding=0000000000000000 kept=000000040000001f # CHOWN, DAC_*, FOWNER, FSETID, SYSLOG
if [ "$(id -u)" -ne 0 ]; then
        bounding=$(awk '$1 == "CapBnd:" { print $2 }' /proc/self/status)
        kept=0000000000000000
fi
while read -r words; do
        read -r -a command <<<"$words"
        start "$HYPROF" "${command[@]}"
        holds "$words: confined before the first byte" same "1 2 $kept $bounding" "$(rights)"
        stop
done <<'END'
report pipe.hyp
path --zone zone pipe.hyp
why --zone zone pipe.hyp
diff pipe.hyp a.hyp
annotate pipe.hyp main
modules pipe.hyp
dump pipe.hyp
check pipe.hyp
csv pipe.hyp
export firefox pipe.hyp -o ../results/pipe.json.gz
query pipe.hyp --sqlite ../results/pipe.db
merge pipe.hyp a.hyp -o ../results/pipe.hyp
symbolize pipe.hyp -o ../results/pipe2.hyp
top pipe.hyp
END
if [ "$(id -u)" -eq 0 ]; then
        chmod 666 pipe.hyp
        start env SUDO_UID=65534 SUDO_GID=65534 "$HYPROF" report pipe.hyp
        holds "under sudo: nothing stays" same "1 2 0000000000000000 0000000000000000 65534" "$(rights) $(status_of "$reader" Uid)"
        stop
else
        skips "under sudo: nothing stays" "not root"
fi
