"""Priority classes of trainings: which may be used, and what they do to other pods."""

from collectors.facts.results import SourceError
from commands.core.command import UnusableError
from commands.execution.object_refs import ObjectReader, ObjectRef

RESERVED = "system-"  # classes of the cluster's own pods, which preempt everything


def check_priority_class(name: str) -> None:
    """Raise UnusableError for a class that is reserved for the cluster's own pods."""
    if name.startswith(RESERVED):
        raise UnusableError(
            f"Priority class `{name}` is reserved for the cluster's own pods: choose another."
        )


async def preemption_note(name: str, reader: ObjectReader) -> str:
    """Return whether pods of the class end others to get their place. Raises UnusableError if there is none."""
    ref = ObjectRef(api="scheduling.k8s.io/v1", kind="PriorityClass", name=name)
    try:
        found = await reader.read(ref)
    except SourceError as error:
        if error.status != 403:
            raise
        return f"Whether priority class {name} preempts other pods is not known: Yardmaster may not read it."
    if found is None:
        raise UnusableError(f"There is no priority class `{name}` in this cluster.")
    if found.get("preemptionPolicy") == "Never":
        return (
            f"Priority class {name} ({found['value']}) goes first in the queue and preempts no running pod."
        )
    return (
        f"Priority class {name} ({found['value']}) preempts: where a task does not fit, Kubernetes ends running "
        "pods of lower priority, of any team."
    )
