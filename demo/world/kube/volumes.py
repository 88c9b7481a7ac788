"""This file is the provisioner's side: claims that name their volume get bound, and images get a size."""

from __future__ import annotations

from dataclasses import dataclass

from demo.world.exporters.quantities import quantity
from demo.world.kube.api import MERGE, Api
from demo.world.kube.cache import ObjectCache
from demo.world.shared_services import PodKey, Volume
from demo.world.state import State


@dataclass(slots=True)
class Volumes:
    """Claims and images. A control plane that binds claims itself finds them bound."""

    api: Api
    cache: ObjectCache
    state: State

    async def bind(self) -> None:
        """Bind what waits, and know every claim's image."""
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
