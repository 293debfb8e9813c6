#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Records in an emulated machine, with Debian's kernel, and reads the traces here: `make check-guest`, `make test-riscv64`
#
# GUEST names the machine. HYPROF_GUEST_PARTS chooses parts: "basic" is what CI runs, "packed" the tar file for
# boards, "interrupts" is a machine whose counters only count, "traces" has all kinds of programs, "addresses" is
# about long ones, "units" runs the unit tests there, "iree" IREE's own runtime, where it was built. A whole machine
# is emulated, so a minute of it takes minutes here. Nothing depends on how fast it is: what is asked for are shares.
# HYPROF_GUEST_TESTS names the unit tests that "units" runs, instead of all. In "basic" and "packed" its clock counts
# its instructions as well: a busy host makes the machine slower for us, but not for the programs in it, so all that
# they measure is the same each time.
# shellcheck disable=SC2154 # of guest.sh
set -u
. tests/tap.sh
. tests/guests/guest.sh
target=${GUEST:?riscv64 or aarch64}
made=build/$target-guest
parts=${HYPROF_GUEST_PARTS:-basic packed interrupts traces addresses units iree}
declare -A n_cases_of=([basic]=21 [packed]=6 [interrupts]=0 [traces]=17 [addresses]=4 [units]=2 [iree]=30)
[ "$target" != riscv64 ] || n_cases_of+=([interrupts]=10 [addresses]=15)
n_planned=0
for part in $parts; do
        n_planned=$((n_planned + ${n_cases_of[$part]}))
done
plan $n_planned
# image.sh says why there is none.
[ ! -s "build/guest/$target/missing" ] || skip_all "network: $(sed 's/^sysroot.sh: //' "build/guest/$target/missing" | paste -sd ';')"
need jq python3 "$target-linux-gnu-gcc"
[ -e "build/guest/$target/work.ext4" ] || skip_all "there is no machine for $target: make test-$target makes it"

there=/tree/$made
# Another machine, with the disks as they were.
boots() { # words, options of qemu...
        guest_stop
        holds "$target$1: boots, and ssh enters" guest_start "$target" "${@:2}"
        [ -n "$guest_pid" ] || exit 1
        figure "$(in_guest uname -srm), Debian $(cut -d ' ' -f 2 "build/guest/$target/root/.made-of"), $guest_processors CPUs$1"
        in_guest 'mkdir -p /tmp/t'
}
# The files of the machine, as they are here.
mkdir "$TMPDIR/root" && ln -s "$PWD" "$TMPDIR/root/tree"

# NAME.hyp, recorded there and brought here; as tap.sh's record().
record_there() { # name, options and command...
        in_guest "cd /tmp/t && ${hyprof_there:-$there/hyprof} record -o $1.hyp ${*:2} >$1.out 2>$1.err"
        local status=$?
        from_guest "/tmp/t/$1.hyp" "$TMPDIR/$1.hyp" && [ $status -eq 0 ] && return 0
        in_guest "tail -n 5 /tmp/t/$1.err"
        return 1
}
# The same names and counts there and here, but for hints and what is missing, which name files.
reads_alike() { # name
        in_guest "cd /tmp/t && $there/hyprof report --json --limit 0 $1.hyp" | jq -S 'del(.missing, .hints, .warnings)' >"$TMPDIR/there.json" &&
                "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" | jq -S 'del(.missing, .hints, .warnings)' >"$TMPDIR/here.json" || return 1
        [ -s "$TMPDIR/here.json" ] && diff "$TMPDIR/there.json" "$TMPDIR/here.json" >"$TMPDIR/differ" && return
        head -n 20 "$TMPDIR/differ"
        return 1
}
# Shares of callstacks that go up to the root.
is_complete() { # name, target in percent
        local n complete rest
        read -r n complete rest < <("$HYPROF" dump "$TMPDIR/$1.hyp" | awk -f tests/complete_stacks.awk)
        figure "$1: $complete of $n callstacks complete" >&3
        compare "$n" ">=" 50 && compare "100 * $complete" ">=" "$2 * $n"
}
exec 3>&1

