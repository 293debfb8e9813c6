#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 200 programs of this machine and 1,000 races of threads and mappings, with all events and call stacks, as they are and
# with AddressSanitizer: none crashes, none differs from its bare run in output and status.  `make soak-client`: an hour
# at most on two busy processors.  `make nightly` takes fewer programs.
#
# Each program is made an instrumented one by a library that is preloaded (tests/preload/client_events.c).  A program that
# differs between two bare runs of its own is left out.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$PWD/${1:-build/release}
wanted=${2:-200}
hyprof=$build/hyprof
events="--zones=callstacks --messages=callstacks --memory=callstacks --devices=callstacks --locks --frames --plots"
races=125 # of each of the eight situations of w_stacks

work=$(mktemp -d /tmp/hyprof-soak.XXXXXX)
trap 'rm -rf "$work"' EXIT
cc=${CC:-cc}
flags="-g -O2 -D_GNU_SOURCE -std=c11 -I. -Iinstrument/client/include -pthread"
# shellcheck disable=SC2086 # words
{
$cc $flags -fPIC -shared tests/preload/client_events.c instrument/client/*.c -o "$work/plain.so" || exit 1
$cc $flags -fPIC -shared -fsanitize=address tests/preload/client_events.c instrument/client/*.c -o "$work/asan.so" || exit 1
$cc $flags -fno-omit-frame-pointer tests/workloads/w_stacks.c instrument/client/*.c -o "$work/stacks_plain" || exit 1
$cc $flags -fno-omit-frame-pointer -fsanitize=address tests/workloads/w_stacks.c instrument/client/*.c -o "$work/stacks_asan" || exit 1
}
libasan=$($cc -print-file-name=libasan.so)
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 LC_ALL=C

# ---- the programs: work for some, and the version of all tools of these packages
mkdir "$work/data" && cd "$work/data" || exit 1
seq 20000 >numbers
awk 'BEGIN { for (i = 0; i < 300; i++) printf "int f%d(int x) { return x * %d + f%d(x); }\n", i + 1, i, i }' >many.c
sed -i '1i int f0(int x) { return x; }' many.c
printf '#include <map>\n#include <string>\n#include <iostream>\nint main() { std::map<int, std::string> m; for (int i = 0; i < 999; i++) m[i * 7 %% 999] = std::to_string(i); for (auto &e : m) std::cout << e.second; }\n' >map.cpp
printf 'all: a b\na b:\n\t@echo $@; sh -c "echo $@ in a shell"\n' >makefile
cat >work.py <<'END'
import json, re, threading, subprocess, hashlib, zlib, sqlite3, concurrent.futures as f
print(hashlib.sha256(json.dumps([{str(k): k} for k in range(5000)]).encode()).hexdigest())
with f.ThreadPoolExecutor(8) as p: print(sum(p.map(lambda n: sum(range(n)), range(500))))
for i in range(50): t = threading.Thread(target=lambda: zlib.compress(b"x" * 99999)); t.start(); t.join()
print(subprocess.run(["sh", "-c", "seq 10 | sort -r"], capture_output=True).stdout)
d = sqlite3.connect(":memory:"); d.execute("create table t(a)"); d.executemany("insert into t values(?)", [(i,) for i in range(5000)])
print(d.execute("select sum(a) from t").fetchone(), len(re.sub(r"(a|b)+c", "x", "abcab" * 5000)))
END
cat >tasks <<'END'
sort -r numbers
sort --parallel=4 -S 1M numbers
sort -R --random-source=numbers numbers
shuf --random-source=numbers numbers
tac numbers
sha256sum numbers
md5sum numbers
b2sum numbers
wc numbers
split -l 1000 --filter=wc numbers
paste numbers numbers
join numbers numbers
comm numbers numbers
tr 0-9 a-j <numbers
cut -c 2 numbers
uniq -c numbers
factor 1 2 3 1234567890123
seq 1 3 99999
od -x numbers
base64 numbers
expand numbers
fmt numbers
csplit -s numbers 100 {10}
tsort numbers
ls -l --time-style=+ /usr/lib
find /usr/share/doc -name 'a*'
grep -c 7 numbers
grep -E '(1|2)+3.*4' numbers
grep -rl Debian /etc/apt /etc/debian_version
sed -e 's/1/one/g' numbers
awk '{ s[$1 % 97] += $1 } END { for (i = 0; i < 97; i++) print s[i] }' numbers
mawk '{ s += $1 } END { print s }' numbers
gawk '{ s += $1 } END { print s }' numbers
perl -e 'my %h; $h{$_ % 1013} .= $_ for 1 .. 50000; print join ",", map { length $h{$_} } sort keys %h'
perl -MData::Dumper -e '$Data::Dumper::Sortkeys = 1; print Dumper({ map { $_ => [1 .. 9] } 1 .. 99 })'
python3 work.py
python3 -c 'import ast, sys; print(len(ast.dump(ast.parse(open(ast.__file__).read()))))'
python3 -X importtime -c 'pass' 2>/dev/null
bash -c 'for i in {1..300}; do a[i]=$((i * i)); done; echo ${a[*]}'
bash -c 'seq 100 | while read -r x; do echo $(echo $x); done'
dash -c 'i=0; while [ $i -lt 500 ]; do i=$((i + 1)); done; echo $i'
sh -c 'ulimit -s 256; seq 10'
sh -c 'ulimit -s unlimited; seq 10'
sh -c 'kill -TERM $$'
sh -c 'kill -SEGV $$'
sh -c 'exit 77'
tar cf - --sort=name --mtime=@0 numbers many.c
tar czf - --sort=name --mtime=@0 numbers
gzip -nc numbers
bzip2 -c numbers
xz -T4 -c numbers
zstd -T4 -qc numbers
diff numbers many.c
cmp numbers many.c
diff3 numbers numbers many.c
patch --dry-run --version
make
make -j4 -B --output-sync
gcc -O2 -S -o - many.c
gcc -E many.c
gcc -v -E -x c /dev/null
g++ -O1 -S -o - map.cpp
clang -O2 -S -o - many.c
clang++ -O1 -S -o - map.cpp
gcc -c -o many.o many.c
cc -shared -fPIC -o many.so many.c
objdump -d /bin/true
readelf -aW /bin/true
nm -D /bin/ls
strings /bin/ls
size /bin/ls
ar t /usr/lib/x86_64-linux-gnu/libc.a
strip -o /dev/null /bin/ls
objcopy --only-section=.text /bin/ls /dev/null
addr2line -e /bin/ls 0x4000
c++filt _ZNSt6vectorIiSaIiEE9push_backERKi
ldd /bin/ls
git --no-pager -C /nonexistent log
git hash-object numbers
git diff --no-index --stat numbers many.c
sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c limit 20000) select sum(x), count(distinct x % 97) from c'
jq -n '[range(20000)] | map(. * 2) | add'
jq -s 'map(. % 7) | group_by(.) | map(length)' numbers
node -e 'console.log([...Array(20000).keys()].map(String).sort().join("").length)'
node -e 'const w = require("worker_threads"); if (w.isMainThread) new w.Worker(__filename || "", { eval: false }).on("error", () => console.log("no"))'
openssl dgst -sha256 numbers
openssl enc -aes-128-cbc -K 00 -iv 00 -in numbers -a
curl -s file:///etc/debian_version
gdb -q -batch -ex 'info functions ^main' /bin/true
gdb -q -batch -ex 'python print(sum(range(1000)))'
file /bin/ls numbers
m4 -DX=y many.c
bc -q many.none
dc -e '2 1000 ^ p'
expr 3 + 4
printf '%s %d\n' a 1
test -f numbers
env -i true
nice true
timeout 5 seq 10
stdbuf -o0 seq 10
xargs -n 50 echo <numbers
xargs -P 4 -n 2000 wc <numbers >/dev/null
tee /dev/null <numbers
dd if=numbers bs=512 status=none
cat numbers
rev numbers
column numbers
hexdump -C numbers
look 1 numbers
getopt ab: -a -b 3
flock numbers true
cal 1 2026
man --version
dpkg -l bash
dpkg-query -W bash dash
apt-cache policy bash
ip -V
ps --version
localedef --version
iconv -f utf-8 -t utf-16 numbers
getconf -a
locale -a
pkg-config --list-package-names
rsync --version
ssh -V
ssh-keygen -lf /nonexistent
gpg --version
fakeroot true
busybox seq 10
java -version
ruby -e 'puts (1..999).sum'
lua -e 'print(1)'
php -r 'echo 1;'
go version
rustc --version
valgrind --version
strace true
ltrace --version
perf --version
END
packages="coreutils binutils-x86-64-linux-gnu binutils findutils diffutils grep sed gawk mawk tar gzip bzip2 xz-utils make
patch git perl-base bash util-linux bsdextrautils libc-bin procps gcc-12 g++-12 cpp-12 gdb sqlite3 jq curl file m4 clang-14 llvm-14 nodejs
python3-minimal gettext gettext-base autoconf automake shellcheck cmake ninja-build flex bison zstd less elfutils dwarves pahole"
{
        cat tasks
        for package in $packages; do
                dpkg -L "$package" 2>/dev/null
        done | grep -E '^(/usr)?/bin/[^/]+$' | grep -vE '/(reset|tset|clear|script|scriptlive|mesg|wall|su|login|newgrp|chsh|chfn|passwd|setarch|run-parts)$' |
                sort -u | while read -r path; do [ ! -x "$path" ] || [ -d "$path" ] || echo "$path --version"; done
} >programs

# The output and the status of a command, in a folder of its own.
run() { # file, command of the shell, what goes before it
        rm -rf "$work/place" && cp -r "$work/data" "$work/place" && cd "$work/place" || exit 1
        # shellcheck disable=SC2086 # words
        ( exec timeout 300 $3 sh -c "$2" ) >"$1" 2>&1 </dev/null
        echo "status $?" >>"$1"
        sed -i "/^hyprof: /d" "$1" # what the recorder says of itself
}
n=0 n_bad=0 n_varied=0
compare() { # how, preloaded, command
        run "$work/bare" "$3" "env LD_PRELOAD=$4"
        grep -q "^sh: 1: .*: not found$" "$work/bare" && return
        run "$work/again" "$3" "env LD_PRELOAD=$4"
        cmp -s "$work/bare" "$work/again" || { n_varied=$((n_varied + 1)) && return; }
        run "$work/recorded" "$3" "$hyprof record -q -o $work/t.hyp $events -- env LD_PRELOAD=$2"
        n=$((n + 1))
        [ $((n % 20)) -ne 0 ] || echo "# $1: $n programs" >&2
        if ! cmp -s "$work/bare" "$work/recorded"; then
                # Once more: a program that varies rarely shows it by differing from itself.
                run "$work/again" "$3" "env LD_PRELOAD=$4"
                cmp -s "$work/bare" "$work/again" || { n_varied=$((n_varied + 1)) n=$((n - 1)) && return; }
                n_bad=$((n_bad + 1))
                echo "DIFFERS ($1): $3"
                diff -a "$work/bare" "$work/recorded" | head -n 10
        fi
}
failed=0
soak() { # how, preloaded for the recording, preloaded for the bare run, races
        n=0 n_bad=0 n_varied=0
        while read -r command <&3; do
                [ "$n" -lt "$wanted" ] || break
                compare "$1" "$2" "$command" "$3"
        done 3<"$work/data/programs"
        echo "$1: $n programs, $n_bad crashed or differ ($n_varied vary by themselves)"
        [ "$n_bad" -eq 0 ] && [ "$n" -ge "$wanted" ] || failed=1
        cd "$work" || exit 1
        "$4" 1 >"$work/bare"
        # shellcheck disable=SC2086 # words
        if "$hyprof" record -q -o "$work/t.hyp" $events -- "$4" "$races" >"$work/recorded" 2>"$work/errors" && cmp -s "$work/bare" "$work/recorded"; then
                echo "$1: $((races * 8)) races of threads and mappings, none crashed"
        else
                echo "$1: races: status, output or messages are wrong"
                head -n 20 "$work/errors"
                failed=1
        fi
}
soak "as they are" "$work/plain.so" "" "$work/stacks_plain"
soak "AddressSanitizer" "$libasan:$work/asan.so" "$libasan" "$work/stacks_asan"
exit $failed
