"""Rights that the steps of a plan need in Kubernetes, compared with the rights that their command declares."""

from collections.abc import Iterable

from commands.execution.object_paths import collection
from commands.execution.object_refs import ObjectRef, ref_of
from commands.execution.rights import Right
from commands.execution.steps import NodeJob, Order, Record, Step

LOOKING = {
    "get",
    "list",
    "watch",
}  # the cached kinds may be read anyway; the tests on real clusters cover the others


def forgotten_rights(rights: Iterable[Right], steps: Iterable[Step]) -> list[str]:
    """Return what the steps write and the rights do not allow."""
    known = tuple(rights)
    return [
        f"{verb} {resource}.{need.group} for: {step.description}"
        for step in steps
        for need in _needs(step)
        for resource in need.resources
        for verb in sorted({*need.verbs} - LOOKING)
        if not any(_covers(right, need.group, resource, verb, step) for right in known)
    ]


def _needs(step: Step) -> tuple[Right, ...]:
    """Return the rights of the step's kind for its own object."""
    if isinstance(step, Record):
        return ()
    ref = _written(step)
    plural = collection(ref).rpartition("/")[2]
    subresource = getattr(step, "subresource", "")
    group = ref.api.rpartition("/")[0]
    return type(step).rights(group, f"{plural}/{subresource}" if subresource else plural)


def _covers(right: Right, group: str, resource: str, verb: str, step: Step) -> bool:
    if (right.group, True, True) != (group, resource in right.resources, verb in right.verbs):
        return False
    assert not isinstance(step, Record)
    ref = _written(step)
    return right.namespace in ("", ref.namespace) and (not right.names or ref.name in right.names)


def _written(step: Step) -> ObjectRef:
    """Return the object that the step writes: a Job, where it is about a node, and an order."""
    assert not isinstance(step, Record)
    if isinstance(step, Order):
        return ref_of(step.manifest)
    return step.job if isinstance(step, NodeJob) else step.ref
