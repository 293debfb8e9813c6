#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# the package of Python by pip, from the tree, from an sdist and as a wheel, without a network, and by make install
set -u
. tests/tap.sh
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
"$python" -c 'import setuptools, wheel, venv, pip' 2>/dev/null || skip_all "setuptools, wheel, venv or pip is not installed"
plan 8
export PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 HYPROF
unset PYTHONPATH
# A copy, so that two runs at once do not build in the same place.
mkdir "$TMPDIR/tree" && cp -r python instrument Makefile LICENSE "$TMPDIR/tree/" || exit 2
tree=$TMPDIR/tree

fresh() { # name
        "$python" -m venv --system-site-packages "$TMPDIR/$1" >"$TMPDIR/venv.log" 2>&1 || cat "$TMPDIR/venv.log"
}
pip_install() { # name, what
        fresh "$1" && "$TMPDIR/$1/bin/pip" install -q --no-build-isolation --no-index "$2"
}
echo 'import hyprof, sys
def f(): pass
f()
assert hyprof.is_recording()
print(hyprof.__file__)' >"$TMPDIR/script.py"
# The command that pip installed runs the package that pip installed.
works() { # name
        (cd "$TMPDIR" && "$1/bin/hyprof-python" --no-samples -o "$1-out" script.py) >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out" && return 1; }
        grep -q "$TMPDIR/$1/lib" "$TMPDIR/out" && [ -s "$TMPDIR/$1-out/hyprof.hyp" ]
}
nothing_beside() {
        same "" "$(cd "$tree" && find python -name build -o -name '*.egg-info' -o -name '*.so' -o -name '*.o' -o -name dist)"
}

holds "from the tree" pip_install by_tree "$tree/python"
holds "it works" works by_tree
holds "it left nothing beside the sources" nothing_beside
make_sdist() { (cd "$tree/python" && "$python" setup.py -q sdist -d "$TMPDIR/dist" 2>&1); }
holds "an sdist" make_sdist
rm -rf "$tree"
make_wheel() { "$TMPDIR/by_tree/bin/pip" wheel -q --no-build-isolation --no-deps -w "$TMPDIR/wheels" "$TMPDIR"/dist/hyprof-*.tar.gz; }
holds "a wheel of it, without the tree" make_wheel
by_wheel() { pip_install wheel "$(echo "$TMPDIR"/wheels/hyprof-*.whl)" && works wheel; }
holds "the wheel works" by_wheel

root=$TMPDIR/root
make_install() { make PYTHON="$python" PREFIX=/opt/hyprof DESTDIR="$root" install >"$TMPDIR/make.log" 2>&1 || { tail "$TMPDIR/make.log" && return 1; }; }
installed() {
        local folder
        make_install && folder=$(dirname "$(find "$root" -type d -path '*-packages/hyprof')") &&
                (cd "$TMPDIR" && PYTHONPATH=$folder "$python" "$root/opt/hyprof/bin/hyprof-python" --no-samples script.py) &&
                PYTHONPATH=$folder/hyprof/compat:$folder "$python" -c 'from tracy import signpost, Profiler'
}
holds "make install" installed
uninstalled() {
        make PYTHON="$python" PREFIX=/opt/hyprof DESTDIR="$root" uninstall >/dev/null && same "" "$(find "$root" -not -type d)"
}
holds "make uninstall leaves nothing" uninstalled
