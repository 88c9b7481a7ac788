"""This file is how a happening becomes a line of the kernel, of a kubelet or of a program."""

from __future__ import annotations

from collections.abc import Callable

from demo.world.logs.line import Line, klog
from demo.world.state import Happening, State

Writer = Callable[[Happening, State], list[Line]]


def kernel(h: Happening, text: str, level: str = "warning") -> Line:
    return Line(at=h.at, text=text, level=level, node=h.node, unit="kernel")


def kubelet(h: Happening, level: str, source: str, message: str) -> Line:
    return Line(at=h.at, text=klog(h.at, level, source, message), level=level, node=h.node, unit="kubelet")


def app(h: Happening, text: str, level: str = "info", *, stderr: bool = True) -> Line:
    return Line(at=h.at, text=text, level=level, node=h.node, pod=h.pod, stderr=stderr, shows_level=False)


def rank_of(h: Happening, state: State) -> int:
    body = state.bodies.get(h.pod) if h.pod else None
    return body.rank if body else 0
