#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs with Debian's own libomp, TBB and oneDNN: their regions, loops, tasks and waits are zones, with the lines of the program
set -eu
. tests/tap.sh
plan 23
need jq
need_sampling
[ "$VARIANT" = release ] || [ "$VARIANT" = debug ] || skip_all "the libraries are loaded into programs without sanitizers"
n=50

zones() { # name of the trace, pattern: those that began, and those that ended
        echo "$(n_events "$1" "kind == \"zone_begin\" && zone ~ /^$2\$/") $(n_events "$1" "kind == \"zone_end\" && zone ~ /^$2\$/")"
}
twice() { # number
        echo "$1 $1"
}
line_of() { # pattern in the source
        grep -n "$1" tests/workloads/marks_omp.c | cut -d: -f1
}

omp() { # output, options of the compiler...
        clang -O1 -fopenmp "${@:2}" tests/workloads/marks_omp.c -o "$TMPDIR/$1"
}
if ! command -v clang >/dev/null || ! omp probe 2>/dev/null; then
        skips_group "OpenMP" "clang or libomp-dev is not installed"
else
        omp with_lines -g
        loop=$(line_of 'parallel for')
        region=$(line_of 'parallel num_threads')
        for run in 1 2 3; do
                record omp "$TMPDIR/with_lines" $n
                read_trace omp
                found=$(printf '%s\n' "$(zones omp "omp parallel marks_omp.c:$loop") $(zones omp "omp parallel marks_omp.c:$region")" \
                        "$(zones omp "omp team marks_omp.c:$loop") $(zones omp "omp team marks_omp.c:$region")" \
                        "$(zones omp "omp loop") $(zones omp "omp single") $(zones omp "omp task")")
                holds "run $run: regions, threads in them, loops and tasks, each once" same "$(twice $n) $(twice $n)
$(twice $((2 * n))) $(twice $((2 * n)))
$(twice $((2 * n))) $(twice $n) $(twice $((3 * n)))" "$found"
        done
        holds "the program's own result" same "$((3 * n)) tasks, sum $((n * 4950 + 2 * n))" "$(cat "$TMPDIR/omp.out")"
        holds "the first region has its name as well" same "omp parallel marks_omp.c:$loop" \
                "$(awk -F '\t' "$columns"'kind == "zone_begin" && tid == pid { print zone; exit }' "$TMPDIR/omp.events")"
        holds "the lines of a region and of its threads" same 2 "$(grep -c "^location .* line=$region " "$TMPDIR/omp.dump")"
        holds "who waited at the barriers: both threads" same 2 "$(n_different omp 'kind == "zone_begin" && zone == "omp barrier wait"' tid)"
        holds "waits for the critical section" same "$((2 * n))" "$(n_events omp 'kind == "lock_obtain"')"
        holds "libomp's frames are not there a second time" same 0 "$(n_events omp 'kind ~ /^(frame|device)/')"
        holds "the worker has a name" grep -q 'text="OpenMP worker 1"' "$TMPDIR/omp.dump"
        holds "no zone is left open" same 0 "$(reported omp .n_unclosed)"
        holds "nothing is lost" same "" "$(lost_events omp)"
        omp without_lines
        record bare "$TMPDIR/without_lines" $n
        read_trace bare
        holds "without debug information, regions are told apart by their addresses" same "$(twice $((2 * n)))" "$(zones bare 'omp parallel')"
        holds "and have the module and the offset" grep -qE 'text="without_lines\+0x[0-9a-f]+"' "$TMPDIR/bare.dump"
        OMP_TOOL=disabled record itt "$TMPDIR/with_lines" $n
        read_trace itt
        holds "with OMPT switched off, regions come through ITT" same "$(twice $n) $(twice $n)" \
                "$(zones itt "omp parallel marks_omp.c:$loop") $(zones itt "omp parallel marks_omp.c:$region")"
        record ompt --inject=ompt "$TMPDIR/with_lines" $n
        read_trace ompt
        holds "with OMPT alone, regions have their lines as well" same "$(twice $n)" "$(zones ompt "omp parallel marks_omp.c:$loop")"
fi

if ! g++ -O1 tests/workloads/marks_tbb.cpp -ltbb -o "$TMPDIR/tbb" 2>/dev/null; then
        skips_group "TBB" "libtbb-dev is not installed"
else
        record tbb "$TMPDIR/tbb" $n
        read_trace tbb
        # TBB begins another one on a thread of its own now and then, and never ends it.
        loops='zone == "tbb_parallel_for" && tid == pid'
        holds "TBB: a zone for each of its loops" same "$(twice $n)" \
                "$(n_events tbb "kind == \"zone_begin\" && $loops") $(n_events tbb "kind == \"zone_end\" && $loops")"
        holds "TBB: no thread holds a lock that none took" same 0 "$("$HYPROF" report --locks --json "$TMPDIR/tbb.hyp" | jq .n_open_holds)"
        holds "TBB: the program's own result" same $((n * 499500)) "$(cat "$TMPDIR/tbb.out")"
        holds "TBB: nothing is lost" same "" "$(lost_events tbb)"
fi

if ! g++ -O1 tests/workloads/marks_dnnl.cpp -ldnnl -o "$TMPDIR/dnnl" 2>/dev/null; then
        skips_group "oneDNN" "libdnnl-dev is not installed"
else
        OMP_NUM_THREADS=1 record dnnl "$TMPDIR/dnnl" $n
        read_trace dnnl
        holds "oneDNN: a zone for each product" same "$(twice $n)" "$(zones dnnl matmul)"
        holds "oneDNN: the code that it compiled has names" grep -q '^code_region .* gone=0' "$TMPDIR/dnnl.dump"
        holds "oneDNN: its own result" same 512 "$(cat "$TMPDIR/dnnl.out")"
fi
