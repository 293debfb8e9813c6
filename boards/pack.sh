#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Packs what a board needs into one tar file.  Usage: pack.sh BUILD PREFIX VERSION
#
# BUILD is a folder of the Makefile (build/riscv64-board), PREFIX that of the target's tools (riscv64-linux-gnu-, or
# nothing), and the file is BUILD/hyprof-VERSION-MACHINE.tar.gz: bin/hyprof, lib/, include/ and a README.  Without debug
# information, which stays in BUILD; `hyprof symbolize` finds it by build-id.  bin/hyprof is also boards/hyprof-MACHINE
# beside BUILD, where `hyprof record --on` finds it.  The last line of output is the file's path.
set -euo pipefail

build=${1:?} prefix=${2-} version=${3:?}
bytes_max=8388608

machine=$(LC_ALL=C "${prefix}readelf" -h "$build/hyprof" | sed -n 's/^ *Machine: *//p')
case $machine in
*X86-64*) machine=x86_64 ;;
AArch64) machine=aarch64 ;;
RISC-V) machine=riscv64 ;;
*) echo "pack.sh: $build/hyprof is for $machine, which hyprof does not know" >&2; exit 1 ;;
esac
name=hyprof-$version-$machine
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/$name

mkdir -p "$root"/{bin,lib,include}
"${prefix}strip" -o "$root/bin/hyprof" "$build/hyprof"
for library in hyprof hyprof_tracy hyprof_tracy_0.13 hyprof_tracy_ondemand; do
        "${prefix}strip" --strip-unneeded -o "$root/lib/lib$library.so" "$build/lib$library.so"
        soname=$("${prefix}readelf" -d "$root/lib/lib$library.so" | sed -n 's/.*SONAME.*\[\(.*\)\]$/\1/p')
        ln -s "lib$library.so" "$root/lib/$soname"
        "${prefix}strip" --strip-debug -o "$root/lib/lib$library.a" "$build/lib$library.a"
done
"${prefix}strip" --strip-debug -o "$root/lib/libhyprof_iree.a" "$build/libhyprof_iree.a"
cp -r instrument/client/include/hyprof "$root/include/"
cp LICENSE "$root/"
cat > "$root/README" <<EOT
hyprof $version for Linux on $machine.

  bin/hyprof record -o app.hyp -- ./app      record; nothing needs to be installed
  bin/hyprof report app.hyp                  or read app.hyp on another machine, where the program's debug files are
  bin/hyprof doctor                          which of hyprof's abilities this kernel and user have

lib/ and include/ are for programs with zones: -Iinclude -Llib -lhyprof.  lib/libhyprof_iree.a is the provider for IREE.
EOT

# The same bytes each time, for the same inputs.
file=$build/$name.tar.gz
tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime='2000-01-01 UTC' -C "$scratch" "$name" | gzip -9n > "$file.new"
n_bytes=$(stat -c %s "$file.new")
if [ "$n_bytes" -gt "$bytes_max" ]; then
        echo "pack.sh: $file would have $n_bytes bytes, more than $bytes_max" >&2
        rm -f "$file.new"
        exit 1
fi
mv "$file.new" "$file"
mkdir -p "$build/../boards"
install -m 755 "$root/bin/hyprof" "$build/../boards/hyprof-$machine.new"
mv "$build/../boards/hyprof-$machine.new" "$build/../boards/hyprof-$machine"
echo "$file"
