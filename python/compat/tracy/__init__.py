# SPDX-License-Identifier: MIT
"""For scripts that say `from tracy import signpost, Profiler`: they run unchanged, and hyprof records them."""
from hyprof import Profiler, signpost

__all__ = ["Profiler", "signpost"]
