# SPDX-License-Identifier: MIT
"""`python3 -m hyprof`, also installed as hyprof-python."""
import sys

from hyprof._command import main

if __name__ == "__main__":
    sys.exit(main())
