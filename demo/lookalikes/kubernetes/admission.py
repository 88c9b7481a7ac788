"""Admission of new objects: the priority and preemption policy of pods."""

from demo.lookalikes.kubernetes.errors import forbidden
from demo.lookalikes.kubernetes.kinds import Kind, Kinds
from demo.lookalikes.kubernetes.objects import Json, dig, name_of
from demo.lookalikes.kubernetes.store import Store

_SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admit(store: Store, kinds: Kinds, kind: Kind, tree: Json) -> Json:
    """Return the object as admission changes it, or refuse with 403."""
    if kind.listing != "pods" or not isinstance(tree.get("spec"), dict):
        return tree
    spec = tree["spec"]
    classes = [stored.tree for stored in store.all(kinds.named("priorityclasses"))]
    wanted = spec.get("priorityClassName")
    if wanted:
        found = next((c for c in classes if name_of(c) == wanted), None)
        if found is None and wanted not in _SYSTEM_PRIORITIES:
            raise forbidden("pods", name_of(tree), f"no PriorityClass with name {wanted} was found")
        value = dig(found, "value") if found else _SYSTEM_PRIORITIES[wanted]
        policy = dig(found, "preemptionPolicy")
    else:
        found = next((c for c in classes if c.get("globalDefault")), None)
        value = dig(found, "value") or 0
        policy = dig(found, "preemptionPolicy")
        if found:
            spec = {**spec, "priorityClassName": name_of(found)}
    return {**tree, "spec": {**spec, "priority": value, **({"preemptionPolicy": policy} if policy else {})}}
