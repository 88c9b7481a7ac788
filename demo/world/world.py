"""This file is the world: it builds the cluster, moves it on with the clock, and lets scenarios break it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from collectors.facts.clock import SystemClock
from demo.world.exporters.server import Exporters, ExporterServer
from demo.world.faults import Faults
from demo.world.kube import building
from demo.world.kube.api import Access, Api, Object
from demo.world.kube.cache import ObjectCache
from demo.world.kube.dns_scaling import DnsScaling
from demo.world.kube.events import Events
from demo.world.kube.heartbeats import Heartbeats
from demo.world.kube.kubelets import Kubelets
from demo.world.kube.volumes import Volumes
from demo.world.layout import Layout, a_cluster
from demo.world.logs import background
from demo.world.logs.journal import Journal
from demo.world.logs.line import Line, document
from demo.world.logs.lines import lines_of
from demo.world.logs.shipper import Shipper
from demo.world.past import live_through
from demo.world.physics.step import step
from demo.world.scrape import Discovery, prometheus_config
from demo.world.shared_services import PodKey
from demo.world.state import Happening, Phase, State, a_state

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the world is run. It lives through `past` before it opens; `samples`: where that goes as OpenMetrics."""

    access: Access
    elasticsearch_url: str = ""
    layout: Layout | None = None
    seed: int = 1
    speed: float = 1.0  # seconds of physics in a second of the clock
    tick: timedelta = timedelta(seconds=1)
    past: timedelta = timedelta(hours=2)
    samples: Path | None = None
    exporters_port: int = 0
    count_window: timedelta = timedelta(minutes=5)  # the exporter's --xid-count-window-size and its like
    begins_with: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # faults there before the past
    clock: Callable[[], datetime] = SystemClock().now


class World:
    """The simulated cluster. `async with World(settings) as world:` opens its sources, `await world.run()` is its life.

    `world.ready` is set when every pod runs and the past is lived through. Faults: `world.faults.start(name, …)`.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.layout = settings.layout or a_cluster()
        self.state: State = a_state(self.layout, settings.clock(), seed=settings.seed)
        for gpu in self.state.gpus():
            gpu.window = settings.count_window
        self.faults = Faults(self.state)
        self.journal = Journal()
        self.shipper = Shipper(settings.elasticsearch_url)
        self.ready = asyncio.Event()
        self._murmur = Random(settings.seed + 1)
        self._said: list[Happening] = []
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> World:
        async with AsyncExitStack() as stack:
            self.api = await stack.enter_async_context(Api(self.settings.access))
            self.cache = ObjectCache(self.api, self._hear)
            self.kubelets = Kubelets(self.api, self.cache, self.state, self._said.append)
            self.heartbeats = Heartbeats(self.api, self.cache, self.state, self._said.append)
            self.events = Events(self.api, self.cache)
            self.scaling = DnsScaling(self.api, self.cache, self.state, self._print)
            self.volumes = Volumes(self.api, self.cache, self.state)
            self.exporters = Exporters(self.state, self.cache.all)
            server = ExporterServer(self.exporters, port=self.settings.exporters_port)
            self._server = await stack.enter_async_context(server)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def now(self) -> datetime:
        return self.state.now

    @property
    def proxy(self) -> str:
        """The address that Prometheus scrapes through."""
        return self._server.url

    def prometheus_config(
        self,
        *,
        every: timedelta = timedelta(seconds=2),
        rule_files: tuple[str, ...] = (),
        extra: Object | None = None,
    ) -> str:
        """prometheus.yml for this world."""
        return prometheus_config(Discovery(proxy=self.proxy), every=every, rule_files=rule_files, extra=extra)

    async def run(self) -> None:
        """Build the cluster, live through its past, then go on with the clock until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.cache.run(), name="world cache")
            await self.cache.ready()
            self.kubelets.born = self.settings.clock() - self.settings.past - timedelta(hours=3)
            await self.heartbeats.register()
            tasks.create_task(self.kubelets.work(), name="world kubelets")
            async with building.kept_free(self.api, self.layout):
                await building.build(self.api, self.layout)
                await self.volumes.bind()
                await building.everything_runs(self.cache, self.layout)
            self.kubelets.born = None
            tasks.create_task(self.shipper.run(), name="world shipper")
            for name, parameters in self.settings.begins_with.items():
                self.faults.start(name, **parameters)
            await live_through(self, self.settings.past, self.settings.samples, clock=self.settings.clock)
            self.ready.set()
            tasks.create_task(self.scaling.run(), name="world DNS autoscaler")
            tasks.create_task(self.events.run(), name="world events")
            tasks.create_task(self._live(), name="world physics")

    async def _live(self) -> None:
        last = self.settings.clock()
        while True:
            await asyncio.sleep(self.settings.tick.total_seconds())
            now = self.settings.clock()
            self.move((now - last) * self.settings.speed, now)
            last = now
            self.kubelets.tick()
            await self.heartbeats.tick()
            await self.volumes.bind()

    def move(self, dt: timedelta, now: datetime) -> None:
        """One step of physics that ends at `now`; what it leaves in the logs is printed."""
        begun = self.state.now
        happened = step(self.state, dt, at=now) + self.faults.tick(dt) + self._said
        self._said.clear()
        lines = background.between(self.state, begun, now - begun, self._murmur)
        for happening in happened:
            if happening.what == "container-restarted" and happening.pod is not None:
                self.journal.restarted(happening.pod)
            self.events.add(happening)
            lines += lines_of(happening, self.state)
        for line in lines:
            self._print(line)

    def _print(self, line: Line) -> None:
        self.journal.add(line)
        made = document(line, self.state)
        if made is not None:
            self.shipper.add(made)

    def _hear(self, kind: str, what: str, found: Object) -> None:
        if kind == "Pod":
            self.kubelets.hear(what, found)
        elif kind == "Node" and found["metadata"]["name"] in self.state.hosts:
            self.state.hosts[found["metadata"]["name"]].cordoned = bool(
                (found.get("spec") or {}).get("unschedulable")
            )

    def logs(
        self,
        namespace: str,
        pod: str,
        container: str = "",
        tail: int | None = None,
        previous: bool = False,
        since: datetime | None = None,
    ) -> bytes | None:
        """What the kubelet answers for a pod's log; None when there is no such pod here."""
        key = PodKey(namespace, pod)
        if self.cache.get("Pod", namespace, pod) is None:
            return None
        return self.journal.read(key, tail=tail, previous=previous, since=since).encode()

    def truth(self) -> Object:
        """What is really so, for scenarios and their judges: faults, trainings, hot and dead GPUs, DNS."""
        state = self.state
        return {
            "now": state.now,
            "faults": [{"name": r.name, "since": r.since, **asdict(r.fault)} for r in self.faults.running],  # type: ignore[call-overload]
            "trainings": {
                f"{key.namespace}/{key.name}": {
                    "phase": t.phase.value,
                    "steps": t.steps,
                    "step_seconds": t.step_seconds,
                    "nodes": sorted({b.node for b in state.ranks_of(key)}),
                    "owner": t.owner,
                    "team": t.team,
                }
                for key, t in state.trainings.items()
            },
            "hot": [(g.node, g.index) for g in state.gpus() if g.throttle < 0.985],
            "dead": [(g.node, g.index) for g in state.gpus() if g.dead],
            "idle": [f"{k.namespace}/{k.name}" for k, t in state.trainings.items() if t.phase is Phase.IDLE],
            "dns": {
                "replicas": len(state.names.servers),
                "offered": state.names.offered,
                "lost": state.names.lost,
                "load": state.names.load,
            },
        }
