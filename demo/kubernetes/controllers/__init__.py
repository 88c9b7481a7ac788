"""The control plane's own loops, small: each one looks at what changed and writes what should be."""

from demo.kubernetes.controllers.running import Settings, run_controllers

__all__ = ["Settings", "run_controllers"]