# ---- callers: burn() is a leaf without a frame, twenty recurse() deep
leaves_are_right() { # name
        read_trace "$1"
        has_share "$1" 'kind == "sample" && self == "burn"' \
                'stack ~ /^;_start;.*;main;(recurse;)+round_plain;burn$/ && gsub(/;recurse/, "", stack) == 20' \
                99 50 "samples of the leaf function have the right callers"
}
# One instruction takes 1 ns; on AArch64, where cycles are ns, 2 ns: half an instruction a cycle.
basic() {
        local command="$there/workloads/w_unwind plain 4000" shift=0 guest_processors=1
        [ "$target" = riscv64 ] || shift=1
        boots ", its clock counts instructions" -icount "shift=$shift"
        holds "doctor: recording works" in_guest "$there/hyprof doctor | head -n 1 | grep 'works here'"
        holds "cpu-clock at 100 Hz: recorded" record_there clock -F 100 -e cpu-clock -- "$command"
        holds "its leaf function's callers are right in 99%" leaves_are_right clock
        holds "its callstacks are complete in 95%" is_complete clock 95
        holds "read there and here, it is the same" reads_alike clock
        holds "its instructions are shown here" shows_instructions clock burn

        # ---- zones: none is missing, each of its length
        holds "zones: recorded" record_there truth -F 100 -e cpu-clock -- "$there/workloads/w_truth" log 1 2000
        from_guest /tmp/t/log "$TMPDIR/log"
        "$HYPROF" report --json --limit 0 "$TMPDIR/truth.hyp" >"$TMPDIR/truth.json"
        holds "zones: all are there" all_zones
        holds "zones: read there and here, they are the same" reads_alike truth

        # ---- counters of the machine
        if in_guest 'perf stat -e instructions true 2>&1' | grep -q 'not supported'; then
                skips_group "cycles and instructions in a group" "hardware: the emulator counts no instructions"
        else
                holds "cycles and instructions in a group: recorded" record_there group -F 100 -e "'{cycles,instructions}:S'" -- "$command"
                holds "the leaf function's callers are right at these interrupts, too" leaves_are_right group
                holds "instructions a cycle are those of perf stat within 2%" same_as_perf
                holds "a loop of 1,000,000,000 instructions: as many are counted" counts_loop
                holds "a sample each 10,000,000 of them: recorded" record_there period -c 10000000 -e instructions -- "$there/workloads/w_loop 500000000"
                holds "it has a hundred samples, give or take ten" samples_loop
        fi
        holds "waits: recorded" record_there naps -F 100 -e cpu-clock --off-cpu -- sh -c "'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.05; done'"
        holds "waits: timers end those of sleep" by_timers
        holds "a program on 9p has its build-id" has_build_id
        holds "record --on: sent there, recorded there, the trace and its names here" records_on_it
        holds "IREE's macros, mode 4" iree_mode 4
}
# The kernel's functions tell a timer's interrupt from others; each sleep waits for one.
by_timers() {
        local kinds
        kinds=$("$HYPROF" report --off-cpu --json --limit 0 "$TMPDIR/naps.hyp" | jq -c '[.wakers.rows[]] | group_by(.kind) | map({(.[0].kind // "none"): (map(.count) | add)}) | add')
        figure "wake-ups by kind: $kinds" >&3
        compare "$(jq '.timer // 0' <<<"$kinds")" ">=" 10
}
# The tar file of pack.sh, and C code as boards have it: stripped, without the flag that keeps unwind tables.
packed() {
        local hyprof_there=/tmp/board/hyprof shift=0 guest_processors=1
        [ "$target" = riscv64 ] || shift=1
        boots ", with the tar file" -icount "shift=$shift"
        mkdir -p "$TMPDIR/packed" "$TMPDIR/unstripped"
        holds "the tar file: hyprof and a program with its libhyprof.a" make_packed
        holds "the tar file: zones recorded, by its hyprof" record_there packed -F 400 -e cpu-clock -- ./packed 200000
        holds "the tar file: callstacks in its library are complete in 95%" is_complete packed 95
        holds "a stripped C program without tables: recorded" record_there bare -F 400 -e cpu-clock -- ./bare 400
        holds "it has callers, and names from an unstripped file of another name" bare_callers
}
make_packed() {
        tar -xzf "$(compgen -G "$made/hyprof-*-$target.tar.gz")" -C "$TMPDIR/packed" --strip-components=1 || return 1
        cat >"$TMPDIR/packed.c" <<'END'
#include <hyprof/hyprof.h>
#include <stdlib.h>
__attribute__((noinline)) static int some_zones(int n)
{
        for (int i = 0; i < n; i++) {
                HYPROF_ZONE_BEGIN(zone, "short");
                HYPROF_ZONE_END(zone);
        }
        return n;
}
int main(int argc, char **argv)
{
        int n = 0;
        for (int i = 0; i < 10; i++)
                n += some_zones(atoi(argv[argc - 1]));
        return n == 0;
}
END
        cat >"$TMPDIR/bare.c" <<'END'
#include <stdlib.h>
__attribute__((noipa)) int leaf_of_all(int n)
{
        int sum = 0;
        for (int i = 0; i < n; i++)
                sum = sum * 5 + (i ^ sum);
        return sum;
}
__attribute__((noipa)) int calls_leaf(int n) { return leaf_of_all(n) + 1; }
__attribute__((noipa)) int calls_twice(int n) { return calls_leaf(n) + calls_leaf(n / 2); }
int main(int argc, char **argv)
{
        int sum = 0;
        for (int i = atoi(argv[argc - 1]); i > 0; i--)
                sum += calls_twice(100000);
        return sum == 7;
}
END
        target_gcc -I"$TMPDIR/packed/include" "$TMPDIR/packed.c" "$TMPDIR/packed/lib/libhyprof.a" -pthread -o "$TMPDIR/packed/packed" &&
                "$target-linux-gnu-gcc" -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -Wl,--build-id "$TMPDIR/bare.c" -o "$TMPDIR/unstripped/bare-1.2" &&
                "$target-linux-gnu-strip" -o "$TMPDIR/packed/bare" "$TMPDIR/unstripped/bare-1.2" &&
                to_guest /tmp/board "$TMPDIR/packed/bin/hyprof" && to_guest /tmp/t "$TMPDIR/packed/packed" "$TMPDIR/packed/bare"
}
bare_callers() {
        "$HYPROF" symbolize -q --debug-dir "$TMPDIR/unstripped" "$TMPDIR/bare.hyp" && read_trace bare &&
                has_share bare 'kind == "sample" && self == "leaf_of_all"' 'stack ~ /;main;calls_twice;calls_leaf;leaf_of_all$/' \
                        95 30 "samples of a leaf function without tables have the right callers"
}
# RISC-V without Sscofpmf: the kernel refuses samples of counters, and all that they could leave out.
interrupts() {
        local guest_sscofpmf=false guest_processors=1
        [ "$target" = riscv64 ] || return 0
        boots ", its counters do not interrupt" -icount shift=0
        holds "counters that only count: doctor says so" \
                in_guest "$there/hyprof doctor | grep 'no   hardware counters  they count, but have no interrupt'"
        holds "counters that only count: zones are recorded, by cpu-clock" record_there truth -F 100 -- "$there/workloads/w_truth" log 1 2000
        from_guest /tmp/t/log "$TMPDIR/log"
        from_guest /tmp/t/truth.err "$TMPDIR/truth.err"
        holds "counters that only count: in one line" same 1 "$(grep -c 'samples of cpu-clock at 100 Hz.* 0 lost' "$TMPDIR/truth.err")"
        holds "counters that only count: all zones are there" all_zones
        holds "counters that only count: samples of them are refused" in_guest \
                "cd /tmp/t && $there/hyprof record -o none.hyp -e cycles -- true 2>none.err; [ \$? -eq 125 ] && [ ! -e none.hyp ] && \
                [ \$(wc -l <none.err) -eq 1 ] && grep 'cannot be sampled .*{cpu-clock,cycles}:S' none.err"
        holds "counters that only count: they go after another" record_there group -F 100 -e "'{cpu-clock,cycles,instructions}:S'" -- \
                "$there/workloads/w_unwind plain 1000"
        "$HYPROF" report --json --limit 0 "$TMPDIR/group.hyp" >"$TMPDIR/group.json"
        holds "counters that only count: instructions a cycle are those of perf stat within 2%" same_as_perf
        holds "counters that only count: --stat has them" record_there totals --stat --scope=threads -- "$there/workloads/w_loop 1000000"
        "$HYPROF" report --json --limit 0 "$TMPDIR/totals.hyp" >"$TMPDIR/totals.json"
        holds "counters that only count: at least the instructions of the loop" compare \
                "$(reported totals '.totals.rows[] | select(.name == "instructions") | .value')" ">=" 1000000
}
traces() {
        local loading mode
        boots ""
        # ---- generated kernels, loaded in both ways; the files are gone when it ends
        for loading in "" --memory; do
                holds "kernels ${loading:-by dlopen}: recorded" record_there "pool$loading" -F 100 -e cpu-clock -- \
                        env CC=gcc "$there/examples/kernel_pool" --kernels 3 --cpu-seconds 4 "$loading"
                holds "kernels ${loading:-by dlopen}: they have names and lines here" kernels_have_names "pool$loading"
                holds "kernels ${loading:-by dlopen}: and instructions" shows_instructions "pool$loading" matmul_48_row
        done

        # ---- IREE's macros in each mode, Tracy's in all libraries
        for mode in 1 2 3; do
                holds "IREE's macros, mode $mode" iree_mode $mode
        done
        holds "Tracy's macros in C++" zones_recorded cpp "$there/workloads/w_tracy_cpp"
        holds "Tracy's macros in C" zones_recorded c "$there/workloads/w_tracy_c"
        holds "a binding of Tracy 0.14" tracy_binding hyprof_tracy
        holds "a binding of Tracy 0.14 with TRACY_ON_DEMAND" tracy_binding hyprof_tracy_ondemand -DON_DEMAND
        holds "a binding of Tracy 0.13" tracy_binding hyprof_tracy_0.13 -DREVISION=1103
        holds "a client of version 1.0 of the shared memory" old_client
        holds "the demo runs there" demo
}
shows_instructions() { # name, function
        "$HYPROF" annotate --asm --sysroot "$TMPDIR/root" "$TMPDIR/$1.hyp" "$2" >"$TMPDIR/annotated" || return 1
        grep -Eq '[0-9.]+ ?%.*\b(add|addi|sub|subs|fmadd|fmul|flw|ldr|bnez|mul|c\.|b\.|cb|ld|bne|bgeu|bltu)' "$TMPDIR/annotated" ||
                { head -n 30 "$TMPDIR/annotated"; return 1; }
}
all_zones() {
        nothing_lost truth && same "$(wc -l <"$TMPDIR/log")" "$(reported truth '.zones.rows[] | select(.name == "logged") | .count')"
}
kernels_have_names() { # name
        read_trace "$1"
        has_share "$1" "$in_kernel" "$named_kernel && source_line ~ /:[1-9]/" 100 11 "samples in kernels have name and line"
}
. tests/kernels.sh
named_kernel=$named

