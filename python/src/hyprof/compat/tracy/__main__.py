# SPDX-License-Identifier: MIT
"""`python3 -m tracy` is `python3 -m hyprof`."""
import sys

from hyprof._command import main

if __name__ == "__main__":
    sys.exit(main())
