"""The last log lines of every container, as the kubelet serves them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

from demo.world.logs.line import Line, stamp
from demo.world.shared_services import PodKey

KEPT = 2000  # lines per container


@dataclass(slots=True)
class Journal:
    """Lines by pod. When a container restarts, its lines become the previous log."""

    now: dict[PodKey, deque[Line]] = field(default_factory=dict)
    before: dict[PodKey, deque[Line]] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        if line.pod is not None:
            self.now.setdefault(line.pod, deque(maxlen=KEPT)).append(line)

    def restarted(self, pod: PodKey) -> None:
        self.before[pod] = self.now.pop(pod, deque())

    def forget(self, pod: PodKey) -> None:
        self.now.pop(pod, None)
        self.before.pop(pod, None)

    def read(
        self,
        pod: PodKey,
        *,
        tail: int | None = None,
        previous: bool = False,
        since: datetime | None = None,
        timestamps: bool = False,
    ) -> str:
        """Return the text that `kubectl logs` prints, oldest line first."""
        lines = list((self.before if previous else self.now).get(pod, ()))
        if since is not None:
            lines = [line for line in lines if line.at >= since]
        if tail is not None:
            lines = lines[-tail:] if tail > 0 else []
        return "".join(f"{stamp(line.at) + ' ' if timestamps else ''}{line.text}\n" for line in lines)
