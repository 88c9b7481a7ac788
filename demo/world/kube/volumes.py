"""The provisioner: binds PersistentVolumeClaims to their volumes and sizes the images."""

from __future__ import annotations

from dataclasses import dataclass

from demo.world.exporters.quantities import quantity
from demo.world.kube.api import MERGE, Api
from demo.world.kube.cache import ObjectCache
from demo.world.shared_services import PodKey, Volume
from demo.world.state import State


@dataclass(slots=True)
class Volumes:
    """Claims and images. Claims that the control plane has bound are left unchanged."""

    api: Api
    cache: ObjectCache
    state: State

    async def bind(self) -> None:
        """Bind pending claims, and record the image of every claim."""
        for claim in list(self.cache.all("PersistentVolumeClaim")):
            meta, spec = claim["metadata"], claim["spec"]
            key = PodKey(meta["namespace"], meta["name"])
            if key not in self.state.ceph.volumes:
                size = quantity(spec["resources"]["requests"]["storage"])
                image = f"csi-vol-{meta['name']}"
                self.state.ceph.volumes[key] = Volume(claim=key, image=image, capacity=size, used=size * 0.61)
            if (claim.get("status") or {}).get("phase") == "Pending" and spec.get("volumeName"):
                status = {
                    "phase": "Bound",
                    "accessModes": spec["accessModes"],
                    "capacity": spec["resources"]["requests"],
                }
                path = f"/api/v1/namespaces/{meta['namespace']}/persistentvolumeclaims/{meta['name']}/status"
                await self.api.patch(path, {"status": status}, kind=MERGE)
                volume = f"/api/v1/persistentvolumes/{spec['volumeName']}/status"
                await self.api.patch(volume, {"status": {"phase": "Bound"}}, kind=MERGE)
