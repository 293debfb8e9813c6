#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of recording programs that start other programs, beside perf record -g in the same rounds.
#
# Five of these: /bin/true 400 times, `make -j2` of 12 and of 48 small C files, a configure-like script, a shell's test
# suite.  hyprof has the unwind tables of its round before, as users have from their second recording on; "no cache"
# makes them anew.  "perf -a" is perf record -a -g: without -a, perf's clock of each process begins anew with it, and a
# process that ends within a millisecond has no sample.  Sides alternate, medians of HYPROF_BENCH_RUNS (7); each side's own
# start and end are not in it: what is timed is the command inside.  "samples" are those of the last round, without idle
# CPUs; at 997 Hz there should be about as many as the programs took milliseconds of CPU.  Then what the wake-ups are for: how many kernels in files that are deleted at once kept their names and stacks,
# alone and while programs are started beside.
set -u
cd "$(dirname "$0")/../.." || exit 2
folder=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT
n_runs=${HYPROF_BENCH_RUNS:-7}
HYPROF=$(realpath "$HYPROF") WORKLOADS=$(realpath "$WORKLOADS")

"$HYPROF" doctor >"$folder/doctor" 2>&1 || { echo "left out: $(grep -m 1 '^ *no ' "$folder/doctor")" && exit 0; }
sides=(bare hyprof 'no cache')
if command -v perf >/dev/null && perf record -q -B -e cpu-clock -o "$folder/try" true >/dev/null 2>&1; then
        sides+=(perf 'perf -a')
else
        echo "perf is left out: it is not installed, or may not record"
fi

# Prints its wall and processor time, also that of what it started.
cat >"$folder/timed.c" <<'END'
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
extern char **environ;
static double now(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
int main(int argc, char **argv)
{
        double begin = now(), end;
        struct rusage used;
        pid_t pid;
        int status = 1;

        for (int i = atoi(argv[2]); i > 0; i--)
                if (posix_spawnp(&pid, argv[3], NULL, NULL, argv + 3, environ) != 0 || waitpid(pid, &status, 0) != pid || status != 0)
                        return 1;
        end = now();
        getrusage(RUSAGE_CHILDREN, &used);
        FILE *out = fopen(argv[1], "a");
        fprintf(out, "%.6f %.6f\n", end - begin, (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
        return argc < 4 || fclose(out) != 0;
}
END
gcc -O2 "$folder/timed.c" -o "$folder/timed" || exit 1

export HYPROF_CACHE_DIR=$folder/cache

mkdir "$folder/small"
for ((i = 0; i < 48; i++)); do
        printf '#include <stdio.h>\nint f%d(int x) { return printf("%%d", x * %d); }\n' $i $i >"$folder/small/f$i.c"
done
printf 'few: %s\nmany: %s\n%%.o: %%.c\n\tgcc -O1 -c $< -o $@\n' "$(printf 'f%d.o ' {0..11})" "$(printf 'f%d.o ' {0..47})" >"$folder/small/Makefile"
# shellcheck disable=SC2016 # the script's own
printf '#!/bin/sh\nrm -f %s/small/*.o && exec make -s -j2 -C %s/small "$1"\n' "$folder" "$folder" >"$folder/make_small"

# As configure scripts do: a file is compiled and run for each question, sed and expr beside.
cat >"$folder/configure" <<'END'
#!/bin/sh
cd "$(dirname "$0")" || exit 1
for header in stdio stdlib string unistd errno fcntl signal time; do
        echo "#include <$header.h>" >conftest.c
        echo "int main(void) { return 0; }" >>conftest.c
        gcc conftest.c -o conftest && ./conftest || exit 1
        name=$(echo "have_$header" | sed 'y/abcdefghijklmnopqrstuvwxyz/ABCDEFGHIJKLMNOPQRSTUVWXYZ/')
        expr "$name" : 'HAVE_.*' >/dev/null && echo "#define $name 1" >>config.h
        rm -f conftest conftest.c
done
rm -f config.h
END

cat >"$folder/suite" <<'END'
#!/bin/sh
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        [ "$(echo "$i" | sed 's/^/x/' | cut -c 2-)" = "$i" ] || exit 1
        printf '%s\n' b a | sort | head -n 1 | grep -q a || exit 1
        test "$(basename /a/b.c .c)" = b || exit 1
done
END
chmod +x "$folder/make_small" "$folder/configure" "$folder/suite"

under() { # side, command...
        local side=$1
        shift
        case $side in
        bare)   "$@" ;;
        'no cache') HYPROF_CACHE_DIR='' "$HYPROF" record -q --no-symbolize -o "$folder/t.hyp" -- "$@" ;;
        hyprof) "$HYPROF" record -q --no-symbolize -o "$folder/t.hyp" -- "$@" ;;
        perf)   perf record -q -B -F 997 -g -o "$folder/t.data" -- "$@" ;;
        'perf -a') perf record -q -B -a -F 997 -g -o "$folder/t.data" -- "$@" ;;
        esac >/dev/null 2>"$folder/said" </dev/null || { echo "$side failed: $(tail -n 1 "$folder/said")" >&2 && exit 1; }
}

