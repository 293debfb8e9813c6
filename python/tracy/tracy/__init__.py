# SPDX-License-Identifier: MIT
"""tt-metal's module `tracy`, as hyprof has it: `python3 -m tracy` and `import tracy.common` find hyprof.compat.tracy."""
import hyprof.compat.tracy
from hyprof.compat.tracy import Profiler, signpost

__path__ = hyprof.compat.tracy.__path__
__all__ = ["Profiler", "signpost"]
