#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import: files are read by a process without rights, which writes only to what was open; if it dies, there is no trace
set -u
. tests/tap.sh
plan 11
need python3

folder=$(mktemp -d /tmp/hyprof-import.XXXXXX) # the test's own is closed to other users
chmod 755 "$folder"
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/pipe" && chmod 666 "$folder/pipe"
exec 8<>"$folder/pipe"

# Starts an import that waits in the middle of its file: sets `parent` and `child`.
start() { # command...
        local children=()
        printf 'name,process,thread,begin,duration,text\n' >&8
        "$@" import "$folder/pipe" --force -o "$folder/out.hyp" 2>"$TMPDIR/err" 8>&- &
        parent=$!
        for ((i = 0; i < 600; i++)); do
                read -r -a children 2>/dev/null <"/proc/$parent/task/$parent/children" || true # no newline
                child=${children[0]:-}
                # Its files are known when it has the pipe open.
                [ -n "$child" ] && find "/proc/$child/fd" -lname "$folder/pipe" 2>/dev/null | grep -q . && return 0
                read -r -t 0.05 <> <(:) || true
        done
        return 1
}
status_of() { awk -v row="$2:" '$1 == row { print $2 }' "/proc/$1/status"; }
ended() { # status
        local r=0
        wait "$parent" || r=$?
        same "$1" "$r"
}

holds "the files are read by another process" start "$HYPROF"
holds "without rights, and none to gain" same "0000000000000000 0000000000000000 1" \
        "$(status_of "$child" CapEff) $(status_of "$child" CapPrm) $(status_of "$child" NoNewPrivs)"
holds "with a bound on its memory" grep -Eq '^Max data size +[0-9]' "/proc/$child/limits"
kill -KILL "$child"
holds "it dies: status 1" ended 1
holds "which is said" grep -q 'died of signal 9' "$TMPDIR/err"
holds "and there is no trace" test ! -e "$folder/out.hyp"

# The folder for what waits on the disk comes to be when the process is confined already: it may make no file there.
has_landlock() { # landlock_create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION)
        python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) < 1)'
}
if has_landlock; then
        start env TMPDIR="$folder/later" "$HYPROF"
        mkdir -m 777 "$folder/later"
        # More text than stays in memory: a megabyte.
        awk 'BEGIN { text = sprintf("%01000d", 0); for (i = 0; i < 3000; i++) printf "work,1,1,%d,10,%d%s\n", 1000 + i, i, text }' >&8 &
        writer=$!
        exec 8>&- # the file ends where the writer does
        holds "it may make no file: status 1" ended 1
        kill "$writer" 2>"$TMPDIR/kill.err"
        wait "$writer" 2>"$TMPDIR/kill.err"
        holds "which is said" grep -q 'a temporary file in .*later: Permission denied' "$TMPDIR/err"
        exec 8<>"$folder/pipe" # without what was left in it
else
        skips_group "it may make no file" "hardware: this kernel has no Landlock"
fi

if [ "$(id -u)" -ne 0 ]; then
        for name in "under sudo: as the user" "the trace is made" "it is the user's"; do skips "$name" "not root"; done
        exit 0
fi
chown 65534 "$folder" "$folder/pipe"
start env SUDO_UID=65534 SUDO_GID=65534 "$HYPROF"
holds "under sudo: as the user" same 65534 "$(status_of "$child" Uid)"
printf 'work,1,1,1000,10\n' >&8
exec 8>&-
holds "the trace is made" ended 0
holds "it is the user's" same 65534 "$(stat -c %u "$folder/out.hyp")"
