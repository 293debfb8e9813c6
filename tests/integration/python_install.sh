#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# the package of Python by pip, from the tree, from an sdist and as a wheel, without a network, and by make install
set -u
. tests/tap.sh
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
"$python" -c 'import setuptools, wheel, venv, pip' 2>/dev/null || skip_all "setuptools, wheel, venv or pip is not installed"
plan 17
export PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 HYPROF
unset PYTHONPATH
# A copy, so that two runs at once do not build in the same place.
mkdir "$TMPDIR/tree" && cp -r base instrument python Makefile LICENSE "$TMPDIR/tree/" || exit 2
tree=$TMPDIR/tree

# With the machine's pip: to put another one into each environment takes seconds.
fresh() { # name
        "$python" -m venv --without-pip --system-site-packages "$TMPDIR/$1" >"$TMPDIR/venv.log" 2>&1 || cat "$TMPDIR/venv.log"
}
pip_install() { # name, what
        fresh "$1" && "$TMPDIR/$1/bin/python" -m pip install -q --no-build-isolation --no-index "$2"
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
# A package of its own, whose name tt-metal's has as well.
printf 'from tracy import signpost, Profiler\nimport tracy.common, tracy.process_model_log\n' >"$TMPDIR/with_tracy.py"
has_tracy() { # name
        "$TMPDIR/$1/bin/python" -m pip install -q --no-build-isolation --no-index "$tree/python/tracy" &&
                (cd "$TMPDIR" && "$1/bin/python" with_tracy.py && "$1/bin/python" -m tracy --no-samples -o "$1-tracy" with_tracy.py) &&
                [ -s "$TMPDIR/$1-tracy/hyprof.hyp" ]
}
has_no_tracy() { # name
        (cd "$TMPDIR" && ! "$1/bin/python" with_tracy.py && "$1/bin/hyprof-python" --no-samples -o "$1-without" with_tracy.py)
}
nothing_beside() {
        same "" "$(cd "$tree" && find python -name build -o -name '*.egg-info' -o -name '*.so' -o -name '*.o' -o -name dist)"
}

holds "from the tree" pip_install by_tree "$tree/python"
holds "it works" works by_tree
holds "its module tracy is found under python3 -m hyprof alone" has_no_tracy by_tree
holds "and everywhere with hyprof-tracy" has_tracy by_tree
same_version() { # Python
        same "$("$HYPROF" --version | sed -n '1s/^hyprof \([0-9.]*\).*/\1/p')" "$("$@" -c 'import hyprof; print(hyprof.__version__)')"
}
holds "it says the version" same_version "$TMPDIR/by_tree/bin/python"
holds "it left nothing beside the sources" nothing_beside
# Interpreters of other versions, as setup.py sees them.
refuses_versions() {
        local version
        for version in 3.10.9 3.15.0; do
                ! (cd "$tree/python" && "$python" -c "
import sys
sys.version_info = (*map(int, '$version'.split('.')), 'final', 0)
__file__ = 'setup.py'
exec(open(__file__).read())" build) 2>"$TMPDIR/err" || return 1
                grep -F "hyprof is for CPython 3.11 to 3.14; this is cpython ${version%.*}" "$TMPDIR/err" || return 1
        done
}
holds "other versions are refused with words" refuses_versions
make_sdist() { (cd "$tree/python" && "$python" setup.py -q sdist -d "$TMPDIR/dist" 2>&1); }
holds "an sdist" make_sdist
rm -rf "$tree"
# Without optimisation, which takes most of a build: from the tree it was built with the interpreter's flags.
make_wheel() { CFLAGS=-O0 "$TMPDIR/by_tree/bin/python" -m pip wheel -q --no-build-isolation --no-deps -w "$TMPDIR/wheels" "$TMPDIR"/dist/hyprof-*.tar.gz; }
holds "a wheel of it, without the tree" make_wheel
# The facts that `pip show` prints, and the licence, which the package must bring.
metadata() {
        "$python" - "$TMPDIR"/wheels/hyprof-*.whl <<'END'
import email, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = wheel.namelist()
    facts = email.message_from_bytes(wheel.read(next(n for n in names if n.endswith("dist-info/METADATA"))))
    licence = next(n for n in names if ".dist-info/" in n and n.endswith("/LICENSE"))
    assert b"Permission is hereby granted" in wheel.read(licence)
assert facts["Requires-Python"].replace(" ", "") in ("<3.15,>=3.11", ">=3.11,<3.15"), facts["Requires-Python"]
for version in ("3.11", "3.12", "3.13", "3.14"):
    assert f"Programming Language :: Python :: {version}" in facts.get_all("Classifier"), version
assert facts["License"] == "MIT" and facts["Summary"], facts.items()
END
}
holds "its metadata: versions, licence" metadata
# The sdist has all that it is built of: nothing is fetched.
by_sdist() { fresh sdist && CFLAGS=-O0 "$TMPDIR/sdist/bin/python" -m pip install -q --no-build-isolation --no-index "$TMPDIR"/dist/hyprof-*.tar.gz && works sdist; }
holds "pip installs the sdist into a fresh environment" by_sdist
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
folder=$(dirname "$(find "$root" -type d -path '*-packages/hyprof')")
holds "that says the version as well" same_version env PYTHONPATH="$folder" "$python"
manual=$root/opt/hyprof/share/man/man1/hyprof-python.1
manual_has_each_option() {
        local option n=0
        man -l "$manual" | col -bx >"$TMPDIR/page"
        for option in $("$TMPDIR/wheel/bin/hyprof-python" --help | grep -oE '^ +-[-a-z, A-Z=]+' | grep -oE -- '--[a-z-]+'); do
                n=$((n + 1))
                grep -qE -- "(^|[ ,])$option([ =[]|\$)" "$TMPDIR/page" || { echo "$option is not there" && return 1; }
        done
        compare $n ">=" 30
}
manual_is_clean() { same "" "$(man --warnings -l -E UTF-8 "$manual" 2>&1 >/dev/null; mandoc -Tlint "$manual")"; }
if command -v man >/dev/null && command -v mandoc >/dev/null; then
        holds "its manual has each option of --help" manual_has_each_option
        holds "man and mandoc have no warnings" manual_is_clean
else
        skips "its manual has each option of --help" "man or mandoc is not installed"
        skips "man and mandoc have no warnings" "man or mandoc is not installed"
fi
uninstalled() {
        make PYTHON="$python" PREFIX=/opt/hyprof DESTDIR="$root" uninstall >/dev/null && same "" "$(find "$root" -not -type d)"
}
holds "make uninstall leaves nothing" uninstalled
