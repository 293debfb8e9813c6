# SPDX-License-Identifier: MIT
"""For scripts that say `from tracy import signpost, Profiler`: they run unchanged, and hyprof records them.

The modules have what tests of tt-metal's models import.  A function that has no meaning here says so when it is called.
"""
from hyprof import Profiler, signpost

__all__ = ["Profiler", "signpost"]