target_gcc() { "$target-linux-gnu-gcc" -O2 -fno-omit-frame-pointer -I. "$@"; }
iree_mode() { # number
        local header=$PWD/instrument/client/include/hyprof/compat/iree/hyprof_iree_provider.h
        target_gcc -std=gnu11 "-DIREE_TRACING_PROVIDER_H=\"$header\"" "-DIREE_TRACING_MODE=$1" tests/workloads/w_iree.c \
                "$made/libhyprof_iree.a" -pthread -o "$TMPDIR/iree$1" && to_guest /tmp/t "$TMPDIR/iree$1" &&
                zones_recorded "iree$1" "./iree$1"
}
# All that the program said is there.
zones_recorded() { # name, command
        record_there "$1" -F 100 -e cpu-clock -- "${@:2}" && reads_alike "$1" && nothing_lost "$1" &&
                compare "$(reported "$1" '[.zones.rows[].count] | add')" ">=" 3
}
nothing_lost() { # name
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" >"$TMPDIR/$1.json" || return 1
        same "" "$(lost_events "$1")" && return
        mkdir -p "build/guest/$target/lost" && cp "$TMPDIR/$1.hyp" "build/guest/$target/lost/"
        echo "the trace is build/guest/$target/lost/$1.hyp"
        return 1
}
tracy_binding() { # library, flags...
        mkdir -p "$TMPDIR/lib"
        ln -sf "$PWD/$made"/libhyprof*.so "$TMPDIR/lib/"
        target_gcc "${@:2}" tests/workloads/w_tracy_foreign.c -Iinstrument/client/include -L"$TMPDIR/lib" -Wl,--no-as-needed "-l$1" -lhyprof \
                -o "$TMPDIR/foreign" && to_guest /tmp/t "$TMPDIR/foreign" &&
                in_guest "cd $there && for l in libhyprof*.so; do ln -sf $there/\$l /tmp/t/\$l.1; done" &&
                zones_recorded "foreign_$1" env LD_LIBRARY_PATH=/tmp/t ./foreign
}
# Both run it alone: no other program has a counter then.
same_as_perf() {
        local found wanted
        wanted=$(in_guest "perf stat -x, -e cycles,instructions $there/workloads/w_unwind plain 1000 2>&1 >/dev/null" |
                awk -F, '/cycles/ { c = $1 } /instructions/ { i = $1 } END { print c ? i / c : 0 }')
        found=$("$HYPROF" report --json --limit 0 "$TMPDIR/group.hyp" | jq '.function_counters.rows[] | select(.function == "[all]") | .ipc')
        figure "instructions a cycle: $found, perf stat $wanted" >&3
        compare "$wanted" ">" 0 && compare "$found" "<=" "1.02 * $wanted" && compare "$found" ">=" "0.98 * $wanted"
}
# The rest of the program and the kernel's part are in both runs; the kernel's grows with the time.
counts_loop() {
        local counted=() rounds
        for rounds in 1000000 501000000; do
                record_there loop --scope=threads --stat --no-sampling -- "$there/workloads/w_loop $rounds" || return 1
                counted+=("$("$HYPROF" report --json --limit 0 "$TMPDIR/loop.hyp" | jq '.totals.rows[] | select(.name == "instructions") | .value')")
        done
        figure "instructions of a loop of 1000000000: $((counted[1] - counted[0]))" >&3
        compare "${counted[1]} - ${counted[0]}" ">=" 1000000000 && compare "${counted[1]} - ${counted[0]}" "<=" "1.01 * 1000000000"
}
samples_loop() {
        local n
        read_trace period
        n=$(n_events period 'kind == "sample" && self == "count_down"')
        figure "samples of them, one each 10000000: $n" >&3
        # The kernel's instructions count as well on RISC-V, and some samples are in it: 97 to 102 were seen.
        compare "$n" ">=" 90 && compare "$n" "<=" 110
}

