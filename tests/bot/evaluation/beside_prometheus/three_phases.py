"""A Prometheus with many rules and our rule loop beside it: together, without connection, and after its restart."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from collectors.facts.clock import SystemClock
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from demo.parts.processes import Program, answers, find_program, free_port, running
from demo.parts.prometheus import PrometheusServer
from tests.bot.evaluation.beside_prometheus.followed import EVERY, Difference, Followed
from tests.bot.evaluation.beside_prometheus.played_page import play, served_page
from tests.bot.evaluation.beside_prometheus.rule_set import rule_files
from tests.bot.evaluation.beside_prometheus.severed_link import SeveredLink
from tests.support.routing import a_router

_STARTS_WITHIN = timedelta(minutes=5)
_SETTLES = EVERY * 6  # a few moments with connection
_CATCHES_UP_WITHIN = timedelta(minutes=10)  # on a loaded machine


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseTimes:
    """How long each phase lasts."""

    together: timedelta = timedelta(minutes=10)
    severed: timedelta = timedelta(minutes=3)
    after_restart: timedelta = timedelta(minutes=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseResult:
    """What Prometheus had at the end of a phase, and what differed."""

    phase: str
    files: int
    groups: int
    rules: int
    alerts: int
    held: int  # alerts that we keep, as their target has no data any more
    evaluations: int  # of groups
    differed_once: int  # alerts that differed at the last evaluation only: a scrape ended during it
    differences: tuple[Difference, ...]
    is_restarted: bool = False  # Prometheus was

    def summary(self) -> Mapping[str, object]:
        """Return what is recorded: counts, and the alerts that differ."""
        return {
            "files": self.files,
            "groups": self.groups,
            "rules": self.rules,
            "alerts": self.alerts,
            "alerts kept without data": self.held,
            "evaluations": self.evaluations,
            "differed at one moment": self.differed_once,
            "differ": [f"{one.cause}: {one.rule} {dict(one.labels)}" for one in self.differences],
        }


async def three_phases(folder: Path, times: PhaseTimes) -> AsyncIterator[PhaseResult]:
    """Yield the result of each phase."""
    files = tuple(rule_files())
    for file in files:
        (folder / file.name).write_text(file.text, encoding="utf-8")
    port = free_port()
    async with served_page(folder) as page, _node_exporter(folder) as node:
        targets = [page, node, f"127.0.0.1:{port}"]
        config = _config(targets, rules=False)
        async with (
            PrometheusServer(config=config, folder=folder, port=port) as server,
            SeveredLink.to(port) as link,
        ):
            options = PrometheusOptions(url=f"http://127.0.0.1:{link.port}")
            source = PrometheusSource(options)
            try:
                followed = Followed(files, lambda: a_router(source), server.url)
                await _trusted(source)
                await server.reload(_config(targets, rules=True))
                await play(page)
                await followed.follow(times.together)
                yield _result("together", followed)
                await link.cut()
                await followed.follow(times.severed)
                await link.restore()
                await _caught_up(followed)
                yield _result("after a time without connection", followed)
                await asyncio.to_thread(server.stop)
                await followed.follow(EVERY * 2)
                server.launch()
                await asyncio.to_thread(server.wait_until_ready)
                await followed.follow(times.after_restart)
                yield replace(_result("after the restart of Prometheus", followed), is_restarted=True)
            finally:
                await source.close()


async def _caught_up(followed: Followed) -> None:
    """Follow until what was missed is evaluated, and then for a few moments."""
    async with asyncio.timeout(_CATCHES_UP_WITHIN.total_seconds()):
        await followed.follow(_SETTLES)
        while followed.is_behind:
            await followed.follow(_SETTLES)


def _result(phase: str, followed: Followed) -> PhaseResult:
    groups = followed.groups.values()
    lasting = tuple(one for group in groups for one in group.lasting())
    return PhaseResult(
        phase=phase,
        files=followed.files,
        groups=len(groups),
        rules=sum(len(group.rules) for group in groups),
        alerts=sum(group.alerts for group in groups),
        held=sum(group.held for group in groups),
        evaluations=sum(group.evaluations for group in groups),
        differed_once=sum(len(group.differences[-1]) for group in groups if group.differences) - len(lasting),
        differences=lasting,
    )


async def _trusted(source: PrometheusSource) -> None:
    """Wait until the source is trusted: the rules begin then, so that no `for` begins before we can see."""
    clock = SystemClock()
    async with asyncio.timeout(_STARTS_WITHIN.total_seconds()):
        while await source.health(at=clock.now()):  # noqa: ASYNC110 - a server
            await asyncio.sleep(1)


def _config(targets: list[str], *, rules: bool) -> str:
    played, node, itself = targets
    files = ["pack-*", "[0-9]*-*"] if rules else []
    return f"""
global: {{scrape_interval: 4s, evaluation_interval: {EVERY.seconds}s}}
rule_files: {json.dumps(files)}
scrape_configs:
  - job_name: played
    honor_labels: true
    static_configs: [{{targets: ["{played}"]}}]
  - job_name: node-exporter
    static_configs: [{{targets: ["{node}"]}}]
  - job_name: prometheus
    static_configs: [{{targets: ["{itself}"]}}]
"""


@asynccontextmanager
async def _node_exporter(folder: Path) -> AsyncIterator[str]:
    address = f"127.0.0.1:{free_port()}"
    program = find_program("prometheus-node-exporter", "node_exporter", get_it="install it")
    served = Program(
        name="node_exporter",
        argv=(str(program), f"--web.listen-address={address}"),
        log=folder / "node_exporter.log",
    )
    async with running(served, lambda: answers(f"http://{address}/metrics")):
        yield address
