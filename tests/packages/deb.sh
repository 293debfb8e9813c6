#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Debian packages of `make deb`: lintian is content, they install, work, are found by builds, and leave nothing when purged
#
# They are installed by dpkg into a folder of this test, with a list of packages of its own: the machine stays as it is.
set -u
. tests/tap.sh
. tests/hello_zones.sh
plan 23
need dpkg dpkg-deb lintian
need_sampling
shopt -s nullglob
packages=(build/deb/*.deb)
[ ${#packages[@]} -gt 0 ] || skip_all "there are no packages in build/deb: make deb makes them"
ROOT=$TMPDIR/root
PREFIX=/usr
LIBDIR=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)

as_root=()
if [ "$(id -u)" -ne 0 ]; then
        need fakeroot
        as_root=(fakeroot -i "$TMPDIR/owners" -s "$TMPDIR/owners")
        : >"$TMPDIR/owners"
fi

# Scripts of packages run here, and not in the folder, which has no shell.
in_root() { # of dpkg
        PATH="$TMPDIR/aid:$PATH" "${as_root[@]}" dpkg --root="$ROOT" --force-not-root --force-depends --force-bad-path \
                --force-script-chrootless --log=/dev/null "$@"
}
# The scripts of python3-hyprof and python3-hyprof-tracy call these: bytecode is made and removed in the folder.
mkdir "$TMPDIR/aid"
cat >"$TMPDIR/aid/py3compile" <<'END'
#!/bin/sh
for module in hyprof tracy; do
        folder=${DPKG_ROOT:?}/usr/lib/python3/dist-packages/$module
        [ ! -d "$folder" ] || /usr/bin/python3 -m compileall -q "$folder" || exit
done
END
cat >"$TMPDIR/aid/py3clean" <<'END'
#!/bin/sh
exec find "${DPKG_ROOT:?}/usr/lib/python3/dist-packages" -depth -name __pycache__ -exec rm -r '{}' +
END
chmod 755 "$TMPDIR/aid"/*

install_them() {
        mkdir -p "$ROOT/var/lib/dpkg"/{info,updates,triggers} && : >"$ROOT/var/lib/dpkg/status" || return 1
        in_root --install "${packages[@]}"
}

# -dbgsym packages beside the five.
names_are() { printf '%s\n' "${packages[@]##*/}" | sed 's/_.*//' | grep -v -e -dbgsym | sort | paste -sd ' '; }

version_is() {
        local package
        for package in "${packages[@]}"; do
                same "$(sed -n 's/^VERSION *:= *//p' Makefile)" "$(dpkg-deb -f "$package" Version)" || return 1
        done
}

library_path() { LD_LIBRARY_PATH=$ROOT$LIBDIR "$@"; }

says_its_version() { library_path "$ROOT$PREFIX/bin/hyprof" --version | grep -F "hyprof $(dpkg-deb -f "${packages[0]}" Version)"; }

hardened() {
        local header
        header=$(readelf -hldW "$ROOT$PREFIX/bin/hyprof")
        grep -q 'Type: *DYN' <<<"$header" && grep -q GNU_RELRO <<<"$header" && grep -q 'BIND_NOW' <<<"$header"
}

manual_is_read() { [ -n "$(man -l "$ROOT/usr/share/man/man1/hyprof-record.1.gz")" ]; }

# The system's interpreter with the folder's package, and the folder's recorder.
packages_folder=$ROOT/usr/lib/python3/dist-packages
python_there() { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$packages_folder HYPROF=$TMPDIR/recorder "$@"; }
printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" "$@"\n' "$ROOT$LIBDIR" "$ROOT$PREFIX/bin/hyprof" >"$TMPDIR/recorder"
chmod 755 "$TMPDIR/recorder"
printf 'import hyprof\ndef planted(): pass\nplanted()\nassert hyprof.is_recording()\nprint(hyprof.__file__)\n' \
        >"$TMPDIR/script.py"