# ---- addresses: stack and code at the end of what the machine's pages can reach
addresses() {
        case $target in
        riscv64)
                long_addresses sv39 no4lvl 3000000000
                long_addresses sv48 no5lvl 700000000000
                long_addresses sv57 "" ff000000000000
                ;;
        aarch64) long_addresses "" "" f00000000000 ;;
        esac
}
long_addresses() { # pages, option of the kernel, address
        local guest_kernel_options=$2
        boots "${1:+, $1}"
        [ -z "$1" ] || holds "its pages are those of $1" in_guest "grep -q '^mmu.*$1' /proc/cpuinfo"
        holds "stack and code at $3: recorded" record_there "high$1" -F 100 -e cpu-clock -- "$there/workloads/w_loop 2000000000 $3"
        holds "callers on that stack are right in 99%" high_callers "high$1"
        holds "code has its whole address" high_code "high$1" "0x${3%000000}100000"
}
# The two functions of the C library that start a thread have no names where it is stripped.
high_callers() { # name
        read_trace "$1"
        has_share "$1" 'kind == "sample" && self == "count_down"' 'stack ~ /^;[^;]+;[^;]+;run_on_stack;count_down$/' \
                99 50 "samples on that stack have the right callers"
}
# A few instructions lie there, and nothing else has no name.
high_code() { # name, address
        has_share "$1" 'kind == "sample" && self == "?"' "address ~ /^${2%?}.\$/" 100 50 "samples without a name are at $2"
}
# 9p gives the kernel no build-id with a mapping: the recorder reads the file's own.
has_build_id() {
        local wanted
        cp "$made/examples/hello_zones" "$guest_share/" && record_there on9p /share/hello_zones || return 1
        wanted=$("$target-linux-gnu-readelf" -n "$made/examples/hello_zones" | sed -n 's/.*Build ID: //p')
        "$HYPROF" modules --json --limit 0 "$TMPDIR/on9p.hyp" | jq -r '.modules.rows[] | select(.path | endswith("hello_zones")) | .build_id' >"$TMPDIR/found"
        same "$wanted" "$(cat "$TMPDIR/found")"
}
old_client() {
        record_there old --no-symbolize --no-sampling -- "$there/workloads/w_old_client" 1 0xff && nothing_lost old &&
                same 1000 "$(reported old .n_zones)"
}
# It compiles kernels there, and compresses.
demo() {
        in_guest "cd /tree && CC=gcc examples/demo.sh $made" >"$TMPDIR/demo" 2>&1 && grep -q '^The traces are' "$TMPDIR/demo" && return
        tail -n 30 "$TMPDIR/demo"
        return 1
}
# Nothing of it is there before: hyprof, as pack.sh would leave it, and the program are sent.
records_on_it() {
        local status=0 boards
        boards=$TMPDIR/cache/boards/$("$HYPROF" --version | sed -n '1s/hyprof \([^ ]*\).*/\1/p')
        mkdir -p "$boards" "$TMPDIR/debug"
        "$target-linux-gnu-strip" -o "$boards/hyprof-$target" "$made/hyprof" &&
                "$target-linux-gnu-strip" -o "$TMPDIR/hello" "$made/examples/hello_zones" && cp "$made/examples/hello_zones" "$TMPDIR/debug/hello" &&
                HYPROF_CACHE_DIR=$TMPDIR/cache HYPROF_SSH="ssh -i $guest/key ${ssh_options[*]} -p $guest_port" "$HYPROF" record --on root@127.0.0.1 \
                        -o "$TMPDIR/board.hyp" --debug-dir "$TMPDIR/debug" -F 100 -e cpu-clock -- "$TMPDIR/hello" >"$TMPDIR/script" 2>&1 &&
                "$HYPROF" report "$TMPDIR/board.hyp" >>"$TMPDIR/script" || status=$?
        same 0 $status && grep -q '^2262$' "$TMPDIR/script" && grep -Eq 'f[0-9]+ .*count_primes .*hello' "$TMPDIR/script" &&
                same "" "$(in_guest 'ls -d /dev/shm/hyprof-0/run-* 2>/dev/null')" && return
        tail -n 40 "$TMPDIR/script"
        return 1
}
units() {
        boots ""
        holds "unit tests" unit_tests
}
# All but those of the disassembler, which a static hyprof has not.
unit_tests() {
        local left_out='test_(annotation|disassembler|listing_process)$' names
        read -r -a names <<<"${HYPROF_GUEST_TESTS-}"
        [ ${#names[@]} -gt 0 ] || mapfile -t names < <(cd "$made/tests" && printf '%s\n' test_* | grep -Ev "$left_out")
        # Not in the command: dropbear ends a connection whose command is longer than 9,000 bytes.
        printf '%s\n' "${names[@]/#/$made/tests/}" |
                guest_command_s=7200 in_guest "cd /tree && HYPROF_TRIES=1 HYPROF_LIMIT_S=1800 CK_TIMEOUT_MULTIPLIER=20 HOME=/root TMPDIR=/tmp \
                LC_ALL=C bash tests/run_tests.sh $made \$(cat)" >"$TMPDIR/units" 2>&1
        figure "unit tests: $(tail -n 1 "$TMPDIR/units")" >&3
        ! grep -A 12 '^FAIL' "$TMPDIR/units" || return 1
        grep -Eq '^[0-9]+ passed, 0 failed' "$TMPDIR/units"
}
iree() {
        local mode
        [ -e "build/iree/$target-4/there/multiply.vmfb" ] ||
                { skips_group "IREE's runtime" "IREE_SOURCE=DIR, IREE's tree, was not given" && return; }
        . tests/iree/checks.sh
        boots ""
        for mode in 1 2 3 4; do
                iree_there=/tmp/t/there$mode
                to_guest "$iree_there" "$PWD/build/iree/$target-$mode/there"/*
                iree_runtime $mode
        done
}
iree_record() { # name, command...
        record_there "$1" -F 100 -e cpu-clock -- "${@:2}" && from_guest "/tmp/t/$1.out" "$TMPDIR/$1.out" && reads_alike "$1"
}

for part in $parts; do "$part"; done
guest_stop
