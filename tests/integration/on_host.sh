#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof record --on: the program runs there as it would here and its trace is here, whatever is cut or missing; nothing stays there but hyprof
set -eu
. tests/tap.sh
. tests/sshd.sh
plan 66
need setpriv pgrep tar gcc jq
need_sampling

TMPDIR=$(realpath "$TMPDIR")
# A copy: beside the build's own there may be files for other machines.
mkdir "$TMPDIR/bin"
cp "$HYPROF" "$TMPDIR/bin/hyprof"
hyprof=$TMPDIR/bin/hyprof
here=$TMPDIR/here there=$TMPDIR/there machine=$(uname -m)
boards=$TMPDIR/cache/boards/$("$hyprof" --version | sed -n '1s/hyprof \([^ ]*\).*/\1/p')
export HYPROF_CACHE_DIR=$TMPDIR/cache
mkdir -p "$here" "$there" "$TMPDIR/stubs" "$boards"
# The host is this machine, so a hyprof that needs its libraries will do.
cp "$hyprof" "$boards/hyprof-$machine"
# All that the host keeps.  Another recording of this user must not look like a rest of this test.
own_folder=/dev/shm/hyprof-$(id -u)
n_before=$(find "$own_folder" -maxdepth 1 -name 'run-*' 2>/dev/null | wc -l)
cleanup() {
        local pid
        for pid in "${processes[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
}
trap cleanup EXIT

# An ssh that runs the words after the host here, with other programs where a test has some, and can be cut.
cat >"$TMPDIR/run" <<END
[ ! -e "$TMPDIR/down" ] || exit 255
echo "\$*" >>"$TMPDIR/commands"
echo \$\$ >>"$TMPDIR/pids"
export PATH="$TMPDIR/stubs:\$PATH" TMPDIR="$there" HOME="$there"
unset XDG_RUNTIME_DIR
cd "$there" && exec sh -c "\$*"
END
cat >"$TMPDIR/ssh" <<END
#!/bin/sh
case "\$*" in *' -O exit '*) exit 0 ;; esac
while [ "\$1" != board ]; do shift; done
shift
. "$TMPDIR/run"
END
cat >"$TMPDIR/adb" <<END
#!/bin/sh
[ "\$1 \$2 \$3 \$4" = "-s SERIAL shell -T" ] || exit 9
shift 4
. "$TMPDIR/run"
END
chmod +x "$TMPDIR/ssh" "$TMPDIR/adb"
export HYPROF_SSH=$TMPDIR/ssh HYPROF_ADB=$TMPDIR/adb

stub() { # name, body: a program of the host
        printf '#!/bin/sh\n%s\n' "$2" >"$TMPDIR/stubs/$1"
        chmod +x "$TMPDIR/stubs/$1"
}
on_host() { # options...: from the folder "here"
        (cd "$here" && exec "$hyprof" record --on "${host:-board}" "$@") >"$TMPDIR/out" 2>"$TMPDIR/err" <"${input:-/dev/null}"
}
ends() { # status, words of standard error, options...
        local status=0
        on_host "${@:3}" || status=$?
        same "$1" "$status" && { [ -z "$2" ] || grep -q -- "$2" "$TMPDIR/err"; } && return
        cat "$TMPDIR/err"
        return 1
}
n_left() { # folders of recordings, and whatever else is there
        echo "$(($(find "$own_folder" -maxdepth 1 -name 'run-*' 2>/dev/null | wc -l) - n_before)) $(find "$there" -mindepth 1)"
}
left_nothing() { same "0 " "$(n_left)"; }
is_clean() { wait_until "all is removed there" left_nothing; }

# ---- as here
cat >"$here/app" <<'END'
#!/bin/sh
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); done
cat
echo "to the other stream" >&2
exit "$1"
END
chmod +x "$here/app"
printf 'one\ntwo\n' >"$TMPDIR/input"
for status in 0 7; do
        : >"$TMPDIR/commands"
        input=$TMPDIR/input holds "the program's status, $status" ends "$status" 'wrote hyprof.hyp' -F 997 -- ./app "$status"
        holds "status $status: its input and output" cmp "$TMPDIR/input" "$TMPDIR/out"
        holds "status $status: its other output" grep -qx 'to the other stream' "$TMPDIR/err"
        holds "status $status: the trace is intact" "$hyprof" check "$here/hyprof.hyp"
        holds "status $status: nothing else is left there" is_clean
done
holds "hyprof is sent once" same 0 "$(grep -c 'cat >' "$TMPDIR/commands")"
holds "an earlier trace is kept" "$hyprof" check "$here/hyprof.hyp.old"
holds "nothing is left here" same "" "$(find "$TMPDIR" -maxdepth 1 -name 'hyprof-on-*')"
holds "-q" ends 7 '' -q -- ./app 7
holds "-q: the program's words alone" same "to the other stream" "$(cat "$TMPDIR/err")"

