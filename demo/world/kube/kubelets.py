"""Pod lifecycle of all kubelets: start, end, restart, deletion, and the status in the API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from demo.world.kube import bodies, statuses
from demo.world.kube.api import Api, Object
from demo.world.kube.cache import ObjectCache
from demo.world.kube.heartbeats import API_ERRORS
from demo.world.pod_placement import NoCapacityError, join, place, release, remove
from demo.world.shared_services import PodKey
from demo.world.state import Body, Host, Role, State, WorldEvent

LOG = logging.getLogger(__name__)
SIGTERM = 143  # the exit code after SIGTERM
CONCURRENCY = 12  # concurrent syncs


@dataclass(slots=True)
class Kubelets:
    """The pod side of all kubelets. Call `pod_changed` for each change of a pod and `tick` once a step."""

    api: Api
    cache: ObjectCache
    state: State
    emit: Callable[[WorldEvent], None]
    backdated_to: datetime | None = None  # start time of pods while the cluster is built
    restarts: dict[PodKey, int] = field(default_factory=dict)
    _todo: asyncio.Queue[PodKey] = field(default_factory=asyncio.Queue)
    _waiting: set[PodKey] = field(default_factory=set)
    _addresses: dict[str, int] = field(default_factory=dict)
    _reported: set[tuple[PodKey, str]] = field(default_factory=set)

    def pod_changed(self, what: str, pod: Object) -> None:
        """Queue a pod that changed."""
        if pod["spec"].get("nodeName") in self.state.hosts or what == "DELETED":
            self._put(bodies.key_of(pod))

    def _put(self, key: PodKey) -> None:
        if key not in self._waiting:
            self._waiting.add(key)
            self._todo.put_nowait(key)

    async def work(self) -> None:
        """Sync queued pods until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(CONCURRENCY):
                tasks.create_task(self._worker(), name=f"world kubelet {number}")

    async def _worker(self) -> None:
        while True:
            key = await self._todo.get()
            self._waiting.discard(key)
            try:
                await self._sync(key)
            except API_ERRORS as error:
                LOG.debug("pod %s: %s", key, error)
                await asyncio.sleep(0.5)
                self._put(key)

    async def _sync(self, key: PodKey) -> None:
        """Reconcile one pod's process and its object in the API."""
        pod = self.cache.get("Pod", *key)
        body = self.state.bodies.get(key)
        if pod is None or (body is not None and body.uid != pod["metadata"]["uid"]):
            self._remove(key)
            if pod is None:
                return
            body = None
        host = self.state.hosts.get(pod["spec"].get("nodeName", ""))
        if host is None or not host.kubelet_alive:
            return
        if pod["metadata"].get("deletionTimestamp"):
            await self._finish_deletion(pod, key)
        elif bodies.is_over(pod):
            self._remove(key)
        elif body is None:
            await self._start(pod, host)
        elif body.exit is not None:
            await self._end(pod, body, host)
        else:
            await self._reconcile_status(pod, body, host)

    def _remove(self, key: PodKey) -> None:
        remove(self.state, key)
        self.restarts.pop(key, None)

    async def _finish_deletion(self, pod: Object, key: PodKey) -> None:
        """Stop the process of a pod in deletion, report its exit status, and delete the object."""
        if bodies.is_over(pod) and pod["metadata"].get("deletionGracePeriodSeconds") == 0:
            return  # done; a finalizer still holds it
        body = self.state.bodies.get(key)
        if body is not None:
            facts = {"uid": body.uid}
            self.emit(WorldEvent(at=self.state.now, what="pod-stopped", node=body.node, pod=key, facts=facts))
            if body.exit is None:
                body.exit, body.exit_reason = SIGTERM, "Error"
            if not bodies.is_over(pod):
                status = statuses.pod_ended(pod, body, self.state.now, restarts=self.restarts.get(key, 0))
                await self.api.patch(_path(key) + "/status", status)
        self._remove(key)
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
        begun = _moment(status.get("startTime")) if running else self.backdated_to
        try:
            place(self.state, body, gpus=bodies.gpus_of(pod), started=begun)
        except NoCapacityError as error:
            await self.api.patch(
                _path(body.key) + "/status",
                statuses.pod_refused("UnexpectedAdmissionError", str(error), self.state.now),
            )
            return
        self._join_training(pod, body)
        if not running:
            self.emit(
                WorldEvent(
                    at=self.state.now,
                    what="pod-started",
                    node=host.name,
                    pod=body.key,
                    facts={"uid": body.uid},
                )
            )
            await self.api.patch(_path(body.key) + "/status", statuses.pod_running(pod, body, host))

    def _join_training(self, pod: Object, body: Body) -> None:
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
        """Handle an ended process: restart it, or report that the pod has ended."""
        count = self.restarts.get(body.key, 0)
        if bodies.restarts(pod):
            last = statuses.termination(body, self.state.now)
            body.exit, body.exit_reason, body.started = None, "", self.state.now
            self.restarts[body.key] = count + 1
            facts = {"uid": body.uid}
            self.emit(
                WorldEvent(
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
            self._remove(body.key)

    async def _reconcile_status(self, pod: Object, body: Body, host: Host) -> None:
        """Correct the status after an in-place resize, and after the control plane marked the pod unready."""
        shown = {
            c["name"]: c.get("resources") or {}
            for c in (pod.get("status") or {}).get("containerStatuses") or []
        }
        wanted = {c["name"]: c.get("resources") or {} for c in pod["spec"]["containers"]}
        if shown and (shown != wanted or _is_marked_unready(pod)):
            count = self.restarts.get(body.key, 0)
            await self.api.patch(
                _path(body.key) + "/status", statuses.pod_running(pod, body, host, restarts=count)
            )

    def tick(self) -> None:
        """Queue pods whose process ended, and those that a failed request left unfinished."""
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
            if pod["spec"].get("nodeName") in self.state.hosts and self._needs_sync(pod, key):
                self._put(key)

    def _is_old(self, body: Body) -> bool:
        return body.started is not None and self.state.now - body.started > timedelta(seconds=30)

    def _needs_sync(self, pod: Object, key: PodKey) -> bool:
        """Whether a stopped kubelet or a failed request left the pod unfinished."""
        if _is_marked_unready(pod) and key in self.state.bodies and not bodies.is_over(pod):
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


def _is_marked_unready(pod: Object) -> bool:
    """Whether the control plane marked the pod unready, as it does when its node is silent."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(one["type"] == "Ready" and one["status"] == "False" for one in conditions)
