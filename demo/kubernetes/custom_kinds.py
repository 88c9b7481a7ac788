"""This file turns CustomResourceDefinitions into rows of the table of kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from demo.kubernetes.kinds import Kind
from demo.kubernetes.objects import Json, dig, name_of, namespace_of, stamp, with_value
from demo.kubernetes.store import Stored

if TYPE_CHECKING:
    from demo.kubernetes.cluster import Cluster


def kind_of(definition: Json) -> Kind | None:
    """Return the row that a CustomResourceDefinition stands for; None when it serves no version."""
    spec = definition["spec"]
    served = [version for version in spec.get("versions") or () if version.get("served")]
    if not served:
        return None
    stored = next((version for version in served if version.get("storage")), served[0])
    subresources = dig(stored, "subresources") or {}
    scale = subresources.get("scale") or {}
    return Kind(
        group=spec["group"],
        version=stored["name"],
        plural=spec["names"]["plural"],
        kind=spec["names"]["kind"],
        namespaced=spec.get("scope") == "Namespaced",
        subresources=frozenset(subresources),
        short=tuple(dig(spec, "names", "shortNames") or ()),
        custom=True,
        scale_paths=(
            scale.get("specReplicasPath", ""),
            scale.get("statusReplicasPath", ""),
            scale.get("labelSelectorPath", ""),
        ),
        served_as=tuple(version["name"] for version in served if version is not stored),
    )


def adopt(cluster: Cluster, stored: Stored) -> Stored:
    """Serve what the definition describes and say so in its status."""
    kind = kind_of(stored.tree)
    names = stored.tree["spec"]["names"]
    cluster.kinds.remove(stored.tree["spec"]["group"], names["plural"])
    if kind is not None:
        cluster.kinds.add(kind)
    if dig(stored.tree, "status", "acceptedNames"):
        return stored
    now = stamp(cluster.clock())
    conditions = [
        {"type": "NamesAccepted", "status": "True", "lastTransitionTime": now, "reason": "NoConflicts",
         "message": "no conflicts found"},
        {"type": "Established", "status": "True", "lastTransitionTime": now, "reason": "InitialNamesAccepted",
         "message": "the initial names have been accepted"},
    ]  # fmt: skip
    versions = [v["name"] for v in stored.tree["spec"].get("versions") or () if v.get("storage")]
    status = {"conditions": conditions, "acceptedNames": names, "storedVersions": versions}
    return cluster.store.put(stored.kind, with_value(stored.tree, ("status",), status))


def abandon(cluster: Cluster, definition: Json) -> None:
    """Drop the objects of a deleted definition and serve their kind no more."""
    kind = kind_of(definition)
    if kind is not None:
        for stored in cluster.store.all(kind):
            cluster.store.remove(kind, namespace_of(stored.tree), name_of(stored.tree))
    cluster.kinds.remove(definition["spec"]["group"], definition["spec"]["names"]["plural"])
