"""The control plane's own loops, small: each one looks at what changed and writes what should be."""

from demo.lookalikes.kubernetes.controllers.controller import Settings
from demo.lookalikes.kubernetes.controllers.loop import run_controllers

__all__ = ["Settings", "run_controllers"]
