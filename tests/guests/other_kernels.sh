#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof, as it was built here, on the kernels of Debian's releases: `make check-kernels`.  Each boots in an emulated machine
# whose files are this one's, so that nothing but the kernel is another; on_kernel.sh says what must hold there.
set -u
. tests/tap.sh
suites=${HYPROF_KERNELS:-bookworm trixie}
n_there=19
plan $((n_there * $(wc -w <<<"$suites")))
[ "$(uname -m)" = x86_64 ] || skip_all "hardware: the kernels are of x86-64"
need qemu-system-x86_64 jq python3
limit_s=${HYPROF_GUEST_BOOT_S:-600}

mkdir "$TMPDIR/cache" # hyprof makes its folder in an existing one
XDG_CACHE_HOME=$TMPDIR/cache "$HYPROF" record -q -o "$TMPDIR/here.hyp" -- python3 -c 'sum(range(3000000))' >/dev/null 2>&1
is_ok() { # the line of a case there
        [[ $1 != ok* ]] || return 0
        awk -v line="$1" '/^(not )?ok / { shown = 0 } shown; $0 == line { shown = 1 }' "$TMPDIR/out"
        tail -n 5 "$TMPDIR/console"
        return 1
}
for suite in $suites; do
        guest=build/guest/x86_64-$suite
        if [ -s "$guest/missing" ]; then
                skips_group "$suite" "network: $(sed 's/^sysroot.sh: //' "$guest/missing" | paste -sd ';')"
                continue
        fi
        mkdir "$TMPDIR/$suite" && cp -r "$TMPDIR/cache" "$TMPDIR/$suite/"
        # One thread for both processors: with two, qemu 7.2 may go on with an instruction that the other one has replaced.
        timeout "$limit_s" qemu-system-x86_64 -accel tcg,thread=single -cpu max -m 3G -smp 2 -display none -no-reboot -nic none \
                -kernel "$guest/kernel" -initrd "$guest/initramfs" \
                -serial "file:$TMPDIR/console" -serial "file:$TMPDIR/out" \
                -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
                -append "console=ttyS0 quiet panic=-1 no_timer_check tree=$PWD build=$(realpath --relative-to=. "$BUILD") scratch=$TMPDIR/$suite" \
                </dev/null >"$TMPDIR/qemu" 2>&1
        tr -d '\r' <"$TMPDIR/out" >"$TMPDIR/lines"
        mv "$TMPDIR/lines" "$TMPDIR/out"
        grep '^# thread' "$TMPDIR/out"
        figure "$suite: Linux $(grep -o '[0-9][^/]*$' <<<"$(compgen -G "$guest/root/usr/lib/modules/*")")"
        mapfile -t cases < <(grep -E '^(not )?ok ' "$TMPDIR/out")
        for ((i = 0; i < n_there; i++)); do
                line=${cases[i]:-not ok: the machine ended before}
                holds "$suite: ${line#*- }" is_ok "$line"
        done
done
