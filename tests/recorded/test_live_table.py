"""A few faults of the table live: a real Prometheus scrapes them, in both chart styles at once, and the loop follows.

It takes nine minutes. What takes longer to be seen or to be over is in the other tests, as of its own time.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from alerts.incidents.incident import Incident
from collectors.facts.clock import SystemClock
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.parts.prometheus import PrometheusServer
from tests.recorded.served_cluster import ServedCluster
from tests.recorded.shipped_lines import Line, quiet_lines, shipped, source_of
from tests.support.gpu_dialects import TEN
from tests.support.recorded_cluster import Fault, FaultKind, RecordedCluster
from tests.support.recorded_loop import RuleLoop, rule_loop
from tests.support.recorded_objects import objects_at
from tests.support.scrape_styles import STYLES, ChartStyle

pytestmark = [pytest.mark.soak, pytest.mark.real]

SECOND = timedelta(seconds=1)
CYCLE = 15 * SECOND
SCRAPES = 5 * SECOND
WARM_UP = 15 * SECOND  # until the server has scraped for a while
LASTS = 525 * SECOND  # from then on
DNS = "dns"
SHIPPER = {STYLES[0].name: "Filebeat", STYLES[1].name: "Fluent Bit"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFault:
    """A fault of a node or of DNS: from when to when, and within how many seconds of each it is seen and over.

    Without `over_within` it is not over within the test: its proof comes too late.
    """

    kind: FaultKind
    on: str
    begins: int
    ends: int
    seen_within: int
    over_within: int | None = None


FAULTS = (
    LiveFault(kind=FaultKind.HOT, on="gpu-std", begins=0, ends=335, seen_within=335, over_within=180),
    LiveFault(kind=FaultKind.HOT, on="gpu-ipp", begins=0, ends=335, seen_within=335, over_within=180),
    LiveFault(kind=FaultKind.MEMORY, on="gpu-iph", begins=0, ends=335, seen_within=335, over_within=180),
    LiveFault(kind=FaultKind.XID, on="gpu-op", begins=30, ends=90, seen_within=60),
    LiveFault(kind=FaultKind.XID, on="gpu-low", begins=30, ends=90, seen_within=60),
    LiveFault(kind=FaultKind.NOT_READY, on="gpu-kn", begins=30, ends=270, seen_within=225, over_within=105),
    LiveFault(kind=FaultKind.ALLOCATABLE, on="gpu-hn", begins=30, ends=270, seen_within=165, over_within=45),
    LiveFault(kind=FaultKind.SERVFAIL, on=DNS, begins=0, ends=240, seen_within=240, over_within=285),
)
LOGGED = "gpu-fqdn"  # its kernel logs an XID
LOGGED_AT = 40 * SECOND
XID = "NVRM: Xid (PCI:0000:41:00): 79, pid=1234, name=python, GPU has fallen off the bus."


@dataclass(slots=True)
class Followed:
    """What the loop saw of one cluster: in seconds since the start, by node or component."""

    seen: dict[str, float] = field(default_factory=dict)
    over: dict[str, float] = field(default_factory=dict)
    cards: int = 0
    cycles: int = 0
    longest_cycle: float = 0
    most_blind: float = 0

    def figures(self) -> Mapping[str, object]:
        """Return what is recorded: of each fault, the seconds until it had a card and until that was over."""
        rows = {
            f"{one.kind}, {one.on}": {
                "seen after": round(self.seen.get(one.on, -1) - one.begins),
                "over after": round(self.over[one.on] - one.ends) if one.on in self.over else None,
            }
            for one in FAULTS
        }
        logged = round(self.seen.get(LOGGED, -1) - LOGGED_AT.total_seconds())
        return {
            **rows,
            f"XID in the log, {LOGGED}": {"seen after": logged},
            "cards": self.cards,
            "cycles": self.cycles,
            "longest cycle": round(self.longest_cycle, 2),
            "most blind rules": self.most_blind,
        }


def recorded(style: ChartStyle, start: datetime) -> RecordedCluster:
    faults = tuple(
        Fault(
            kind=one.kind,
            nodes=frozenset({one.on} - {DNS}),
            begins=start + one.begins * SECOND,
            ends=start + one.ends * SECOND,
        )
        for one in FAULTS
    )
    return RecordedCluster(nodes=TEN, start=start - WARM_UP, end=start + LASTS, faults=faults, style=style)


def subject_of(incident: Incident) -> str:
    return incident.subject.node or incident.subject.component


async def follow(loop: RuleLoop, start: datetime, ship: Callable[[], Awaitable[None]]) -> Followed:
    """Run a cycle every 15 seconds, and note when each subject has a card and when that is over."""
    found = Followed()
    clock = SystemClock()
    is_logged = False
    while (passed := clock.now() - start) < LASTS:
        if passed >= LOGGED_AT and not is_logged:
            is_logged = True
            await ship()
        began = time.monotonic()
        await loop.run(clock.now(), every=LASTS)
        took = time.monotonic() - began
        found.cycles += 1
        found.longest_cycle = max(found.longest_cycle, took)
        after = (clock.now() - start).total_seconds()
        for incident in await loop.incidents():
            name = subject_of(incident)
            found.seen.setdefault(name, after)
            if not incident.is_open:
                found.over.setdefault(name, after)
        await asyncio.sleep(max(0.0, CYCLE.total_seconds() - took))
    found.cards = len(await loop.shown())
    found.most_blind = loop.most_blind
    return found


async def of_style(style: ChartStyle, folder: Path) -> Followed:
    """Serve the cluster, scrape it, and follow it."""
    async with AsyncExitStack() as stack:
        elastic = await stack.enter_async_context(ElasticsearchLookalike.running())
        logs = await stack.enter_async_context(source_of(elastic.url))
        start = SystemClock().now() + WARM_UP
        await shipped(elastic.url, SHIPPER[style.name], quiet_lines(start - WARM_UP, start + LASTS))
        cluster = recorded(style, start)
        served = ServedCluster(cluster)
        address = await stack.enter_async_context(served.served())
        config = served.config(address, every=SCRAPES)
        server = await stack.enter_async_context(PrometheusServer(config=config, folder=folder))
        objects = partial(objects_at, cluster)
        await asyncio.sleep((start - SystemClock().now()).total_seconds())
        loop = await stack.enter_async_context(rule_loop(server.url, objects, start=start, sources=(logs,)))

        async def ship() -> None:
            line = Line(at=SystemClock().now(), node=LOGGED, unit="kernel", text=XID)
            await shipped(elastic.url, SHIPPER[style.name], [line])

        return await follow(loop, start, ship)


@pytest.mark.soak(only=True)  # it takes nine minutes
async def test_faults_are_seen_and_over_in_time(
    tmp_path: Path, promtool_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """One card for each node that has a fault and one for DNS, nor any other."""

    found = await asyncio.gather(*(of_style(style, tmp_path / style.name) for style in STYLES))
    for style, followed in zip(STYLES, found, strict=True):
        record_property(style.name, followed.figures())
    for followed in found:
        assert set(followed.seen) == {LOGGED, *(one.on for one in FAULTS)}
        assert followed.cards == len(followed.seen)
        assert followed.seen[LOGGED] - LOGGED_AT.total_seconds() < 60
        for one in FAULTS:
            assert one.begins < followed.seen[one.on] <= one.begins + one.seen_within, one
            assert (one.on in followed.over) is (one.over_within is not None), (one, followed.over)
            if one.over_within is not None:
                assert one.ends < followed.over[one.on] <= one.ends + one.over_within, one
