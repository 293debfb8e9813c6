# SPDX-License-Identifier: MIT
"""Builds the package with the sources of libhyprof: from the tree beside us, or from the copy that an sdist has.

Everything that is built in the tree goes under build/.
"""
import os
import re
import shutil
import sys
import sysconfig
from glob import glob

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)
COPY = os.path.join(HERE, "libhyprof")  # in an sdist
IS_COPY = os.path.isdir(COPY)
ROOT = COPY if IS_COPY else TREE
CLIENT = "instrument/client"
HEADERS = ("instrument/client_abi.h", "base/namespace_clock.h")  # what it includes from elsewhere in the tree

if sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info[:2] <= (3, 14):
    sys.exit("hyprof is for CPython 3.11 to 3.14; this is %s %d.%d" % (sys.implementation.name, *sys.version_info[:2]))
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit("hyprof needs the GIL; this is a free-threaded build of CPython")


def read_version():
    with open(os.path.join(ROOT, "Makefile")) as file:
        return re.search(r"^VERSION +:= (\S+)$", file.read(), re.MULTILINE).group(1)


class BuildExtension(build_ext):
    """libhyprof is compiled by itself, for its sources may lie above ours."""

    def build_extension(self, extension):
        sources = [os.path.relpath(path, HERE) for path in sorted(glob(os.path.join(ROOT, CLIENT, "*.c")))]
        folder = os.path.join(self.build_temp, "libhyprof")
        os.makedirs(folder, exist_ok=True)
        for source in sources:
            to = os.path.join(folder, os.path.splitext(os.path.basename(source))[0] + ".o")
            self.compiler.spawn(
                [*self.compiler.compiler_so, "-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden", "-I" + ROOT,
                 "-I" + os.path.join(ROOT, CLIENT, "include"), "-c", source, "-o", to])
            extension.extra_objects.append(to)
        super().build_extension(extension)


class SourceDistribution(sdist):
    """With what it is built of: libhyprof's sources, and the Makefile for the version."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        folder = os.path.join(base_dir, "libhyprof")
        ignored = shutil.ignore_patterns("compat", "*.in")
        shutil.copytree(os.path.join(ROOT, CLIENT), os.path.join(folder, CLIENT), ignore=ignored, dirs_exist_ok=True)
        for header in HEADERS:
            os.makedirs(os.path.dirname(os.path.join(folder, header)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, header), os.path.join(folder, header))
        for name in ("Makefile", "LICENSE"):
            shutil.copy(os.path.join(ROOT, name), folder)


def options():
    if IS_COPY:
        return {}
    place = os.path.join(TREE, "build", "pip")
    os.makedirs(place, exist_ok=True)
    wheel = os.path.join(place, "wheel")
    return {"build": {"build_base": place}, "egg_info": {"egg_base": place}, "bdist_wheel": {"bdist_dir": wheel}}


os.chdir(HERE)
setup(
    version=read_version(),
    packages=["hyprof", "hyprof.compat.tracy", "hyprof.compat.tracy_client"],
    package_dir={"": "src"},
    package_data={"hyprof": ["py.typed", "*.pyi"]},
    ext_modules=[
        Extension(
            "hyprof._native",
            sorted(glob("native/*.c")),
            depends=sorted(glob("native/*.h")) + ["native/exports.map"],
            include_dirs=[os.path.join(ROOT, CLIENT, "include")],
            define_macros=[("HYPROF_VERSION", '"%s"' % read_version())],
            extra_compile_args=["-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden"],
            extra_link_args=["-Wl,--version-script=native/exports.map", "-Wl,-z,nodelete", "-pthread"],
        )
    ],
    cmdclass={"build_ext": BuildExtension, "sdist": SourceDistribution},
    options=options(),
)
