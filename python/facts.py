# SPDX-License-Identifier: MIT
"""For the Makefile: the folder of Python.h, the end of an extension's name, and where packages go under PREFIX/lib.

Prints nothing if the package cannot be built for this interpreter.
"""
import os
import sys
import sysconfig

is_known = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info[:2] <= (3, 14)
include = sysconfig.get_path("include")
if is_known and not sysconfig.get_config_var("Py_GIL_DISABLED") and os.path.exists(os.path.join(include, "Python.h")):
    # Debian's interpreter looks for what its administrator installs in dist-packages, and so for all under /usr.
    is_debian = "deb_system" in sysconfig.get_scheme_names()
    folder = "python%d.%d" % sys.version_info[:2]
    folder += "/dist-packages" if is_debian else "/site-packages"
    print(include, sysconfig.get_config_var("EXT_SUFFIX"), folder)
