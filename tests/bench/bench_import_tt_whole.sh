#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How long `hyprof import` takes for a device log of tt-metal of 449,000 rows, from the file to the trace, and in how much memory.
#
# tt-metal's own script took 35 s for a log of that length.  HYPROF_BENCH_ROWS=449000, HYPROF_BENCH_RUNS=5: medians.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n_rows=${HYPROF_BENCH_ROWS:-449000}
n_runs=${HYPROF_BENCH_RUNS:-5}
file=$folder/profile_log_device.csv

# Firmware and kernel zones of 5 processors on 64 cores, an operation after the other.
awk -v n="$n_rows" 'BEGIN {
        print "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64"
        print "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data"
        split("BRISC NCRISC TRISC_0 TRISC_1 TRISC_2", processors, " ")
        for (op = 1; rows < n; op++)
                for (core = 0; core < 64 && rows < n; core++)
                        for (p = 1; p <= 5 && rows < n; p++) {
                                t = 10000000 + op * 20000 + core * 7 + p
                                at = sprintf("0,%d,%d,%s", core % 8 + 1, int(core / 8) + 1, processors[p])
                                end = sprintf(",0,%d,,,", op * 1024)
                                where = "10,tt_metal/hw/firmware/src/brisc.cc,"
                                printf "%s,1001,%d%s%s-FW,ZONE_START,%s\n", at, t, end, processors[p], where
                                printf "%s,1002,%d%s%s-KERNEL,ZONE_START,%s\n", at, t + 500, end, processors[p], where
                                printf "%s,1002,%d%s%s-KERNEL,ZONE_END,%s\n", at, t + 9000, end, processors[p], where
                                printf "%s,1001,%d%s%s-FW,ZONE_END,%s\n", at, t + 9900, end, processors[p], where
                                rows += 4
                        }
}' >"$file"
echo "$n_rows rows, $(($(stat -c %s "$file") / 1000000)) MB"
for ((i = 0; i < n_runs; i++)); do
        command time -f '%e %U %S %M' "$HYPROF" import -q --force "$file" -o "$folder/out.hyp" 2>&1 | tail -1
done | sort -n | awk -v rows="$n_rows" '{ clock[NR] = $1; cpu[NR] = $2 + $3; if ($4 > most) most = $4 }
        END { k = int((NR + 1) / 2); printf "%.2f s  %.2f s of the processor  %.0f rows/s  %.0f MB\n", clock[k], cpu[k], rows / cpu[k], most / 1024 }'
"$HYPROF" check "$folder/out.hyp"
