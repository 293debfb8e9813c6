#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes what an emulated machine boots from, of Debian's packages alone.  Usage: image.sh TARGET [BUILD]
#
# TARGET is riscv64 or aarch64; or x86_64-SUITE, a kernel of that release that runs this machine's own programs: there is
# only `kernel` and `initramfs` then.  In build/guest/TARGET: `root`, the unpacked packages, which is the SYSROOT that hyprof and
# its tests are compiled with as well; `system.ext4`, the guest's disk; `kernel`, `initramfs`, and `key`, with which ssh
# enters.  With BUILD, a folder of the Makefile, `work.ext4` too: the tree as a test needs it, with what was built there.
# Runs no program of the target, and needs no root.  The packages are those of BOARD_SUITE, or without it of the first
# release in a list that can be fetched.  Where none can be, it ends well and `missing` says why.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${1:?} build=${2-}
guest=build/guest/$target
root=$guest/root
case $target in
riscv64) debian=riscv64 kernel=riscv64 ;;
aarch64) debian=arm64 kernel=arm64 ;;
x86_64-*) debian=amd64 kernel=amd64 ;;
*) echo "image.sh: $target is not a machine that hyprof knows" >&2; exit 2 ;;
esac
# All that programs, tests and ssh need there.  Debian 13's kernel: the first release that has RISC-V.
packages=(check gcc "linux-image-$kernel" linux-perf busybox-static bash coreutils grep gawk sed findutils procps util-linux kmod
        dropbear-bin binutils libubsan1 libatomic1 jq python3-minimal openssh-client diffutils file
        strace bsdextrautils xxd xz-utils)
modules=(crc32c_generic virtio_blk ext4 virtio_net virtio_rng 9p 9pnet_virtio)
first=first_steps
suites=${BOARD_SUITE:-trixie forky}
if [ "$debian" = amd64 ]; then
        packages=(linux-image-amd64 busybox-static)
        modules=(virtio_pci 9p 9pnet_virtio overlay)
        first=first_shared_steps suites=${target#*-}
fi

# Each module after those that it needs: its own words say which.
add_module() { # name
        local file needed name
        [ ! -e "$scratch/initramfs/modules/$1.ko" ] || return 0
        file=$(find "$root/usr/lib/modules" -name "${1//_/[-_]}.ko" -o -name "${1//_/[-_]}.ko.xz" | head -n 1)
        [ -n "$file" ] || return 0 # built into the kernel
        xz -dcf "$file" >"$scratch/module.$1"
        needed=$(tr '\0' '\n' <"$scratch/module.$1" | sed -n 's/^depends=//p' | tr ',-' ' _')
        for name in $needed; do add_module "$name"; done
        mv "$scratch/module.$1" "$scratch/initramfs/modules/$1.ko"
        echo "$1" >>"$scratch/initramfs/modules/order"
}

make_initramfs() {
        local name
        mkdir -p "$scratch/initramfs"/{bin,modules,dev,proc,new}
        cp "$root/usr/bin/busybox" "$scratch/initramfs/bin/"
        : >"$scratch/initramfs/modules/order"
        for name in "${modules[@]}"; do add_module "$name"; done
        cp "tests/guests/$first" "$scratch/initramfs/init"
        (cd "$scratch/initramfs" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$guest/initramfs.new"
        mv "$guest/initramfs.new" "$guest/initramfs"
}

make_disk() { # image, folder
        local kilobytes
        kilobytes=$(du -sk --apparent-size "$2" | cut -f 1)
        rm -f "$1.new"
        mke2fs -q -t ext4 -E lazy_itable_init=1,root_owner=0:0 -O ^has_journal -N 60000 -d "$2" "$1.new" "$((kilobytes * 5 / 4 + 400000))k"
        mv "$1.new" "$1"
}

make_system() {
        local system=$scratch/system
        mkdir "$system"
        tar -C "$root" --exclude=./boot --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale \
                --exclude=./usr/lib/modules --no-wildcards-match-slash --exclude='./usr/lib/*-linux-gnu/*.a' --exclude=./.made-of -c . |
                tar -C "$system" -x --no-same-owner
        cp "$root"/usr/lib/*-linux-gnu/libc_nonshared.a "$(echo "$system"/usr/lib/*-linux-gnu)"
        mkdir -p "$system"/{dev,proc,sys,tmp,run,root/.ssh,tree,share,etc/dropbear,var/empty}
        cp -r tests/guests/etc/. "$system/etc/"
        chmod 755 "$system/etc/start"
        ln -sfn busybox "$system/usr/sbin/init.tmp"
        ln -sfn ../bin/busybox "$system/usr/sbin/init" && rm "$system/usr/sbin/init.tmp"
        ln -sfn bash "$system/usr/bin/sh"
        ln -sfn gawk "$system/usr/bin/awk"
        chmod 700 "$system/root" "$system/root/.ssh"
        cp "$guest/key.pub" "$system/root/.ssh/authorized_keys"
        make_disk "$guest/system.ext4" "$system"
}

make_work() {
        local work=$scratch/work
        mkdir -p "$work/$build"
        cp -r --preserve=mode,timestamps tests examples docs instrument boards "$work/"
        (cd "$build" && cp -r --preserve=mode,timestamps -t "$OLDPWD/$work/$build" hyprof lib*.so tests workloads examples tools fuzz 2>/dev/null) || true
        make_disk "$guest/work.ext4" "$work"
}

# Releases of Debian are tried in turn: an index on a mirror can be broken for a while.
fetch_packages() {
        local suite status why needed=()
        # shellcheck disable=SC2207 # a list of words
        [ "$debian" = amd64 ] || needed=($(tests/install_packages.sh --list build | tr ' ' '\n' | grep -- '-dev$' | grep -v python))
        : >"$guest/missing"
        for suite in $suites; do
                [ ! -s "$guest/missing" ] || echo "image.sh: trying Debian $suite instead" >&2
                status=0
                why=$(boards/sysroot.sh "$debian" "$suite" "$root" "${needed[@]}" "${packages[@]}" 2>&1) || status=$?
                [ $status -ne 0 ] || { rm "$guest/missing"; return 0; }
                printf '%s\n' "$why" | tee -a "$guest/missing" >&2
                [ $status -eq 69 ] || { rm "$guest/missing"; exit $status; }
        done
        exit 0
}

mkdir -p "$guest"
# With BUILD they are those that were fetched before it was compiled.
if [ -z "$build" ] || [ ! -e "$root/.made-of" ]; then fetch_packages; fi
scratch=$(mktemp -d -p "$guest")
trap 'rm -rf "$scratch"' EXIT
made=$guest/system.ext4
[ "$debian" != amd64 ] || made=$guest/initramfs
[ "$debian" = amd64 ] || [ -e "$guest/key" ] || ssh-keygen -q -t ed25519 -N '' -C hyprof-guest -f "$guest/key"
if [ "$made" -ot "$root/.made-of" ] || [ -n "$(find tests/guests -newer "$made" -print -quit)" ]; then
        # Newer packages have it beside its modules.
        image=$(compgen -G "$root/boot/vmlinu*" || compgen -G "$root/usr/lib/modules/*/vmlinu*")
        cp "$image" "$guest/kernel"
        make_initramfs
        [ "$debian" = amd64 ] || make_system
fi
[ -z "$build" ] || make_work
