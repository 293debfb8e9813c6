# SPDX-License-Identifier: MIT
"""Tracy's module `tracy_client`, as hyprof has it: hyprof.compat.tracy_client."""
import hyprof.compat.tracy_client as _client

__all__ = _client.__all__
globals().update({name: getattr(_client, name) for name in __all__})
