"""Checks of a launch in its cluster: the kind is served, the namespace is free or ours, the pull secret is there."""

from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence, word
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.execution.object_refs import ObjectReader, ObjectRef
from commands.training.manifests import MANAGED_BY, OURS, TRAINING_LABEL
from commands.training.spec import TrainingSpec
from commands.training.training_kinds import DEFAULT_KIND
from commands.training.writing_kind import WritingKind


async def check_served(kind: WritingKind, spec: TrainingSpec, reader: ObjectReader) -> None:
    """Raise UnusableError if the cluster does not serve the kind: its CustomResourceDefinition is not installed."""
    objects = kind.objects
    try:
        await reader.listing(ObjectRef(api=objects.api, kind=objects.kind, namespace=spec.namespace, name=""))
    except SourceError as error:
        if error.status != 404:
            raise
        raise UnusableError(
            sentence(
                "This cluster has no {kind}s: it does not serve {api}. Ask its administrators to "
                "install the controller, or launch with `--kind {option}`.",
                kind=objects.kind,
                api=objects.api,
                option=DEFAULT_KIND.option,
            )
        ) from error


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
