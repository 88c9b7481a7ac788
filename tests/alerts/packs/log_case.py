"""A case of a log rule: lines, and the alerts that they fire. Times are seconds before the query."""

import re
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from demo.world.logs.event_lines import lines_of
from demo.world.logs.line import Line
from demo.world.shared_services import PodKey
from demo.world.state import State, WorldEvent
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW

_KLOG_DAY = re.compile(r"(?<=^[IWEF])\d{4} ")


class LogEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event `ago` seconds before the query, repeated `times` times a second apart; or a literal line."""

    what: str = ""
    ago: float = 60
    times: int = 1
    node: str = "gpu-a01"
    gpu: int | None = None
    facts: dict[str, str] = {}
    text: str = ""  # instead of `what`: a line that the demo does not write
    unit: str = "kernel"
    pod: PodKey | None = None  # whose container writes the text, instead of the unit
    level: str = "info"

    def lines(self, state: State) -> list[Line]:
        found: list[Line] = []
        for number in range(self.times):
            at = NOW - timedelta(seconds=self.ago + number)
            if self.text:
                text = _KLOG_DAY.sub(f"{at:%m%d} ", self.text)  # one of another day would be a replayed line
                unit = self.unit if self.pod is None else None
                line = Line(at=at, text=text, level=self.level, node=self.node, unit=unit, pod=self.pod)
                found.append(line)
            else:
                happened = WorldEvent(at=at, what=self.what, node=self.node, gpu=self.gpu, facts=self.facts)
                found += lines_of(happened, state)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCase:
    rule: str
    description: str
    events: tuple[LogEvent, ...]
    fired: tuple[Fired, ...] = ()  # empty: the rule stays quiet
