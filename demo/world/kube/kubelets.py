"""This file is what kubelets do with pods: they start, end, restart and go, and the API hears of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from demo.world.kube import bodies, statuses
from demo.world.kube.api import Api, Object
from demo.world.kube.cache import ObjectCache
from demo.world.kube.heartbeats import OUTSIDE
from demo.world.placing import NoCapacityError, join, place, release, remove
from demo.world.shared_services import PodKey
from demo.world.state import Body, Happening, Host, Role, State

LOG = logging.getLogger(__name__)
SIGTERM = 143  # the exit code of a process that was asked to end
AT_ONCE = 12  # calls in flight


@dataclass(slots=True)
class Kubelets:
    """The pods' side of all kubelets. Feed it pod changes with `hear`, and call `tick` once a step."""

    api: Api
    cache: ObjectCache
    state: State
    say: Callable[[Happening], None]
    born: datetime | None = None  # while the world is built, pods claim to have started then
    restarts: dict[PodKey, int] = field(default_factory=dict)
    _todo: asyncio.Queue[PodKey] = field(default_factory=asyncio.Queue)
    _waiting: set[PodKey] = field(default_factory=set)
    _addresses: dict[str, int] = field(default_factory=dict)
    _reported: set[tuple[PodKey, str]] = field(default_factory=set)

    def hear(self, what: str, pod: Object) -> None:
        """A pod changed."""
        if pod["spec"].get("nodeName") in self.state.hosts or what == "DELETED":
            self._put(bodies.key_of(pod))

    def _put(self, key: PodKey) -> None:
        if key not in self._waiting:
            self._waiting.add(key)
            self._todo.put_nowait(key)

    async def work(self) -> None:
        """Follow pods until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(AT_ONCE):
                tasks.create_task(self._worker(), name=f"world kubelet {number}")

    async def _worker(self) -> None:
        while True:
            key = await self._todo.get()
            self._waiting.discard(key)
            try:
                await self._sync(key)
            except OUTSIDE as error:
                LOG.debug("pod %s: %s", key, error)
                await asyncio.sleep(0.5)
                self._put(key)

    async def _sync(self, key: PodKey) -> None:
        """Bring one pod's body and the API's view of it together."""
        pod = self.cache.get("Pod", *key)
        body = self.state.bodies.get(key)
        if pod is None or (body is not None and body.uid != pod["metadata"]["uid"]):
            self._gone(key)
            if pod is None:
                return
            body = None
        host = self.state.hosts.get(pod["spec"].get("nodeName", ""))
        if host is None or not host.kubelet_alive:
            return
        if pod["metadata"].get("deletionTimestamp"):
            await self._confirm(pod, key)
        elif bodies.is_over(pod):
            self._gone(key)
        elif body is None:
            await self._start(pod, host)
        elif body.exit is not None:
            await self._end(pod, body, host)
        else:
            await self._agreed(pod, body, host)

    def _gone(self, key: PodKey) -> None:
        remove(self.state, key)
        self.restarts.pop(key, None)

    async def _confirm(self, pod: Object, key: PodKey) -> None:
        """Stop the process of a pod that is to go, say how it ended, and let the object go."""
        if bodies.is_over(pod) and pod["metadata"].get("deletionGracePeriodSeconds") == 0:
            return  # done; somebody's finalizer still holds it
        body = self.state.bodies.get(key)
        if body is not None:
            facts = {"uid": body.uid}
            self.say(Happening(at=self.state.now, what="pod-stopped", node=body.node, pod=key, facts=facts))
            if body.exit is None:
                body.exit, body.exit_reason = SIGTERM, "Error"
            if not bodies.is_over(pod):
                status = statuses.pod_ended(pod, body, self.state.now, restarts=self.restarts.get(key, 0))
                await self.api.patch(_path(key) + "/status", status)
        self._gone(key)
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": pod["metadata"]["uid"]},
        }
        await self.api.delete(_path(key), options)

    async def _start(self, pod: Object, host: Host) -> None:
        status = pod.get("status") or {}
        running = status.get("phase") == "Running"
        body = bodies.body_of(pod, status.get("podIP") or self._address(pod, host))
        begun = _moment(status.get("startTime")) if running else self.born
        try:
            place(self.state, body, gpus=bodies.gpus_of(pod), started=begun)
        except NoCapacityError as error:
            await self.api.patch(
                _path(body.key) + "/status",
                statuses.pod_refused("UnexpectedAdmissionError", str(error), self.state.now),
            )
            return
        self._enlist(pod, body)
        if not running:
            self.say(
                Happening(
                    at=self.state.now,
                    what="pod-started",
                    node=host.name,
                    pod=body.key,
                    facts={"uid": body.uid},
                )
            )
            await self.api.patch(_path(body.key) + "/status", statuses.pod_running(pod, body, host))

    def _enlist(self, pod: Object, body: Body) -> None:
        if body.training is None:
            return
        job = self.cache.get("Job", body.training.namespace, body.training.name)
        ranks, tasks = bodies.ranks_and_tasks(pod, job, self._servers)
        join(
            self.state,
            body,
            ranks=ranks,
            tasks=tasks,
            step_seconds=bodies.step_seconds(pod),
            run_for=bodies.run_for(pod),
        )

    def _servers(self, namespace: str) -> int:
        return sum(
            int(found["spec"].get("replicas", 1))
            for (where, _), found in self.cache.objects["Deployment"].items()
            if where == namespace
        )

    async def _end(self, pod: Object, body: Body, host: Host) -> None:
        """A process ended: start it again, or say that the pod is over."""
        count = self.restarts.get(body.key, 0)
        if bodies.restarts(pod):
            last = statuses.termination(body, self.state.now)
            body.exit, body.exit_reason, body.started = None, "", self.state.now
            self.restarts[body.key] = count + 1
            facts = {"uid": body.uid}
            self.say(
                Happening(
                    at=self.state.now, what="container-restarted", node=host.name, pod=body.key, facts=facts
                )
            )
            await self.api.patch(
                _path(body.key) + "/status",
                statuses.pod_running(pod, body, host, restarts=count + 1, last=last),
            )
        else:
            release(self.state, body)
            await self.api.patch(
                _path(body.key) + "/status", statuses.pod_ended(pod, body, self.state.now, restarts=count)
            )
            self._gone(body.key)

    async def _agreed(self, pod: Object, body: Body, host: Host) -> None:
        """The status follows the spec after an in-place resize, and the truth after a node was thought dead."""
        shown = {
            c["name"]: c.get("resources") or {}
            for c in (pod.get("status") or {}).get("containerStatuses") or []
        }
        wanted = {c["name"]: c.get("resources") or {} for c in pod["spec"]["containers"]}
        if shown and (shown != wanted or _is_called_unready(pod)):
            count = self.restarts.get(body.key, 0)
            await self.api.patch(
                _path(body.key) + "/status", statuses.pod_running(pod, body, host, restarts=count)
            )

    def tick(self) -> None:
        """Look after pods whose process ended, and after what a call that failed left undone."""
        for body in self.state.bodies.values():
            if body.exit is not None:
                self._put(body.key)
            elif (
                body.role is Role.SYSTEM
                and body.labels.get("batch.kubernetes.io/job-name")
                and self._is_old(body)
            ):
                body.exit, body.exit_reason = 0, "Completed"  # an ordinary batch job
        for pod in self.cache.all("Pod"):
            key = bodies.key_of(pod)
            if pod["spec"].get("nodeName") in self.state.hosts and self._needs_me(pod, key):
                self._put(key)

    def _is_old(self, body: Body) -> bool:
        return body.started is not None and self.state.now - body.started > timedelta(seconds=30)

    def _needs_me(self, pod: Object, key: PodKey) -> bool:
        """What a kubelet that was away, or a call that failed, left undone."""
        if _is_called_unready(pod) and key in self.state.bodies and not bodies.is_over(pod):
            return True
        return bool(pod["metadata"].get("deletionTimestamp")) or (
            key not in self.state.bodies and not bodies.is_over(pod)
        )

    def _address(self, pod: Object, host: Host) -> str:
        if pod["spec"].get("hostNetwork"):
            return host.spec.address
        taken = {body.address for body in self.state.bodies.values() if body.node == host.name}
        number = self._addresses.get(host.name, 1)
        while True:
            number = number % 250 + 1 if number >= 250 else number + 1
            address = f"{host.spec.pod_net}.{number}"
            if address not in taken:
                self._addresses[host.name] = number
                return address


def _path(key: PodKey) -> str:
    return f"/api/v1/namespaces/{key.namespace}/pods/{key.name}"


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _is_called_unready(pod: Object) -> bool:
    """Whether the control plane took a running pod's readiness away, as it does when its node is silent."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "False" for one in conditions)
