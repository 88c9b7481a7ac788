"""Node heartbeats of all kubelets: registration, lease renewal and status."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import aiohttp

from demo.world.kube import platform, statuses
from demo.world.kube.api import Api, RefusedError
from demo.world.kube.cache import ObjectCache
from demo.world.state import LONG_AGO, Host, State, WorldEvent

RENEW_EVERY = timedelta(seconds=10)
REPORT_EVERY = timedelta(minutes=1)  # at least; at once when the status changes
API_ERRORS = (RefusedError, aiohttp.ClientError, TimeoutError, OSError)


@dataclass(slots=True)
class Heartbeats:
    """The node side of all kubelets. Call `tick` once a step; kubelets that are down are skipped."""

    api: Api
    cache: ObjectCache
    state: State
    emit: Callable[[WorldEvent], None]
    _since: dict[str, dict[str, datetime]] = field(default_factory=dict)
    _posted: dict[str, tuple[frozenset[tuple[str, object]], datetime]] = field(default_factory=dict)
    _renewed: dict[str, datetime] = field(default_factory=dict)

    async def register(self) -> None:
        """Create the nodes and their leases; existing ones are left unchanged."""
        async with asyncio.TaskGroup() as tasks:
            for host in self.state.hosts.values():
                tasks.create_task(self._register(host))

    async def _register(self, host: Host) -> None:
        await self.api.create("/api/v1/nodes", platform.node(host.spec))
        await self._renew_lease(host)
        await self._report(host)

    async def tick(self) -> None:
        """Renew leases and report statuses that are due. Failed requests are retried in the next tick."""
        calls = []
        for host in self.state.hosts.values():
            if not host.kubelet_alive:
                continue
            if self.state.now - self._renewed.get(host.name, LONG_AGO) >= RENEW_EVERY:
                calls.append(self._renew_lease(host))
            if self._is_stale(host):
                calls.append(self._report(host))
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(outcome, BaseException) and not isinstance(outcome, API_ERRORS):
                raise outcome

    def renew_next_tick(self) -> None:
        """Make every running kubelet renew its lease in the next tick."""
        self._renewed.clear()

    def _is_stale(self, host: Host) -> bool:
        facts, at = self._posted.get(host.name, (frozenset(), self.state.now))
        known = self.cache.get("Node", "", host.name)
        shown = {c["type"]: c["status"] for c in ((known or {}).get("status") or {}).get("conditions") or []}
        return facts != _facts(host) or self.state.now - at >= REPORT_EVERY or shown.get("Ready") == "Unknown"

    async def _renew_lease(self, host: Host) -> None:
        self._renewed[host.name] = self.state.now
        made = statuses.lease(host.name, self.state.now)
        path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{host.name}"
        if await self.api.patch(path, {"spec": made["spec"]}) is None:
            await self.api.create(path.rpartition("/")[0], made)

    async def _report(self, host: Host) -> None:
        since = self._since.setdefault(host.name, {})
        before = self._posted.get(host.name)
        for kind, (holds, reason, message) in statuses.pressures(host).items():
            held = before is not None and (kind, True) in before[0]
            if before is None:
                since[kind] = host.booted
            elif held != holds:
                since[kind] = self.state.now
                if kind != "Ready":
                    facts = {"reason": reason, "message": message}
                    self.emit(
                        WorldEvent(at=self.state.now, what="node-condition", node=host.name, facts=facts)
                    )
        self._posted[host.name] = (_facts(host), self.state.now)
        await self.api.patch(
            f"/api/v1/nodes/{host.name}/status", statuses.node_status(host, self.state.now, since)
        )


def _facts(host: Host) -> frozenset[tuple[str, object]]:
    """The part of the status whose change is reported at once."""
    pressures = {(kind, holds) for kind, (holds, _, _) in statuses.pressures(host).items()}
    return frozenset({*pressures, ("gpus", statuses.healthy_gpus(host)), ("booted", host.booted.isoformat())})
