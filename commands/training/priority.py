"""Priority classes of trainings: which may be used, and what they do to other pods."""

from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from commands.core.command import UnusableError
from commands.execution.object_refs import ObjectReader, ObjectRef

RESERVED = "system-"  # classes of the cluster's own pods, which preempt everything


def check_priority_class(name: str) -> None:
    """Raise UnusableError for a class that is reserved for the cluster's own pods."""
    if name.startswith(RESERVED):
        raise UnusableError(
            sentence(
                "Priority class `{priority_class}` is reserved for the cluster's own pods: choose another.",
                priority_class=name,
            )
        )


async def preemption_note(name: str, reader: ObjectReader) -> str:
    """Return whether pods of the class end others to get their place. Raises UnusableError if there is none."""
    ref = ObjectRef(api="scheduling.k8s.io/v1", kind="PriorityClass", name=name)
    try:
        found = await reader.read(ref)
    except SourceError as error:
        if error.status != 403:
            raise
        return sentence(
            "Whether priority class {priority_class} preempts other pods is not known: Yardmaster may not read it.",
            priority_class=name,
        )
    if found is None:
        raise UnusableError(
            sentence("There is no priority class `{priority_class}` in this cluster.", priority_class=name)
        )
    if found.get("preemptionPolicy") == "Never":
        return sentence(
            "Priority class {priority_class} ({value}) goes first in the queue and preempts no running pod.",
            priority_class=name,
            value=found["value"],
        )
    return sentence(
        "Priority class {priority_class} ({value}) preempts: where a task does not fit, Kubernetes "
        "ends running pods of lower priority, of any team.",
        priority_class=name,
        value=found["value"],
    )