python_imports() {
        same "$packages_folder/hyprof/__init__.py" "$(python_there /usr/bin/python3 -c 'import hyprof; print(hyprof.__file__)')"
}
python_has_bytecode() { [ -n "$(find "$packages_folder/hyprof" -name '_command*.pyc')" ]; }
python_records() { # command...
        rm -rf "$TMPDIR/recorded" && python_there "$@" -o "$TMPDIR/recorded" "$TMPDIR/script.py" >"$TMPDIR/out" || return 1
        same "$packages_folder/hyprof/__init__.py" "$(cat "$TMPDIR/out")" &&
                "$HYPROF" report --zones --csv "$TMPDIR/recorded/hyprof.hyp" | grep planted
}
python_says_versions() {
        dpkg-deb -f build/deb/python3-hyprof_*.deb Depends | grep -E 'python3 \(<< 3\.[0-9]+\), python3 \(>= 3\.[0-9]+~\)'
}
python_manual_is_read() { man -l "$ROOT/usr/share/man/man1/hyprof-python.1.gz" | grep -e --check-exit-code; }

tracy_imports() {
        same "$packages_folder/tracy/__init__.py True" "$(python_there /usr/bin/python3 -c 'import hyprof.compat.tracy, tracy, tracy.common
print(tracy.__file__, tracy.signpost is hyprof.compat.tracy.signpost)')"
}
tracy_is_no_other() {
        local deb=(build/deb/python3-hyprof-tracy_*_all.deb)
        same "python3-tracy" "$(dpkg-deb -f "${deb[0]}" Conflicts)" && same "" "$(dpkg-deb -f "${deb[0]}" Provides Replaces)"
}

# Each page of docs leads to files that the package has.
links_lead() {
        local page link broken=""
        while read -r page; do
                while read -r link; do
                        case $link in http*) continue ;; esac
                        [ -e "${page%/*}/$link" ] || broken+="${page##*/}: $link"$'\n'
                done < <(sed 's/\x60[^\x60]*\x60//g' "$page" | grep -oE '\]\([^)# ]+' | sed 's/^](//')
        done < <(find "$ROOT/usr/share/doc/hyprof/docs" -name '*.md')
        same "" "$broken" && [ -s "$ROOT/usr/share/doc/hyprof/docs/use/view-json.md" ]
}

purged() {
        local names
        mapfile -t names < <(printf '%s\n' "${packages[@]##*/}" | sed 's/_.*//')
        in_root --purge "${names[@]}" || return 1
        # The folders that dpkg keeps its own lists in.
        rm -rf "$ROOT/var/lib/dpkg"
        find "$ROOT" -not -type d | grep . && return 1
        same "" "$(find "$ROOT" -mindepth 1 -type d -iname '*hyprof*')"
}

holds "lintian finds no error and no warning" lintian --no-cfg --fail-on error,warning --profile debian build/deb/*.changes
holds "the packages are hyprof, libhyprof1, libhyprof-dev, python3-hyprof and python3-hyprof-tracy" \
        same "hyprof libhyprof-dev libhyprof1 python3-hyprof python3-hyprof-tracy" "$(names_are)"
holds "their version is the Makefile's" version_is
holds "dpkg installs them" install_them
holds "hyprof --version" says_its_version
holds "hyprof is position-independent, with full RELRO" hardened
holds "hyprof doctor" library_path "$ROOT$PREFIX/bin/hyprof" doctor
holds "a manual" manual_is_read
holds "python3-hyprof: import hyprof" python_imports
holds "python3-hyprof: python3 -m hyprof" python_records /usr/bin/python3 -m hyprof
holds "python3-hyprof: hyprof-python" python_records "$ROOT/usr/bin/hyprof-python"
holds "python3-hyprof: bytecode was made when it was installed" python_has_bytecode
holds "python3-hyprof: it depends on the CPython that it was built for" python_says_versions
holds "python3-hyprof: a manual" python_manual_is_read
holds "python3-hyprof-tracy: import tracy finds hyprof's functions" tracy_imports
holds "python3-hyprof-tracy: python3 -m tracy records" python_records /usr/bin/python3 -m tracy
holds "python3-hyprof-tracy: it is no other python3-tracy, and not beside one" tracy_is_no_other
holds "the links of its pages lead somewhere" links_lead
hello_cases
holds "purge leaves nothing" purged
