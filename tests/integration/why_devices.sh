#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof why` about zones of devices: what slow kernels waited for, on the device and on the host; and about zones of
# threads that waited for devices
set -eu
. tests/tap.sh
plan 40
need jq python3 sqlite3

why() {
        "$HYPROF" why --slowest 5% "$@"
}
says_1() { # words, command...
        ends_with 1 "${@:2}" && grep -qF "$1" "$TMPDIR/err"
}
said() { # expression
        jq -r "$1" "$TMPDIR/out"
}

for plant in longer queue host; do
        record $plant --no-sampling --embed=none "$WORKLOADS/w_slow_kernels" $plant || true
done
# plant ; cause ; the zone that is named ; the sentence
while IFS=';' read -r plant cause name sentence; do
        holds "$plant: an answer" ends_with 0 why --zone gemm --json --limit 0 "$TMPDIR/$plant.hyp"
        holds "$plant: it is the reason" same "$cause high $name 400 20 400" \
                "$(said '"\(.cause) \(.confidence) \(.causes.rows[0].name) \(.instances) \(.slow_instances) \(.with_host_operation)"')"
        holds "$plant: in words" grep -qF "Slow instances $sentence (" <(said .answer)
        holds "$plant: all of the extra time" compare "$(said '.causes.rows[0].share')" '>' 0.9
        "$HYPROF" export sqlite "$TMPDIR/$plant.hyp" -o "$TMPDIR/$plant.db" --force -q
        gemm=$(sqlite3 "$TMPDIR/$plant.db" "SELECT id FROM locations WHERE name = 'gemm'")
        holds "$plant: as the begins and ends of all zones say" python3 tests/tools/device_waits.py "$TMPDIR/$plant.db" "$gemm" <"$TMPDIR/out"
done <<'END'
longer;device;;themselves run longer on the device
queue;queue;copy;wait for earlier work on their lane, 'copy'
host;host;fetch;begin late: their lane was idle while the host was in the zone 'fetch'
END
holds "formats: the same rows" python3 tests/tools/compare_formats.py "$HYPROF" why --zone gemm --slowest 5% "$TMPDIR/queue.hyp"

# ---- which zones are meant
holds "a zone of threads" ends_with 0 why --zone launch --json --limit 0 "$TMPDIR/queue.hyp"
holds "is one" same null "$(said .instances_of)"
cat >"$TMPDIR/both.csv" <<'END'
name,process,thread,begin_us,duration_us,device,lane
work,1,1,1000,10,,
work,,,1000,10,gpu 0,3
work,,,2000,10,gpu 0,3
END
"$HYPROF" import -q "$TMPDIR/both.csv" -o "$TMPDIR/both.hyp"
holds "where both fit, those of threads are compared" ends_with 0 why --zone work --json --limit 0 "$TMPDIR/both.hyp"
holds "and the others are mentioned" same "1 2 zones of devices fit as well, and are left out: --devices compares these" \
        "$(said '"\(.instances) \(.warnings[] | select(test("devices")))"')"
holds "--devices: those of devices" ends_with 0 why --zone work --devices --json --limit 0 "$TMPDIR/both.hyp"
holds "which are two" same "devices 2" "$(said '"\(.instances_of) \(.instances)"')"
holds "--devices: a name that devices do not have" ends_with 1 why --devices --zone launch "$TMPDIR/queue.hyp"
holds "is said, with a near one if there is one" same "hyprof: error: no zone of a device is called 'launch'" "$(head -n 1 "$TMPDIR/err")"
for view in path "report --devices"; do
        # shellcheck disable=SC2086 # its words
        holds "$view: a zone of devices alone leads to why" says_1 "but devices do: hyprof why --zone compares those" \
                "$HYPROF" $view --zone gemm "$TMPDIR/queue.hyp"
done
holds "--by: they have wall time only" ends_with 2 why --zone gemm --by own "$TMPDIR/queue.hyp"

# ---- another tool's file
zstd -qdf tests/data/import/tt/profile_log_device.csv.zst -o "$TMPDIR/log.csv"
"$HYPROF" import -q "$TMPDIR/log.csv" -o "$TMPDIR/log.hyp"
holds "a device's log: no cause stands out" same "none 80 0" \
        "$(why --zone BRISC-KERNEL --json --limit 0 "$TMPDIR/log.hyp" | jq -r '"\(.cause) \(.instances) \(.with_host_operation)"')"

# ---- a thread that waits for the device
says() { # regular expression
        grep -qE "$1" <(said .answer) || { said .answer && return 1; }
}
row() {
        jq -r '.wakers.rows[0] | "\(.doing) \(.meanwhile) \(.device)"' "$TMPDIR/out"
}
if ! "$HYPROF" doctor >"$TMPDIR/doctor" 2>&1; then
        skips_group "a thread that waits for the device" "no switches: $(grep -m 1 '^ *no ' "$TMPDIR/doctor")"
        exit
fi
# Other programs that have the CPUs would make other instances the slow ones.
priority=(chrt -r 10)
chrt -r 10 true 2>/dev/null || priority=()
while IFS=';' read -r reason sentence wakers; do
        record "$reason" --off-cpu --embed=none "${priority[@]}" "$WORKLOADS/w_device_waits" "$reason" || true
        holds "$reason: an answer" ends_with 0 why --zone frame --json --limit 0 "$TMPDIR/$reason.hyp"
        holds "$reason: in words" says "$sentence"
        if [ -n "$wakers" ]; then
                holds "$reason: the wakers" same "$wakers" "$(row)"
        else
                holds "$reason: no device" same "" "$(said '.answer | select(test("gpu"))')"
        fi
done <<'END'
kernel;^Slow instances (probably )?wait in [a-z_]+\(\).* for matmul on gpu;device matmul gpu
queue;^Slow instances (probably )?wait in [a-z_]+\(\).* for gpu, which did earlier work in its queue: copy;queue copy gpu
poll;^Slow instances (probably )?wait in [a-z_]+\(\).* for matmul on gpu;device matmul gpu
own;^Slow instances (probably )?run compute\(\);
END