# ---- names of any kind
odd=$'a "b\'c$(touch odd)`touch odd`;\n-n \\'
cat >"$here/$odd" <<'END'
#!/bin/sh
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); done
printf '%s|' "$@" "$(cat "./-C/$1")"
END
chmod +x "$here/$odd"
mkdir "$here/-C"
printf 'sent' >"$here/-C/$odd"
# shellcheck disable=SC2016 # as they are
holds "names of any kind" ends 0 '' -o odd.hyp --deploy=-C -- "./$odd" "$odd" '*' '' '$HOME'
# shellcheck disable=SC2016
holds "names of any kind: as they are" same "$odd|*||"'$HOME|sent|' "$(cat "$TMPDIR/out")"
holds "names of any kind: they run nothing" same "" "$(find "$there" "$here" -name odd)"
# shellcheck disable=SC2016
holds "a program of the host" ends 0 '' -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; pwd'
holds "a program of the host: where the login is" same "$there" "$(cat "$TMPDIR/out")"
holds "two files of one name" ends 125 'two files to send are called app' --deploy "$here/app" -- ./app 0
holds "a file that is not here" ends 125 'nosuch: No such file' --deploy nosuch -- ./app 0
holds "a program that is nowhere" ends 127 'nosuch' -- nosuch
holds "a program that is nowhere: nothing is left there" is_clean

