"""Builders for log lines of the kernel, of kubelets and of pods."""

from __future__ import annotations

from collections.abc import Callable

from demo.world.logs.line import Line, klog
from demo.world.state import State, WorldEvent

Writer = Callable[[WorldEvent, State], list[Line]]


def kernel(e: WorldEvent, text: str, level: str = "warning") -> Line:
    return Line(at=e.at, text=text, level=level, node=e.node, unit="kernel")


def kubelet(e: WorldEvent, level: str, source: str, message: str) -> Line:
    return Line(at=e.at, text=klog(e.at, level, source, message), level=level, node=e.node, unit="kubelet")


def app(e: WorldEvent, text: str, level: str = "info", *, stderr: bool = True) -> Line:
    return Line(at=e.at, text=text, level=level, node=e.node, pod=e.pod, stderr=stderr, shows_level=False)


def rank_of(e: WorldEvent, state: State) -> int:
    body = state.bodies.get(e.pod) if e.pod else None
    return body.rank if body else 0
