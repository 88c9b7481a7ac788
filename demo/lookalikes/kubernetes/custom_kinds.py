"""CustomResourceDefinitions, served as rows of the table of kinds."""

from datetime import datetime

from demo.lookalikes.kubernetes.kinds import Kind, Kinds
from demo.lookalikes.kubernetes.objects import Json, dig, name_of, namespace_of, stamp, with_value
from demo.lookalikes.kubernetes.store import Store, Stored


def kind_of(definition: Json) -> Kind | None:
    """Return the row of a CustomResourceDefinition; None when it serves no version."""
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


def establish(store: Store, kinds: Kinds, stored: Stored, *, now: datetime) -> Stored:
    """Serve the kind of a definition, and set the status of the definition."""
    kind = kind_of(stored.tree)
    names = stored.tree["spec"]["names"]
    kinds.remove(stored.tree["spec"]["group"], names["plural"])
    if kind is not None:
        kinds.add(kind)
    if dig(stored.tree, "status", "acceptedNames"):
        return stored
    at = stamp(now)
    conditions = [
        {"type": "NamesAccepted", "status": "True", "lastTransitionTime": at, "reason": "NoConflicts",
         "message": "no conflicts found"},
        {"type": "Established", "status": "True", "lastTransitionTime": at, "reason": "InitialNamesAccepted",
         "message": "the initial names have been accepted"},
    ]  # fmt: skip
    versions = [v["name"] for v in stored.tree["spec"].get("versions") or () if v.get("storage")]
    status = {"conditions": conditions, "acceptedNames": names, "storedVersions": versions}
    return store.put(stored.kind, with_value(stored.tree, ("status",), status))


def withdraw(store: Store, kinds: Kinds, definition: Json) -> None:
    """Remove the objects of a deleted definition and stop serving their kind."""
    kind = kind_of(definition)
    if kind is not None:
        for stored in store.all(kind):
            store.remove(kind, namespace_of(stored.tree), name_of(stored.tree))
    kinds.remove(definition["spec"]["group"], definition["spec"]["names"]["plural"])
