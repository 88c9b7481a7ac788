"""Faults of Ceph and its volumes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from demo.world.faults.fault import BaseFault, UnknownFaultError, host_of
from demo.world.shared_services import PodKey, Volume
from demo.world.state import State, WorldEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class OsdDown(BaseFault):
    """Ceph OSDs are down."""

    osds: tuple[int, ...] = (3,)

    def begin(self, state: State) -> list[WorldEvent]:
        return self._set(state, up=False)

    def end(self, state: State) -> list[WorldEvent]:
        return self._set(state, up=True)

    def _set(self, state: State, *, up: bool) -> list[WorldEvent]:
        events: list[WorldEvent] = []
        for osd in state.ceph.osds:
            if osd.number in self.osds:
                osd.up = up
                facts = {"osd": str(osd.number), "way": "up" if up else "down"}
                events += [
                    WorldEvent(at=state.now, what="osd", node=host.name, facts=facts)
                    for host in state.hosts.values()
                    if host.spec.gpus
                ][:6]
        return events


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeFormat(BaseFault):
    """A mounted image is formatted, step by step: a reader leaves, the unmap fails because an exporter still holds
    the mount, a writer cannot mount, the probe finds no file system, and the kubelet formats the volume."""

    node: str
    claim: str = "vision-detr/coco-images"
    pace: float = 20.0  # s between the steps

    STEPS: ClassVar[tuple[str, ...]] = (
        "unmap-failed",
        "unmap-failed",
        "mount-failed",
        "mount-failed",
        "format",
    )

    def _volume(self, state: State) -> Volume:
        namespace, _, name = self.claim.partition("/")
        key = PodKey(namespace, name)
        if key not in state.ceph.volumes:
            known = ", ".join(f"{k.namespace}/{k.name}" for k in state.ceph.volumes) or "none"
            raise UnknownFaultError(f"no claim {self.claim!r}; choose from {known}")
        return state.ceph.volumes[key]

    def begin(self, state: State) -> list[WorldEvent]:
        host_of(state, self.node)
        volume = self._volume(state)
        volume.busy, volume.node = True, self.node
        return []

    def tick(self, state: State, age: timedelta, dt: timedelta) -> list[WorldEvent]:
        volume = self._volume(state)
        before, after = (age - dt).total_seconds(), age.total_seconds()
        events: list[WorldEvent] = []
        for number, what in enumerate(self.STEPS):
            if before < (number + 1) * self.pace <= after:
                if what == "format" and not volume.busy:
                    break  # the mount was released in time: it works and nothing is formatted
                facts = {
                    "image": volume.image,
                    "claim": volume.claim.name,
                    "namespace": volume.claim.namespace,
                }
                events.append(WorldEvent(at=state.now, what=what, node=self.node, facts=facts))
                if what == "format":
                    volume.used = volume.capacity * 0.0004
                    volume.busy = False
        return events

    def end(self, state: State) -> list[WorldEvent]:
        self._volume(state).busy = False
        return []
