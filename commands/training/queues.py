"""The queue of a launch, by name: of Kueue, or of Volcano. It is checked to exist, to be open, and to be allowed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import as_code, listed, sentence
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.execution.object_refs import ObjectReader, ObjectRef
from commands.execution.rights import Right
from commands.execution.steps import Create, Step
from commands.training import manifests
from commands.training.spec import KUEUE, VOLCANO, TrainingSpec
from commands.training.writing_kind import Launching

KUEUE_API, VOLCANO_API = "kueue.x-k8s.io/v1beta2", "scheduling.volcano.sh/v1beta1"
_ROOT = "root"  # the queue above all of Volcano's
QUEUE_RIGHTS = (
    Right(group="kueue.x-k8s.io", resources=("clusterqueues", "workloadpriorityclasses"), verbs=("get",)),
    *Create.rights("kueue.x-k8s.io", "localqueues"),
    Right(group="scheduling.volcano.sh", resources=("queues",), verbs=("get", "list")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """The spec with its queue, the steps that the queue needs before the training, and notes."""

    spec: TrainingSpec
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()


async def queued(
    spec: TrainingSpec, kind: Launching, context: CommandContext, reader: ObjectReader
) -> Queued:
    """Return the spec in its queue. Raises UnusableError for a queue that cannot take it, or may not be used."""
    if not spec.queue:
        if spec.queue_priority:
            raise UnusableError(sentence("`--queue-priority` needs a `--queue`."))
        return Queued(spec=spec)
    check_allowed(spec.queue, context.defaults.training_queues, context.actor.teams)
    found = await _found(spec.queue, reader)
    systems = [system for system in kind.queues if system in found]
    if not systems:
        raise UnusableError(_missing(spec.queue, kind, found))
    if len(systems) > 1:
        raise UnusableError(
            sentence(
                "Both Kueue and Volcano have a queue `{queue}`: which one is meant is not known.",
                queue=spec.queue,
            )
        )
    (system,) = systems
    if system == VOLCANO:
        await _check_volcano(spec.queue, found[VOLCANO], reader)
        if spec.queue_priority:
            raise UnusableError(
                sentence("`--queue-priority` is Kueue's; Volcano orders a queue by `--priority-class`.")
            )
        return Queued(
            spec=replace(spec, queue_system=VOLCANO),
            notes=(
                sentence(
                    "Queue {queue} of Volcano holds it until all of its tasks have room.", queue=spec.queue
                ),
            ),
        )
    return await _in_kueue(replace(spec, queue_system=KUEUE), found[KUEUE], reader)


def check_allowed(queue: str, allowed: Mapping[str, Collection[str]], teams: Collection[str]) -> None:
    """Raise UnusableError for a queue that the settings give to other teams, or to none."""
    if not allowed:
        return
    of = sorted({team for pattern, names in allowed.items() if fits_any(queue, (pattern,)) for team in names})
    if "*" in of or not set(of).isdisjoint(teams):
        return
    if of:
        raise UnusableError(
            sentence("Queue `{queue}` is only for {teams}.", queue=queue, teams=listed(of, "and"))
        )
    raise UnusableError(
        sentence(
            "Queue `{queue}` is not among the allowed ones: {queues}.", queue=queue, queues=as_code(allowed)
        )
    )


async def queue_priority(name: str, reader: ObjectReader) -> int:
    """Return the value of a WorkloadPriorityClass. Raises UnusableError if there is none of this name."""
    ref = ObjectRef(api=KUEUE_API, kind="WorkloadPriorityClass", name=name)
    if (found := await reader.read(ref)) is None:
        raise UnusableError(
            sentence("There is no WorkloadPriorityClass `{priority}` in this cluster.", priority=name)
        )
    return int(found.get("value") or 0)


async def _found(queue: str, reader: ObjectReader) -> dict[str, dict[str, Any]]:
    """Return the queues of this name, by the system."""
    refs = {
        KUEUE: ObjectRef(api=KUEUE_API, kind="ClusterQueue", name=queue),
        VOLCANO: ObjectRef(api=VOLCANO_API, kind="Queue", name=queue),
    }
    read = {system: await reader.read(ref) for system, ref in refs.items()}
    return {system: one for system, one in read.items() if one is not None}


def _missing(queue: str, kind: Launching, found: Collection[str]) -> str:
    if found:
        return sentence(
            "Queue `{queue}` is one of {system}, which does not queue this kind.",
            queue=queue,
            system=listed(found, "and"),
        )
    return sentence(
        "There is no queue `{queue}`: neither a ClusterQueue of Kueue nor a Queue of Volcano has this name. It may "
        "be named by {systems} for this kind.",
        queue=queue,
        systems=listed(kind.queues, "or"),
    )


async def _check_volcano(queue: str, found: Mapping[str, Any], reader: ObjectReader) -> None:
    state = (found.get("status") or {}).get("state") or "Open"
    if state != "Open":
        raise UnusableError(
            sentence("Queue `{queue}` is {state}: it accepts nothing.", queue=queue, state=state)
        )
    others = await reader.listing(ObjectRef(api=VOLCANO_API, kind="Queue", name=""))
    below = sorted(one["metadata"]["name"] for one in others if one["spec"].get("parent") == queue)
    if queue == _ROOT or below:
        raise UnusableError(
            sentence(
                "Queue `{queue}` takes no trainings itself: choose one below it, such as {below}.",
                queue=queue,
                below=as_code(below) or sentence("none"),
            )
        )


async def _in_kueue(spec: TrainingSpec, found: Mapping[str, Any], reader: ObjectReader) -> Queued:
    of = found["spec"]
    if (stopped := of.get("stopPolicy") or "None") != "None":
        raise UnusableError(
            sentence("Queue `{queue}` is stopped ({policy}).", queue=spec.queue, policy=stopped)
        )
    labels = {
        **manifests.namespace(spec)["metadata"]["labels"],
        "kubernetes.io/metadata.name": spec.namespace,
    }
    if not selects(of.get("namespaceSelector"), labels):
        raise UnusableError(
            sentence(
                "Queue `{queue}` takes nothing from namespace {namespace}: its namespaceSelector does not select "
                "it. Ask its administrators.",
                queue=spec.queue,
                namespace=spec.namespace,
            )
        )
    if spec.queue_priority:
        await queue_priority(spec.queue_priority, reader)
    ref = ObjectRef(api=KUEUE_API, kind="LocalQueue", namespace=spec.namespace, name=spec.queue)
    steps: tuple[Step, ...] = ()
    if (local := await reader.read(ref)) is None:
        made = manifests.top_object(spec, KUEUE_API, "LocalQueue", spec.queue)
        made["spec"] = {"clusterQueue": spec.queue}
        steps = (
            Create(
                manifest=made,
                description=sentence("create a LocalQueue for queue {queue} of Kueue", queue=spec.queue),
            ),
        )
    elif local["spec"].get("clusterQueue") != spec.queue:
        raise UnusableError(
            sentence(
                "LocalQueue `{queue}` of namespace {namespace} leads into queue `{other}`.",
                queue=spec.queue,
                namespace=spec.namespace,
                other=str(local["spec"].get("clusterQueue")),
            )
        )
    note = sentence("Kueue starts it when queue {queue} has room for all of it.", queue=spec.queue)
    return Queued(spec=spec, steps=steps, notes=(note,))


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether a label selector selects these labels. None selects nothing, an empty one everything."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_holds(one, labels) for one in selector.get("matchExpressions") or ())


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = expression["key"], expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels
