"""This file is the beat of every kubelet: nodes register, renew their leases and report their status."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import aiohttp

from demo.world.kube import platform, statuses
from demo.world.kube.api import Api, RefusedError
from demo.world.kube.cache import ObjectCache
from demo.world.state import LONG_AGO, Happening, Host, State

BEAT = timedelta(seconds=10)
REPORT = timedelta(minutes=1)  # a status is posted at least this often, and at once when it changes
OUTSIDE = (RefusedError, aiohttp.ClientError, TimeoutError, OSError)


@dataclass(slots=True)
class Heartbeats:
    """The nodes' side of all kubelets. Call `tick` once a step; a kubelet that is not alive is left out."""

    api: Api
    cache: ObjectCache
    state: State
    say: Callable[[Happening], None]
    _since: dict[str, dict[str, datetime]] = field(default_factory=dict)
    _posted: dict[str, tuple[frozenset[tuple[str, object]], datetime]] = field(default_factory=dict)
    _beaten: dict[str, datetime] = field(default_factory=dict)

    async def register(self) -> None:
        """Make the nodes and their leases; those that are there stay."""
        async with asyncio.TaskGroup() as tasks:
            for host in self.state.hosts.values():
                tasks.create_task(self._register(host))

    async def _register(self, host: Host) -> None:
        await self.api.create("/api/v1/nodes", platform.node(host.spec))
        await self._beat(host)
        await self._report(host)

    async def tick(self) -> None:
        """Beat and report where it is due. What the API server refuses is tried again in the next tick."""
        calls = []
        for host in self.state.hosts.values():
            if not host.kubelet_alive:
                continue
            if self.state.now - self._beaten.get(host.name, LONG_AGO) >= BEAT:
                calls.append(self._beat(host))
            if self._is_stale(host):
                calls.append(self._report(host))
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            if isinstance(outcome, BaseException) and not isinstance(outcome, OUTSIDE):
                raise outcome

    def forget_beats(self) -> None:
        """Let every kubelet that lives beat in the next tick, due or not."""
        self._beaten.clear()

    def _is_stale(self, host: Host) -> bool:
        facts, at = self._posted.get(host.name, (frozenset(), self.state.now))
        known = self.cache.get("Node", "", host.name)
        shown = {c["type"]: c["status"] for c in ((known or {}).get("status") or {}).get("conditions") or []}
        return facts != _facts(host) or self.state.now - at >= REPORT or shown.get("Ready") == "Unknown"

    async def _beat(self, host: Host) -> None:
        self._beaten[host.name] = self.state.now
        made = statuses.lease(host.name, self.state.now)
        path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{host.name}"
        if await self.api.patch(path, {"spec": made["spec"]}) is None:
            await self.api.create(path.rpartition("/")[0], made)

    async def _report(self, host: Host) -> None:
        since = self._since.setdefault(host.name, {})
        before = self._posted.get(host.name)
        for kind, (holds, reason, message) in statuses.pressures(host).items():
            was = before is not None and (kind, True) in before[0]
            if before is None:
                since[kind] = host.booted
            elif was != holds:
                since[kind] = self.state.now
                if kind != "Ready":
                    facts = {"reason": reason, "message": message}
                    self.say(Happening(at=self.state.now, what="node-condition", node=host.name, facts=facts))
        self._posted[host.name] = (_facts(host), self.state.now)
        await self.api.patch(
            f"/api/v1/nodes/{host.name}/status", statuses.node_status(host, self.state.now, since)
        )


def _facts(host: Host) -> frozenset[tuple[str, object]]:
    """What makes a new status worth posting."""
    pressures = {(kind, holds) for kind, (holds, _, _) in statuses.pressures(host).items()}
    return frozenset({*pressures, ("gpus", statuses.healthy_gpus(host)), ("booted", host.booted.isoformat())})
