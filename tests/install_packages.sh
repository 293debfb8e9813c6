#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what is missing on Debian 12 or 13 for: build, test, mpi, wheel, consumers, lint, fuzz, bench, deb, board, guest, kernels, debian13, bare.
# Usage: install_packages.sh GROUP..., or install_packages.sh --list GROUP... to print their names alone
#
# The one list of the packages; docs/extend/dependencies.md says what each is for.  Quick when nothing is missing.
# HYPROF_NO_PACKAGES=1 leaves the machine alone: for other distributions once their packages are there.
set -eu

packages_of() {
        case $1 in
        build) echo gcc g++ libc6-dev make pkg-config libelf-dev libdw-dev libzstd-dev zlib1g-dev liblzma-dev libxxhash-dev \
                    libjansson-dev libsqlite3-dev libiberty-dev libpfm4-dev libbpf-dev libcap-dev libseccomp-dev libmicrohttpd-dev libncurses-dev libllvm16 python3-dev clang xz-utils ;;
        test)  echo "check linux-perf binutils clang llvm-14 llvm-14-runtime lld dwz xz-utils elfutils \
                    debuginfod libdebuginfod1 curl jq gdb python3 python3-jsonschema git sqlite3 libcap2-bin strace postgresql libomp-dev libtbb-dev libdnnl-dev man-db mandoc bash-completion zsh fish \
                    golang-go protobuf-compiler valgrind cmake meson chromium firefox-esr nodejs musl-tools \
                    $(packages_of wheel) python3-venv python3-pytest python3-greenlet python3-numpy python3-flask python3-coverage \
                    openssh-server openssh-client liblua5.4-dev \
                    libegl-dev libgl-dev libopengl-dev libegl-mesa0 libgl1-mesa-dri libvulkan-dev mesa-vulkan-drivers" ;;
        mpi)   echo mpich libmpich-dev ;;
        wheel) echo python3-setuptools python3-wheel python3-pip ;;
        # Programs that open hyprof's exports.  Node.js of another source brings its own npm, and does not go with Debian's.
        consumers) echo chromium; command -v npm >/dev/null || echo npm ;;
        lint)  echo node-typescript clang clang-format clang-tidy cppcheck shellcheck codespell check python3 pyflakes3 mypy ;;
        fuzz)  echo clang libclang-rt-14-dev ;;
        bench) echo libunwind-dev libtbb-dev linux-perf jq time python3 git sqlite3 clang chromium nodejs ;;
        deb)   echo build-essential dpkg-dev debhelper dh-python fakeroot lintian ;;
        board) echo "$(packages_of board-riscv64) $(packages_of board-aarch64) qemu-user-static" ;;
        guest) echo "$(packages_of guest-riscv64) $(packages_of guest-aarch64)" ;;
        guest-riscv64) echo "qemu-system-misc opensbi $(packages_of guest-any) g++-riscv64-linux-gnu $(packages_of board-riscv64)" ;;
        guest-aarch64) echo "qemu-system-arm $(packages_of guest-any) g++-aarch64-linux-gnu $(packages_of board-aarch64)" ;;
        kernels) echo qemu-system-x86 cpio xz-utils debian-archive-keyring ;;
        guest-any) echo cpio e2fsprogs openssh-client util-linux ;;
        debian13 | bare) echo debootstrap debian-archive-keyring ;;
        # The C library that a static hyprof is linked with is the cross compiler's, which is only recommended by it.
        board-riscv64) echo gcc-riscv64-linux-gnu libc6-dev-riscv64-cross clang debian-archive-keyring ;;
        board-aarch64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross clang debian-archive-keyring ;;
        *)     echo "install_packages.sh: no group of packages is named $1" >&2; exit 2 ;;
        esac
}

# Packages of npm, with the versions and checksums of tests/consumers/package-lock.json, into build/consumers: nothing of them
# runs while they are installed.  Where that fails, tests that need them are skipped and say so.
install_consumers() {
        case " $* " in *" consumers "*) ;; *) return 0 ;; esac
        folder=$(dirname "$0")/consumers
        place=$(dirname "$0")/../build/consumers
        cmp -s "$folder/package-lock.json" "$place/installed-lock.json" && return 0
        command -v npm >/dev/null || return 0
        mkdir -p "$place"
        cp "$folder/package.json" "$folder/package-lock.json" "$place"
        echo "Installing what opens exports: npm ci in build/consumers"
        if npm ci --prefix "$place" --ignore-scripts --no-audit --no-fund --loglevel=error; then
                cp "$folder/package-lock.json" "$place/installed-lock.json"
        else
                echo "npm ci failed: tests of exports will be skipped" >&2
        fi
}

lists=0
if [ "${1:-}" = --list ]; then
        lists=1
        shift
fi
[ "${HYPROF_NO_PACKAGES:-0}" = 1 ] && [ $lists = 0 ] && exit 0
wanted=
for group in "$@"; do
        wanted="$wanted $(packages_of "$group")"
done
if [ $lists = 1 ]; then
        echo "$wanted"
        exit 0
fi

distribution=$(sed -n 's/^ID=//p' "${OS_RELEASE:-/etc/os-release}" 2>/dev/null | tr -d '"' || true)
if [ "$distribution" != debian ]; then
        {
                echo "This is not Debian, so nothing is installed.  hyprof needs what Debian 12 calls:"
                echo " $wanted"
                echo "Install these by hand, then say: HYPROF_NO_PACKAGES=1 make ..."
        } >&2
        exit 1
fi

# Debian 13 has other versions of some in their names, and ld.gold in a package of its own.
release=$(sed -n 's/^VERSION_CODENAME=//p' "${OS_RELEASE:-/etc/os-release}" | tr -d '"')
[ "$release" != trixie ] ||
        wanted=$(echo "$wanted" | sed 's/libllvm16/libllvm19/; s/llvm-14/llvm-19/g; s/libdebuginfod1/libdebuginfod1t64/; s/libclang-rt-14-dev/libclang-rt-19-dev/; s/ binutils / binutils binutils-gold /')

# shellcheck disable=SC2086 # a list of words
present=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p' | tr '\n' ' ')
missing=
for package in $wanted; do
        case " $present $missing " in
        *" $package "*) ;;
        *) missing="$missing $package" ;;
        esac
done
if [ -z "$missing" ]; then
        install_consumers "$@"
        exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        if ! command -v sudo >/dev/null; then
                echo "Packages are missing and there is no sudo; as root:  apt-get install$missing" >&2
                exit 1
        fi
fi
echo "Installing:$missing"
# Tests start an sshd of their own: the machine does not become a server by them.
case " $missing " in
*" openssh-server "*)
        if command -v systemctl >/dev/null && $as_root systemctl mask -q ssh.service ssh.socket 2>/dev/null; then
                echo "ssh.service is masked; systemctl unmask ssh.service ssh.socket ends that"
        fi ;;
esac
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
install_consumers "$@"
