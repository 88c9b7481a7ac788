"""Checks of a launch in its cluster: the kind is served, the namespace is free or ours, the pull secret is there."""

from collections.abc import Collection

from collectors.facts.results import SourceError
from collectors.facts.sentences import as_code, listed, sentence, word
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.execution.object_refs import ObjectReader, ObjectRef
from commands.training.manifests import MANAGED_BY, OURS, TRAINING_LABEL
from commands.training.spec import KUEUE, TrainingSpec
from commands.training.training_kinds import BY_OPTION, DEFAULT_KIND
from commands.training.writing_kind import Launching, WritingKind


def check_used(kind: WritingKind, used: Collection[str]) -> None:
    """Raise UnusableError for a kind that the settings leave out; none given: all are used."""
    if used and kind.option not in used:
        raise UnusableError(
            sentence(
                "`--kind {option}` is not used here. `commands.training_kinds` has {kinds}.",
                option=kind.option,
                kinds=as_code(used),
            )
        )


async def served_kind(
    kind: WritingKind, spec: TrainingSpec, reader: ObjectReader
) -> tuple[WritingKind, list[str]]:
    """Return the kind that the cluster serves, with notes: this one, or one of its name in another version.

    Raises UnusableError if there is none: its CustomResourceDefinition is not installed.
    """
    objects = kind.objects
    name = (objects.kind, objects.group)
    others = (one for one in BY_OPTION.values() if (one.objects.kind, one.objects.group) == name)
    for one in (kind, *(other for other in others if other is not kind)):
        if await _is_served(one, spec, reader):
            if one is kind:
                return one, []
            note = sentence(
                "This cluster serves {api} and not {other}: it is launched as that {kind}.",
                api=one.objects.api,
                other=objects.api,
                kind=objects.kind,
            )
            return one, [note]
    raise UnusableError(
        sentence(
            "This cluster has no {kind}s: it does not serve {api}. Ask its administrators to "
            "install the controller, or launch with `--kind {option}`.",
            kind=objects.kind,
            api=objects.api,
            option=DEFAULT_KIND.option,
        )
    )


async def _is_served(kind: WritingKind, spec: TrainingSpec, reader: ObjectReader) -> bool:
    objects = kind.objects
    try:
        await reader.listing(ObjectRef(api=objects.api, kind=objects.kind, namespace=spec.namespace, name=""))
    except SourceError as error:
        if error.status != 404:
            raise
        return False
    return True


def unfit(kind: WritingKind, launching: Launching, spec: TrainingSpec) -> str:
    """Return what of the spec the kind cannot express; empty if it can all."""
    if spec.runtime and not launching.has_runtimes:
        return sentence("`--runtime` is not for {kind}s, which have no runtimes.", kind=kind.objects.kind)
    if (workers := spec.workers).least and not launching.elastic:
        elastic = [one.option for one in BY_OPTION.values() if one.launching and one.launching.elastic]
        return sentence(
            "`--workers {least}..{most}` is not for {kind}s, whose number of workers is fixed: give one number, or "
            "launch it as {kinds}.",
            least=workers.least,
            most=workers.replicas,
            kind=kind.objects.kind,
            kinds=listed((as_code([f"--kind {option}"]) for option in elastic), "or"),
        )
    return launching.refusal(spec)


def elastic_notes(launching: Launching, spec: TrainingSpec) -> list[str]:
    """Return what the kind, and its queue, make of a range of workers."""
    if not (workers := spec.workers).least:
        return []
    notes = [launching.elastic]
    if spec.queue_system == KUEUE:
        notes.append(
            sentence(
                "Kueue starts it once queue {queue} has room for all {most} workers.",
                queue=spec.queue,
                most=workers.replicas,
            )
        )
    return notes


async def check_needed(launching: Launching, spec: TrainingSpec, reader: ObjectReader) -> None:
    """Raise UnusableError unless the cluster has what the kind needs for this spec."""
    for ref in launching.needs(spec):
        if await reader.read(ref) is None:
            raise UnusableError(
                sentence("This cluster has no {kind} `{name}`.", kind=ref.kind, name=ref.name)
            )


async def is_namespace_ours(spec: TrainingSpec, context: CommandContext, reader: ObjectReader) -> bool:
    """False: to be created. True: ours and empty, from an earlier run. Raises UnusableError otherwise."""
    found = await reader.read(ObjectRef(api="v1", kind="Namespace", name=spec.namespace))
    training = next((one for one in context.cluster.trainings() if one.id == spec.key), None)
    if training is not None and training.workloads:
        raise UnusableError(
            sentence(
                "Training `{training}` already exists ({state}): see `training show {typed}`; "
                "`training stop {typed}` deletes it.",
                training=training.shown,
                state=word(training.state.value),
                typed=training.typed,
            )
        )
    if found is None:
        return False
    labels = found["metadata"].get("labels") or {}
    if found["metadata"].get("deletionTimestamp"):
        raise UnusableError(
            sentence(
                "Namespace `{namespace}` is still being deleted: try again in a moment.",
                namespace=spec.namespace,
            )
        )
    if labels.get(MANAGED_BY) != OURS or labels.get(TRAINING_LABEL) != spec.name:
        raise UnusableError(
            sentence(
                "Namespace `{namespace}` exists and was not created for this training: choose "
                "another `--namespace`.",
                namespace=spec.namespace,
            )
        )
    return True


async def is_secret_copied(spec: TrainingSpec, reader: ObjectReader) -> bool:
    """Whether the copy from an earlier run is visible. Often we may not read it: creating it then finds it."""
    name = spec.pull_secret.partition("/")[2]
    if not name:
        return False
    secret = ObjectRef(api="v1", kind="Secret", namespace=spec.namespace, name=name)
    try:
        return await reader.read(secret) is not None
    except SourceError as error:
        if error.status == 403:
            return False
        raise


async def check_pull_secret(spec: TrainingSpec, reader: ObjectReader) -> None:
    """Raise UnusableError unless the pull secret that the settings name can be copied."""
    place, _, name = spec.pull_secret.partition("/")
    if not place or not name:
        raise UnusableError(
            sentence(
                "The pull secret `{pull_secret}` in the settings must be written as namespace/name: "
                "ask an administrator of Yardmaster.",
                pull_secret=spec.pull_secret,
            )
        )
    found = await reader.read(ObjectRef(api="v1", kind="Secret", namespace=place, name=name))
    if found is None:
        raise UnusableError(
            sentence(
                "The pull secret `{pull_secret}` for new trainings does not exist.",
                pull_secret=spec.pull_secret,
            )
        )
    if found.get("type") != "kubernetes.io/dockerconfigjson":
        raise UnusableError(
            sentence(
                "`{pull_secret}` is not a pull secret: its type is {type}.",
                pull_secret=spec.pull_secret,
                type=str(found.get("type")),
            )
        )
