#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program with the client makes the system calls that it makes alone and those that client-abi.md lists, no more: twenty
# programs, by strace, with and without a recorder
set -eu
. tests/tap.sh
plan 4
need strace gcc

client=$BUILD/libhyprof.so
gcc -shared -x c /dev/null -o "$TMPDIR/empty.so"
seq 3000 >"$TMPDIR/numbers"
cd "$TMPDIR"
cat >programs <<'END'
true
cat numbers
wc numbers
head -n 3 numbers
tail -n 3 numbers
tr 1 2 <numbers
cut -c 1 numbers
uniq numbers
od numbers
sha256sum numbers
base64 numbers
sed s/1/2/ numbers
fold numbers
mawk "{ n += \$1 } END { print n }" numbers
gzip -c numbers
bzip2 -c numbers
diff numbers numbers
nl numbers
ls
date +%Y
readelf -h /bin/true
nm -D /bin/true
perl -e "print 1"
bash -c "echo \$((1 + 1))"
END

# Calls of each kind, "NAME COUNT", once the loader has mapped the libraries, whose calls depend on their layout.  The allocator
# asks for its first memory (brk, getrandom) in the client where the program allocates nothing before.  Reads of one file after
# each other count once: how many /proc/self/maps takes depends on the lengths of its lines.
calls() { # command
        eval "strace -f -qq -o strace.out -E LD_PRELOAD='$1' $2" >/dev/null 2>&1 || true
        awk '{ name = $2; sub(/\(.*/, "", name) }
                name == "execve" { is_loaded[$1] = 0 }
                { call = $2; sub(/,.*/, "", call); is_more = name == "read" && call == last[$1]; last[$1] = call }
                is_more { next }
                is_loaded[$1] && name !~ /^([+<-]|brk$|getrandom$)/ { n[name]++ }
                name == "set_tid_address" { is_loaded[$1] = 1 }
                END { for (name in n) print name, n[name] }' strace.out | sort
}

# The difference of two lists: "NAME COUNT", where the second one has less "NAME -COUNT".
more_calls() { awk 'NR == FNR { n[$1] -= $2; next } { n[$1] += $2 } END { for (name in n) if (n[name]) print name, n[name] }' "$1" "$2" | sort; }

# The list of client-abi.md, as a program makes them at its start.
sort >listed_alone <<'END'
close 2
fcntl 1
ftruncate 1
getpid 1
madvise 1
memfd_create 1
mmap 3
mprotect 1
munmap 1
newfstatat 1
openat 2
prlimit64 2
pwrite64 1
read 2
readlink 2
END
{ grep -vE '^(close|mmap|munmap) ' listed_alone && printf '%s\n' 'close 3' 'mmap 2' 'connect 1' 'geteuid 1' 'getsockopt 1' 'sendmsg 1' 'socket 1'; } | sort >listed_recorded

compare_all() { # alone or recorded
        local program n=0 n_varied=0
        while read -r program <&3; do
                calls "$TMPDIR/empty.so" "$program" >bare
                calls "$TMPDIR/empty.so" "$program" >again
                cmp -s bare again || { n_varied=$((n_varied + 1)) && continue; }
                calls "$client" "$program" >with
                more_calls bare with >extra
                n=$((n + 1))
                cmp -s "listed_$1" extra || { echo "$program:" && ! diff "listed_$1" extra; } >>"differ_$1"
        done 3<programs
        echo "$n $n_varied" >"n_$1"
}
differ() { [ ! -s "differ_$1" ] || { head -n 40 "differ_$1" && return 1; }; }

compare_all alone
figure "$(cat n_alone) programs compared, and varied by themselves"
holds "without a recorder: the listed calls" differ alone
holds "of twenty programs" compare "$(cut -d ' ' -f 1 n_alone)" ">=" 20
if ! "$HYPROF" doctor >doctor.out 2>&1; then
        skips_group "with one" "perf_event_open: $(grep -m 1 "^ *no " doctor.out)"
        exit 0
fi
export -f compare_all calls more_calls
export TMPDIR client
"$HYPROF" record -q -o recorded.hyp -- bash -c 'compare_all recorded' >/dev/null 2>record.err
holds "with one: the listed calls" differ recorded
holds "of twenty programs as well" compare "$(cut -d ' ' -f 1 n_recorded)" ">=" 20