# ---- names of functions from files here
cat >"$TMPDIR/spin.c" <<'END'
#include <time.h>
__attribute__((noinline)) static long spin_inner(long n)
{
        volatile long s = 0;
        for (long i = 0; i < n; i++)
                s += i;
        return s;
}
int main(void)
{
        struct timespec now;
        do {
                (void)spin_inner(100000);
                (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        } while (now.tv_sec == 0 && now.tv_nsec < 200000000);
        return 0;
}
END
mkdir "$TMPDIR/debug"
gcc -O1 -g -Wl,--build-id=sha1 -o "$TMPDIR/debug/spin" "$TMPDIR/spin.c"
objcopy --strip-all "$TMPDIR/debug/spin" "$here/spin"
n_named() { "$hyprof" export folded -q -o - "$here/$1" | grep -c ';spin_inner '; }
holds "a stripped program" ends 0 '' -o stripped.hyp -- ./spin
holds "a stripped program has no names" same 0 "$(n_named stripped.hyp)"
holds "--debug-dir" ends 0 '' -o named.hyp --debug-dir "$TMPDIR/debug" -- ./spin
holds "--debug-dir: its names are found here" compare "$(n_named named.hyp)" ">" 0

# ---- what cannot be
HYPROF_SSH=false holds "no answer" ends 125 '^hyprof: error: board does not answer$' -- ./app 0
stub uname 'echo riscv64'
holds "no hyprof for that machine" ends 125 'there is no hyprof for riscv64 here' -- ./app 0
holds "no hyprof for that machine: how to make it" grep -q 'try: make board TARGET=riscv64' "$TMPDIR/err"
cp "$hyprof" "$boards/hyprof-riscv64"
holds "a hyprof for another machine" ends 125 "hyprof-riscv64 is for $machine" -- ./app 0
stub uname 'echo mips'
holds "a machine that hyprof does not know" ends 125 'does not run on machines of mips' -- ./app 0
rm "$TMPDIR/stubs/uname"
cp /bin/true "$here/foreign"
foreign=riscv64
if [ "$machine" = riscv64 ]; then foreign=aarch64; fi
if [ "$foreign" = riscv64 ]; then number='\xf3\x00'; else number='\xb7\x00'; fi
printf '%b' "$number" | dd of="$here/foreign" bs=1 seek=18 conv=notrunc status=none
holds "a program for another machine" ends 126 "./foreign is for $foreign, and board is $machine" -- ./foreign
# Another content: it is sent again.
cp "$boards/hyprof-$machine" "$TMPDIR/real"
echo >>"$boards/hyprof-$machine"
stub cat 'echo "cat: write error: No space left on device" >&2; exit 1'
holds "no room" ends 125 'cannot send hyprof' -- ./app 0
# shellcheck disable=SC2016 # the stub expands it
stub cat 'case $(readlink /proc/$$/fd/1) in /dev/shm/*) exit 1 ;; esac; exec /bin/cat "$@"'
holds "no room in memory" ends 7 '' -- ./app 7
holds "no room in memory: it is elsewhere" same 1 "$(find "$there"/hyprof-* -name 'hyprof-*' -type f | wc -l)"
rm -rf "$TMPDIR/stubs/cat" "$there"/hyprof-*
stub wc 'echo 1'
holds "a part of hyprof that arrives" ends 125 'cannot send hyprof' -- ./app 0
rm "$TMPDIR/stubs/wc"
printf '#!/bin/sh\necho hyprof 0.0.9\n' >"$boards/hyprof-$machine"
holds "a hyprof that is none" ends 125 "hyprof-$machine is for no machine" -- ./app 0
mv "$TMPDIR/real" "$boards/hyprof-$machine"
stub sudo 'echo "sudo: a password is required" >&2; exit 1'
holds "sudo wants a password" ends 125 'was not started by sudo -n' --sudo -- ./app 0
# shellcheck disable=SC2016 # the stub expands it
stub sudo '[ "$1" = -n ] && shift && SUDO_UID=$(id -u) SUDO_GID=$(id -g) SUDO_USER=$(id -un) exec "$@"'
holds "--sudo" ends 7 '' --sudo -- ./app 7
rm "$TMPDIR/stubs/sudo"
holds "what cannot be: nothing is left there" is_clean
holds "--deploy alone" ends_with 2 "$hyprof" record --deploy "$here/app" -- true
holds "a pipe" ends 2 'so that it can go on after a cut' -o - -- ./app 0
holds "an option in place of a host" ends_with 2 "$hyprof" record --on=-oProxyCommand=x -- true

# ---- adb
host=adb:SERIAL holds "adb: by its serial number" ends 7 '' -o adb.hyp -- ./app 7
holds "adb: the trace is intact" "$hyprof" check "$here/adb.hyp"

# ---- a program that counts until it is told to end
cat >"$here/long" <<END
#!/bin/sh
i=0
while [ ! -e "$TMPDIR/enough" ]; do
        i=\$((i + 1))
        [ \$((i % 1000)) -ne 0 ] || echo \$((i / 1000))
done
exit 7
END
chmod +x "$here/long"
begin() { # name
        rm -f "$TMPDIR/enough"
        : >"$TMPDIR/pids"
        : >"$TMPDIR/out"
        (cd "$here" && exec "${bound[@]}" "$hyprof" record --on "${host:-board}" -o "$1.hyp" -- ./long) \
                >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null &
        recorder=$!
        processes+=("$recorder")
        wait_until "it runs" test -s "$TMPDIR/out" && wait_until "its trace comes" test -s "$here/$1.hyp"
}
ended() { # status
        local status=0
        wait "$recorder" || status=$?
        same "$1" "$status" || { cat "$TMPDIR/err" && return 1; }
}
n_lines() { wc -l <"$TMPDIR/out"; }
n_bytes() { stat -c %s "$here/$1.hyp"; }
has_lines() { [ "$(n_lines)" -gt "$1" ]; }
has_bytes() { [ "$(n_bytes "$1")" -gt "$2" ]; } # name, number
has_said() { [ "$(grep -c "$1" "$TMPDIR/err")" -ge "$2" ]; }
prints_each_once() { [ "$(n_lines)" -gt 10 ] && seq "$(n_lines)" | cmp - "$TMPDIR/out"; }

begin interrupted
kill -INT "$recorder"
holds "Ctrl-C: the program ends by it" ended 130
holds "Ctrl-C: the trace is whole" "$hyprof" check "$here/interrupted.hyp"
holds "Ctrl-C: nothing is left there" is_clean

begin cut
for round in 1 2; do
        touch "$TMPDIR/down"
        while read -r pid; do # one that ended has no command line
                ! tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -q __host || kill -KILL "$pid"
        done <"$TMPDIR/pids"
        wait_until "the cut is seen" has_said 'is cut' "$round"
        size=$(n_bytes cut)
        rm "$TMPDIR/down"
        holds "cut $round: it is connected again" wait_until "it says so" has_said 'connected again' "$round"
        holds "cut $round: more of the output comes" wait_until "it does" has_lines "$(($(n_lines) + 5))"
        holds "cut $round: and of the trace" wait_until "it does" has_bytes cut "$size"
done
touch "$TMPDIR/enough"
holds "cut: the program's status" ended 7
holds "cut: each line was printed once" prints_each_once
holds "cut: the trace is whole" "$hyprof" check "$here/cut.hyp"
holds "cut: nothing was dropped" same "" "$("$hyprof" report --json "$here/cut.hyp" |
        jq -r '.missing.rows[] | select(.code == "NOT_TAKEN" or .code == "TAKEN_BEFORE") | .code')"
holds "cut: nothing is left there" is_clean

# ---- sshd
if ! reach_sshd; then
        skips_group "ssh" "sshd: $(tail -n 1 "$TMPDIR/why")"
else
        export HYPROF_SSH="ssh ${ssh_options[*]} -p $port"
        host=127.0.0.1
        ssh_processes() { pgrep -f -- "^ssh.*$TMPDIR/user_key"; }
        begin real
        # All connections end: they share one.
        ssh_processes | xargs -r kill -KILL
        holds "sshd: it is connected again after a cut" wait_until "it says so" has_said 'connected again' 1
        wait_until "it goes on" has_lines "$(($(n_lines) + 5))"
        touch "$TMPDIR/enough"
        holds "sshd: the program's status" ended 7
        holds "sshd: each line was printed once" prints_each_once
        holds "sshd: the trace is whole" "$hyprof" check "$here/real.hyp"
        no_ssh() { ! ssh_processes; }
        holds "sshd: no connection is left" wait_until "they have ended" no_ssh
fi
