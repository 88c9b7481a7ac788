"""Small versions of the control plane's controllers: each reconciles objects after a change."""

from demo.lookalikes.kubernetes.controllers.controller import Settings
from demo.lookalikes.kubernetes.controllers.loop import run_controllers

__all__ = ["Settings", "run_controllers"]
