# SPDX-License-Identifier: MIT
"""A package of its own, since tt-metal's wheels install a module of the same name."""
import os
import re

from setuptools import setup

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
PLACE = os.path.join(TREE, "build", "pip", "tracy")

with open(os.path.join(TREE, "Makefile")) as file:
    version = re.search(r"^VERSION +:= (\S+)$", file.read(), re.MULTILINE).group(1)

os.chdir(HERE)
os.makedirs(PLACE, exist_ok=True)
setup(
    version=version,
    packages=["tracy", "tracy_client"],
    install_requires=["hyprof==" + version],
    options={"build": {"build_base": PLACE}, "egg_info": {"egg_base": PLACE},
             "bdist_wheel": {"bdist_dir": os.path.join(PLACE, "wheel")}},
)
