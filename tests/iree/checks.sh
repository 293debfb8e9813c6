# shellcheck shell=bash disable=SC2034,SC2154 # iree_there is set by the scripts, and they use what is set here
# SPDX-License-Identifier: MIT
# The truth about traces of IREE's runtime; sourced after tap.sh by runtime.sh and by tests/guests/machine.sh, which define
# iree_record NAME COMMAND... (it makes $TMPDIR/NAME.hyp and NAME.out) and iree_there, the folder of the programs.

# How many cases iree_runtime() has in each mode.
declare -A n_iree_cases=([1]=7 [2]=7 [3]=7 [4]=8 [locks]=9)

iree_runtime() { # mode
        local name=iree_$1
        holds "mode $1: 500 dispatches of a module: recorded, and its result is right" iree_module
        holds "mode $1: all of its zones are in the trace" iree_zones
        holds "mode $1: its kernel, mapped by IREE's loader, has its name and lines" iree_kernel
        holds "mode $1: all memory is freed" iree_memory "$1"
        holds "mode $1: its invocation is a fiber" iree_fiber "$1"
        case $1 in
        4 | locks) holds "mode $1: each zone has a callstack" iree_callstacks ;;
        esac
        case $1 in
        locks) holds "mode $1: locks" iree_locks ;;
        esac
        holds "mode $1: a kernel of IREE's compiler, in IREE's test of its loader" iree_loader
        holds "mode $1: IREE's test of its executor" iree_executor
}

# Code that lives briefly may be lost on a slow machine, too.
iree_nothing_lost() { # name
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" >"$TMPDIR/$1.json" || return 1
        same "" "$(lost_events "$1" | grep -v '^CODE_TOO_LATE ')" &&
                same 0 "$(reported "$1" '.n_unclosed // 0')"
}
iree_n_zones() { # name, zone
        reported "$1" "[.zones.rows[] | select(.name == \"$2\") | .count] | add // 0"
}
iree_module() {
        iree_record "$name" "$iree_there/hello_world_file" "$iree_there/multiply.vmfb" &&
                grep -qx '4xf32=10 110 1200 13000' "$TMPDIR/$name.out"
}
# Workers take some of a dispatch's 64 workgroups at a time, as many each time.
iree_zones() {
        local n
        iree_nothing_lost "$name" || return 1
        n=$(iree_n_zones "$name" multiply)
        figure "$name: $(reported "$name" .n_zones) zones in $(reported "$name" '.zones.rows | length') places" >&3
        same 500 "$(iree_n_zones "$name" iree_hal_device_queue_execute)" && compare "$n" ">=" 500 && compare "$n % 500" "==" 0
}
iree_kernel() {
        read_trace "$name"
        has_share "$name" 'kind == "sample" && module ~ /^\[image/' 'self == "multiply" && source_line ~ /\/kernel\.c:[1-9]/' \
                100 10 "samples in the kernel have its name and line"
}
iree_memory() { # mode
        local wanted="true 0"
        [ "$1" != 1 ] || wanted="false 0"
        "$HYPROF" report --memory --json --limit 0 "$TMPDIR/$name.hyp" >"$TMPDIR/$name.memory" || return 1
        same "$wanted" "$(jq -r '[.pools.rows[]?] | "\((map(.n_allocations) | add // 0) > 1000) \(map(.n_live) | add // 0)"' "$TMPDIR/$name.memory")"
}
iree_fiber() { # mode
        local wanted=ctx-0000
        case $1 in 1 | 2) wanted= ;; esac
        same "$wanted" "$(reported "$name" '.threads.rows[] | select(.kind == "fiber") | .name')"
}
iree_callstacks() {
        local n
        n=$(grep -c '^zone_begin ' "$TMPDIR/$name.dump")
        compare "$n" ">" 0 && compare "$(grep -c '^callstack ' "$TMPDIR/$name.dump")" ">=" "$n"
}
iree_locks() {
        "$HYPROF" report --locks --json --limit 0 "$TMPDIR/$name.hyp" >"$TMPDIR/$name.locks" &&
                compare "$(jq '.locks.rows | length' "$TMPDIR/$name.locks")" ">=" 10 &&
                same "0 0" "$(jq -r '"\(.n_open_holds) \(.n_open_waits)"' "$TMPDIR/$name.locks")"
}
iree_loader() {
        iree_record "$name.loader" "$iree_there/elf_module_test_binary" && iree_nothing_lost "$name.loader" &&
                same 1 "$(iree_n_zones "$name.loader" iree_elf_module_initialize_from_memory)"
}
iree_executor() {
        iree_record "$name.executor" "$iree_there/executor_test" && grep -qF '[  PASSED  ]' "$TMPDIR/$name.executor.out" &&
                iree_nothing_lost "$name.executor" || return 1
        figure "$name.executor: $(reported "$name.executor" .n_zones) zones" >&3
        compare "$(iree_n_zones "$name.executor" iree_task_executor_create)" ">=" 1 &&
                same "$(iree_n_zones "$name.executor" iree_task_executor_create)" "$(iree_n_zones "$name.executor" iree_task_executor_destroy)"
}
