"""This file is what goes wrong with Ceph and its volumes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from demo.world.faults.fault import Quiet, UnknownFaultError, host_of
from demo.world.shared_services import PodKey, Volume
from demo.world.state import Happening, State


@dataclass(frozen=True, slots=True, kw_only=True)
class OsdDown(Quiet):
    """Ceph OSDs are down."""

    osds: tuple[int, ...] = (3,)

    def begin(self, state: State) -> list[Happening]:
        return self._set(state, up=False)

    def end(self, state: State) -> list[Happening]:
        return self._set(state, up=True)

    def _set(self, state: State, *, up: bool) -> list[Happening]:
        told: list[Happening] = []
        for osd in state.ceph.osds:
            if osd.number in self.osds:
                osd.up = up
                facts = {"osd": str(osd.number), "way": "up" if up else "down"}
                told += [
                    Happening(at=state.now, what="osd", node=host.name, facts=facts)
                    for host in state.hosts.values()
                    if host.spec.gpus
                ][:6]
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeFormat(Quiet):
    """The incident of the mounted image, step by step: a reader leaves, the unmap fails because an exporter still
    holds the mount, a writer cannot mount, the probe finds no file system, and the volume is formatted."""

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
            there = ", ".join(f"{k.namespace}/{k.name}" for k in state.ceph.volumes) or "none"
            raise UnknownFaultError(f"there is no claim {self.claim!r}; there is {there}")
        return state.ceph.volumes[key]

    def begin(self, state: State) -> list[Happening]:
        host_of(state, self.node)
        volume = self._volume(state)
        volume.busy, volume.node = True, self.node
        return []

    def go_on(self, state: State, age: timedelta, dt: timedelta) -> list[Happening]:
        volume = self._volume(state)
        before, after = (age - dt).total_seconds(), age.total_seconds()
        told: list[Happening] = []
        for number, what in enumerate(self.STEPS):
            if before < (number + 1) * self.pace <= after:
                if what == "format" and not volume.busy:
                    break  # somebody made the exporter let go in time: the mount works and nothing is formatted
                facts = {
                    "image": volume.image,
                    "claim": volume.claim.name,
                    "namespace": volume.claim.namespace,
                }
                told.append(Happening(at=state.now, what=what, node=self.node, facts=facts))
                if what == "format":
                    volume.used = volume.capacity * 0.0004
                    volume.busy = False
        return told

    def end(self, state: State) -> list[Happening]:
        self._volume(state).busy = False
        return []
