#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/install_packages.sh: installs exactly what is missing, nothing when nothing is, nothing but on Debian
set -u
fake=$TMPDIR/bin
log=$TMPDIR/log
export OS_RELEASE=$TMPDIR/os-release
unset HYPROF_NO_PACKAGES
mkdir "$fake"
n=0
echo "1..9"

# A machine whose installed packages are the words of $INSTALLED and whose user is $USER_ID.
cat >"$fake/dpkg-query" <<'EOS'
#!/bin/sh
for package in $INSTALLED; do echo "installed $package"; done
echo "config-files clang"
exit 1
EOS
printf '#!/bin/sh\necho "apt-get $*" >>"%s"\n' "$log" >"$fake/apt-get"
printf '#!/bin/sh\necho "sudo" >>"%s"\nexec "$@"\n' "$log" >"$fake/sudo"
printf '#!/bin/sh\nprintenv USER_ID\n' >"$fake/id"
chmod +x "$fake"/*
export INSTALLED='' USER_ID=0

verdict() { # name, status
        n=$((n + 1))
        if [ "$2" -eq 0 ]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1"
                sed 's/^/    /' "$log" "$TMPDIR/out"
        fi
}

run() { # group...
        : >"$log"
        PATH=$fake:$PATH sh tests/install_packages.sh "$@" >"$TMPDIR/out" 2>&1
}

echo 'ID=debian' >"$OS_RELEASE"
INSTALLED='clang libclang-rt-14-dev' run fuzz
verdict "nothing is missing: apt-get is not called" $(($? != 0 || $(wc -l <"$log") != 0))
INSTALLED='libclang-rt-14-dev' run fuzz
grep -qx 'apt-get install -q -y --no-install-recommends clang' "$log" && head -n 1 "$log" | grep -q 'apt-get update'
verdict "one is missing, removed but configured: it alone is installed, after an update" $?
run lint fuzz
[ "$(tr ' ' '\n' <"$log" | grep -cx clang)" -eq 1 ]
verdict "a package of two groups is installed once" $?
USER_ID=1000 run fuzz
[ "$(grep -c sudo "$log")" -eq 2 ]
verdict "sudo for an ordinary user" $?
USER_ID=0
printf 'ID=debian\nVERSION_CODENAME=trixie\n' >"$OS_RELEASE"
INSTALLED=clang run fuzz
grep -qx 'apt-get install -q -y --no-install-recommends libclang-rt-19-dev' "$log"
verdict "on Debian 13 the version that it has" $?
run test
n_gold=$(tr ' ' '\n' <"$log" | grep -cx binutils-gold)
echo 'ID=debian' >"$OS_RELEASE"
run test
verdict "and a package that Debian 12 has as a part of another" $((n_gold != 1 || $(grep -c binutils-gold "$log") != 0))
echo 'ID=otherlinux' >"$OS_RELEASE"
run build
verdict "on another distribution it fails" $(($? != 1))
[ ! -s "$log" ] && grep -q 'libzstd-dev' "$TMPDIR/out" && grep -q 'HYPROF_NO_PACKAGES=1' "$TMPDIR/out"
verdict "there it names the packages and installs nothing" $?
HYPROF_NO_PACKAGES=1 run build
verdict "HYPROF_NO_PACKAGES=1 goes on there" $?
