"""The simulated cluster: setup through the Kubernetes API, ticks with the clock, and faults."""

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
from demo.world.history import simulate_history
from demo.world.kube import cluster_setup
from demo.world.kube.api import Access, Api, Object
from demo.world.kube.cache import ObjectCache
from demo.world.kube.dns_autoscaler import DnsAutoscaler
from demo.world.kube.events import Events
from demo.world.kube.heartbeats import Heartbeats
from demo.world.kube.kubelets import Kubelets
from demo.world.kube.volumes import Volumes
from demo.world.layout import Layout, demo_layout
from demo.world.logs import background
from demo.world.logs.event_lines import lines_of
from demo.world.logs.journal import Journal
from demo.world.logs.line import Line, document
from demo.world.logs.shipper import Shipper
from demo.world.physics.step import step
from demo.world.scrape_config import Discovery, prometheus_config
from demo.world.shared_services import PodKey
from demo.world.state import Phase, State, WorldEvent, initial_state

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a world. `past` is the simulated history, `samples` the OpenMetrics file to write it to."""

    access: Access
    elasticsearch_url: str = ""
    layout: Layout | None = None
    seed: int = 1
    speed: float = 1.0  # simulated seconds per second of the clock
    tick: timedelta = timedelta(seconds=1)
    past: timedelta = timedelta(hours=2)
    samples: Path | None = None
    exporters_port: int = 0
    count_window: timedelta = timedelta(minutes=5)  # dcgm-exporter's --xid-count-window-size and similar
    # Faults that start before the history.
    initial_faults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    clock: Callable[[], datetime] = SystemClock().now


class World:
    """The simulated cluster. `async with World(settings) as world:` opens its clients, `await world.run()` runs it.

    `world.ready` is set when every pod runs and the history is simulated. Faults: `world.faults.start(name, …)`.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.layout = settings.layout or demo_layout()
        self.state: State = initial_state(self.layout, settings.clock(), seed=settings.seed)
        for gpu in self.state.gpus():
            gpu.window = settings.count_window
        self.faults = Faults(self.state)
        self.journal = Journal()
        self.shipper = Shipper(settings.elasticsearch_url)
        self.ready = asyncio.Event()
        self._background_rng = Random(settings.seed + 1)
        self._events: list[WorldEvent] = []
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> World:
        async with AsyncExitStack() as stack:
            self.api = await stack.enter_async_context(Api(self.settings.access))
            self.cache = ObjectCache(self.api, self._object_changed)
            self.kubelets = Kubelets(self.api, self.cache, self.state, self._events.append)
            self.heartbeats = Heartbeats(self.api, self.cache, self.state, self._events.append)
            self.events = Events(self.api, self.cache)
            self.dns_autoscaler = DnsAutoscaler(self.api, self.cache, self.state, self._log)
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
        """The URL of the proxy that Prometheus scrapes through."""
        return self._server.url

    def prometheus_config(
        self,
        *,
        every: timedelta = timedelta(seconds=2),
        rule_files: tuple[str, ...] = (),
        extra: Object | None = None,
    ) -> str:
        """Return prometheus.yml for this world."""
        return prometheus_config(Discovery(proxy=self.proxy), every=every, rule_files=rule_files, extra=extra)

    async def run(self) -> None:
        """Build the cluster, simulate its history, then follow the clock until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.cache.run(), name="world cache")
            await self.cache.ready()
            self.kubelets.backdated_to = self.settings.clock() - self.settings.past - timedelta(hours=3)
            await self.heartbeats.register()
            tasks.create_task(self.kubelets.work(), name="world kubelets")
            async with cluster_setup.spare_node_cordoned(self.api, self.layout):
                await cluster_setup.build(self.api, self.layout)
                await self.volumes.bind()
                await cluster_setup.wait_until_running(self.cache, self.layout)
            self.kubelets.backdated_to = None
            tasks.create_task(self.shipper.run(), name="world shipper")
            for name, parameters in self.settings.initial_faults.items():
                self.faults.start(name, **parameters)
            await simulate_history(self, self.settings.past, self.settings.samples, clock=self.settings.clock)
            self.ready.set()
            tasks.create_task(self.dns_autoscaler.run(), name="world DNS autoscaler")
            tasks.create_task(self.events.run(), name="world events")
            tasks.create_task(self._tick_forever(), name="world physics")

    async def _tick_forever(self) -> None:
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
        """Advance the physics by `dt` to `now`, and write the events and log lines of that step."""
        start = self.state.now
        events = step(self.state, dt, at=now) + self.faults.tick(dt) + self._events
        self._events.clear()
        lines = background.between(self.state, start, now - start, self._background_rng)
        for event in events:
            if event.what == "container-restarted" and event.pod is not None:
                self.journal.restarted(event.pod)
            self.events.add(event)
            lines += lines_of(event, self.state)
        for line in lines:
            self._log(line)

    def _log(self, line: Line) -> None:
        self.journal.add(line)
        made = document(line, self.state)
        if made is not None:
            self.shipper.add(made)

    def _object_changed(self, kind: str, what: str, obj: Object) -> None:
        if kind == "Pod":
            self.kubelets.pod_changed(what, obj)
        elif kind == "Node" and obj["metadata"]["name"] in self.state.hosts:
            self.state.hosts[obj["metadata"]["name"]].cordoned = bool(
                (obj.get("spec") or {}).get("unschedulable")
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
        """Return a pod's log as the kubelet serves it; None when there is no such pod."""
        key = PodKey(namespace, pod)
        if self.cache.get("Pod", namespace, pod) is None:
            return None
        return self.journal.read(key, tail=tail, previous=previous, since=since).encode()

    def ground_truth(self) -> Object:
        """Return the actual state, for failure messages and tests: faults, trainings, hot, dead and idle GPUs, DNS."""
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
                "replicas": len(state.dns.servers),
                "offered": state.dns.offered,
                "lost": state.dns.lost,
                "load": state.dns.load,
            },
        }