median() { # column, file
        awk -v c="$1" '{ print $c }' "$2" | sort -n | awk '{ v[NR] = $1 } END { print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2) }'
}

# In the trace of the side that ran last.
count_samples() { # side
        case $1 in
        bare)   echo - ;;
        perf*)  perf script -F comm -i "$folder/t.data" 2>/dev/null | grep -cvE '^(swapper|:0)|^$' ;;
        *)      "$HYPROF" report --json --limit 0 "$folder/t.hyp" | jq .n_samples ;;
        esac
}

printf '\n%-22s %-8s %10s %9s %10s %9s %8s\n' "" "" "wall ms" "" "CPU ms" "" samples
compare() { # words, times, command...
        local words=$1 side run
        local -A samples
        rm -f "$folder"/*.times
        for ((run = 0; run <= n_runs; run++)); do
                for side in "${sides[@]}"; do
                        under "$side" "$folder/timed" "$folder/$side.times" "${@:2}"
                        [ "$run" -lt "$n_runs" ] || samples[$side]=$(count_samples "$side")
                done
                [ "$run" -gt 0 ] || rm -f "$folder"/*.times # the first round warms up
        done
        for side in "${sides[@]}"; do
                paste -d ' ' "$folder/$side.times" "$folder/bare.times" >"$folder/pairs"
                awk -v words="$words" -v side="$side" -v samples="${samples[$side]}" -v wall="$(median 1 "$folder/pairs")" -v cpu="$(median 2 "$folder/pairs")" \
                        -v bare_wall="$(median 3 "$folder/pairs")" -v bare_cpu="$(median 4 "$folder/pairs")" 'BEGIN {
                        printf "%-22s %-8s %10.1f %+8.1f%% %10.1f %+8.1f%% %8s\n", words, side, wall * 1000,
                                100 * (wall / bare_wall - 1), cpu * 1000, 100 * (cpu / bare_cpu - 1), samples }'
                words=""
        done
}
compare "/bin/true, 400 times" 400 /bin/true
compare "make -j2, 12 files" 1 "$folder/make_small" few
compare "make -j2, 48 files" 1 "$folder/make_small" many
compare "configure" 1 "$folder/configure"
compare "shell tests" 1 "$folder/suite"
echo "target: hyprof's wall time at most perf's + 4 points"

# ------------------------------------------------------------- kernels that are deleted at once

cc -O2 -g -shared -fPIC -fno-omit-frame-pointer -Wl,--build-id=none -o "$folder/template.so" tests/workloads/kernel_template.c || exit 1
cat >"$folder/beside" <<'END'
#!/bin/sh
while :; do /bin/true; ./small.sh; done &
sleep "${BEGINS:-0}"
"$@"
status=$?
kill $!
exit $status
END
chmod +x "$folder/beside"
kernels() { # words, milliseconds each, command in front...
        local late cut
        TMPDIR=$folder "$HYPROF" record -q -F 2000 -o "$folder/k.hyp" -- "${@:3}" \
                "$WORKLOADS/w_kernel_turns" "$folder/template.so" 500 "$2" >"$folder/k.log" 2>&1
        "$HYPROF" report --json --limit 0 --process w_kernel_turns "$folder/k.hyp" | jq -r '
                def count($code): [.missing.rows[] | select(.code == $code) | .count] | add // 0;
                "\(count("CODE_TOO_LATE")) \(count("STACK_TABLE_LATE"))"' >"$folder/counts"
        read -r late cut <"$folder/counts"
        printf '%-46s %8s %8s  %s\n' "$1" "$late" "$cut" \
                "$("$HYPROF" report --process w_kernel_turns "$folder/k.hyp" | sed -n 's/^ *stacks  *\([^(,]*complete\).*/\1/p')"
}
printf '\n%-46s %8s %8s  %s\n' "500 kernels in files that are deleted once loaded" "too late" "no table" "stacks"
kernels "2 ms each, alone" 2
kernels "1 ms each, alone" 1
cd "$folder" && printf '#!/bin/sh\n/bin/true\n' >small.sh && chmod +x small.sh
kernels "2 ms each, while programs are started beside" 2 "$folder/beside"
kernels "1 ms each, while programs are started beside" 1 "$folder/beside"
export BEGINS=0.5
kernels "1 ms each, begun half a second after these" 1 "$folder/beside"
