"""Kubernetes Events that kubelets write about their node and its pods."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from demo.world.kube.api import Api, Object
from demo.world.kube.cache import ObjectCache
from demo.world.kube.heartbeats import API_ERRORS
from demo.world.kube.statuses import moment
from demo.world.state import WorldEvent

LOG = logging.getLogger(__name__)
KEPT = 500  # queued Events; beyond it the oldest are dropped
PAUSE = 0.5  # s

# World event -> subject (pod or node), type, reason and message; the event's facts fill the message.
KINDS: Mapping[str, tuple[str, str, str, str]] = {
    "oom": ("node", "Warning", "SystemOOM", "System OOM encountered, victim process: python3, pid: 51877"),
    "node-condition": ("node", "Normal", "{reason}", "Node {node} status is now: {reason}"),
    "kubelet-start": ("node", "Normal", "Starting", "Starting kubelet."),
    "unmap-failed": (
        "node",
        "Warning",
        "FailedUnmapDevice",
        "UnmountDevice failed for volume {image}: exit status 16",
    ),
    "mount-failed": (
        "node",
        "Warning",
        "FailedMount",
        "MountVolume.MountDevice failed for volume {image}: wrong fs type, bad option, bad superblock on /dev/rbd1",
    ),
    "container-restarted": ("pod", "Normal", "Started", "Started container"),
    "pod-started": ("pod", "Normal", "Started", "Started container"),
    "pod-stopped": ("pod", "Normal", "Killing", "Stopping container"),
}


@dataclass(slots=True)
class Events:
    """A queue of Events to write to the API."""

    api: Api
    cache: ObjectCache
    _waiting: deque[Object] = field(default_factory=lambda: deque(maxlen=KEPT))

    def add(self, event: WorldEvent) -> None:
        """Queue the Kubernetes Event of a world event, if it has one."""
        obj = self.event(event)
        if obj is not None:
            self._waiting.append(obj)

    def event(self, event: WorldEvent) -> Object | None:
        """Return the Event object, or None when there is none or its subject does not exist."""
        kind = KINDS.get(event.what)
        if kind is None:
            return None
        about, level, reason, message = kind
        facts = {**event.facts, "node": event.node or ""}
        if about == "pod" and event.pod is not None:
            found, where = self.cache.get("Pod", *event.pod), event.pod.namespace
            name, subject = event.pod.name, "Pod"
        else:
            found, where = self.cache.get("Node", "", event.node or ""), "default"
            name, subject = event.node or "", "Node"
        if found is None:
            return None
        involved = {"apiVersion": "v1", "kind": subject, "name": name, "uid": found["metadata"]["uid"]}
        if subject == "Pod":
            involved["namespace"] = where
        at = moment(event.at)
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{name}.{uuid.uuid4().hex[:16]}", "namespace": where},
            "involvedObject": involved,
            "type": level,
            "reason": reason.format(**facts),
            "message": message.format(**facts),
            "source": {"component": "kubelet", "host": event.node or ""},
            "firstTimestamp": at,
            "lastTimestamp": at,
            "count": 1,
        }

    async def run(self) -> None:
        """Write the queue until cancelled. Rejected Events are dropped: Events are best effort."""
        while True:
            while self._waiting:
                obj = self._waiting.popleft()
                try:
                    await self.api.create(f"/api/v1/namespaces/{obj['metadata']['namespace']}/events", obj)
                except API_ERRORS as error:
                    LOG.debug("an Event was not written: %s", error)
            await asyncio.sleep(PAUSE)
