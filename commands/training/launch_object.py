"""Planning of a launch of an object as it is, in a namespace of its own, like every launch."""

from dataclasses import replace

from collectors.facts.sentences import sentence
from commands.core.command import AnyCommand, PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.core.parsing import words_of
from commands.execution.plan import in_order
from commands.execution.steps import Create
from commands.training import manifests
from commands.training.filling_in import line_options
from commands.training.given_object import only_these, read_object
from commands.training.launch import LaunchTraining, spec_of
from commands.training.launch_checks import check_used, is_namespace_ours, served_kind
from commands.training.launch_steps import create_namespace, note_launch
from commands.training.spec_checks import check_training_names
from commands.training.spec_file import Allowed, spec_among

_WITH_IT = dict.fromkeys(("--from", "--namespace", "--team"))


async def launch_object(action: LaunchTraining, context: CommandContext, command: AnyCommand) -> PlanDraft:
    """Plan to create the object of the file that came with the line. Raises UnusableError for what it must not have."""
    given, extra = line_options(command, words_of(context.line))
    only_these([*given, *(("--",) if extra else ())], _WITH_IT)
    defaults = context.defaults
    allowed = Allowed(
        images=defaults.training_images, queues=defaults.training_queues, teams=context.actor.teams
    )
    upload = spec_among(context.uploads, "--from")
    if len(context.uploads) > 1:
        raise UnusableError(sentence("Only the object is uploaded: a script has no place in it."))
    spec = replace(spec_of(action, replace(context, uploads=())), pull_secret="")
    check_training_names(spec)
    kind, tree = read_object(upload, spec.name, spec.namespace, allowed)
    check_used(kind, defaults.training_kinds)
    reader = reader_of(context)
    served, _ = await served_kind(kind, spec, reader)
    if served is not kind or kind.launching is None:
        raise UnusableError(sentence("This cluster does not serve {api}.", api=kind.objects.api))
    has_namespace = await is_namespace_ours(spec, context, reader)
    marks = manifests.top_object(spec, kind.objects.api, kind.objects.kind, spec.name)["metadata"]
    meta = tree["metadata"]
    for key in ("labels", "annotations"):
        meta[key] = {**meta.get(key, {}), **marks[key]}
    said = sentence(
        "create {manifest} as it is in {file}", manifest=manifests.manifest_name(tree), file=upload.name
    )
    own = Create(manifest=tree, description=said)
    around = () if has_namespace else (create_namespace(spec),)
    note = note_launch(
        (own,),
        spec,
        cluster=context.cluster.name,
        now=context.now,
        channel=context.origin.channel,
        thread=context.origin.thread,
        by_name=context.actor.name,
    )
    return PlanDraft(
        title=sentence("Launch {training} from {file}", training=spec.id, file=upload.name),
        stages=in_order(*around, own, note),
        notes=(
            sentence(
                "It is created as it is: whether it fits now is not known. It starts at once, unless it is suspended."
            ),
        ),
        is_fixed=True,
    )
