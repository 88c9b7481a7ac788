"""This file is the Events that kubelets write about their node and its pods, one for each happening that has one."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from demo.world.kube.api import Api, Object
from demo.world.kube.cache import ObjectCache
from demo.world.kube.heartbeats import OUTSIDE
from demo.world.kube.statuses import moment
from demo.world.state import Happening

LOG = logging.getLogger(__name__)
KEPT = 500  # events that wait; beyond it the oldest are lost
PAUSE = 0.5  # s

# What happened -> type, reason and message; the facts fill the message. About the pod where `of` is pod, else the node.
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
    """A queue of Events on their way to the API."""

    api: Api
    cache: ObjectCache
    _waiting: deque[Object] = field(default_factory=lambda: deque(maxlen=KEPT))

    def add(self, happened: Happening) -> None:
        """Note the Event of a happening, if it has one."""
        made = self.event(happened)
        if made is not None:
            self._waiting.append(made)

    def event(self, happened: Happening) -> Object | None:
        """The Event object, or None when this leaves none or its subject is gone."""
        kind = KINDS.get(happened.what)
        if kind is None:
            return None
        about, level, reason, message = kind
        facts = {**happened.facts, "node": happened.node or ""}
        if about == "pod" and happened.pod is not None:
            found, where = self.cache.get("Pod", *happened.pod), happened.pod.namespace
            name, subject = happened.pod.name, "Pod"
        else:
            found, where = self.cache.get("Node", "", happened.node or ""), "default"
            name, subject = happened.node or "", "Node"
        if found is None:
            return None
        involved = {"apiVersion": "v1", "kind": subject, "name": name, "uid": found["metadata"]["uid"]}
        if subject == "Pod":
            involved["namespace"] = where
        at = moment(happened.at)
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{name}.{uuid.uuid4().hex[:16]}", "namespace": where},
            "involvedObject": involved,
            "type": level,
            "reason": reason.format(**facts),
            "message": message.format(**facts),
            "source": {"component": "kubelet", "host": happened.node or ""},
            "firstTimestamp": at,
            "lastTimestamp": at,
            "count": 1,
        }

    async def run(self) -> None:
        """Write them until cancelled. One that is refused is dropped: Events are best effort."""
        while True:
            while self._waiting:
                made = self._waiting.popleft()
                try:
                    await self.api.create(f"/api/v1/namespaces/{made['metadata']['namespace']}/events", made)
                except OUTSIDE as error:
                    LOG.debug("an Event was not written: %s", error)
            await asyncio.sleep(PAUSE)
