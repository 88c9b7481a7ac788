"""A launch whose line does not say it all: filled in from a file, and from a training that was launched before."""

from collections.abc import Sequence
from dataclasses import replace

from collectors.facts.sentences import sentence
from commands.core.cluster_selection import cluster_named
from commands.core.command import AnyCommand, UnusableError
from commands.core.context import CommandContext
from commands.core.matching.interpretation import positional_words
from commands.core.parsing import action_of, words_of
from commands.core.request import Upload
from commands.execution.plan import Plan
from commands.execution.steps import Create
from commands.models import Launch
from commands.training.launch import LaunchTraining
from commands.training.manifests import SCRIPT_NAME, SCRIPT_OBJECT
from commands.training.spec_file import Allowed, GivenSpec, is_spec, read_spec, spec_among

_FILLING = ("--like", "--spec", "--from")
_DEEPEST = 20  # trainings that were launched like each other


async def filled_in(
    action: LaunchTraining, context: CommandContext, command: AnyCommand
) -> tuple[LaunchTraining, CommandContext, GivenSpec]:
    """Return the launch as it is meant: the line counts first, then the file, then the training before it.

    With it comes the context, whose uploads are without the file. Raises UnusableError for a file that is wrong, or a
    training that was not launched here.
    """
    if not action.like and not action.spec:
        return action, context, GivenSpec()
    own, extra = line_options(command, words_of(context.line))
    words: list[str] = []
    if action.like:
        words, before, script = await _launched_with(action.like, context, command)
        extra = extra or before
        if not context.uploads and script is not None:
            context = replace(context, uploads=(script,))
    given = GivenSpec()
    if action.spec:
        defaults = context.defaults
        allowed = Allowed(
            images=defaults.training_images, queues=defaults.training_queues, teams=context.actor.teams
        )
        given = read_spec(spec_among(context.uploads, "--spec"), action.name, allowed, command.parameters)
        context = replace(context, uploads=tuple(one for one in context.uploads if not is_spec(one)))
        words += given.words
    line = [*command.name.split(), action.name, *words, *own, *(("--", *extra) if extra else ())]
    filled: LaunchTraining = action_of(command, line)
    return filled, context, given


def line_options(command: AnyCommand, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options of a line, without what fills it in, and the words after its dashes."""
    plain, _ = cluster_named(words)
    given = plain[len(command.name.split()) :]
    cut = given.index("--") if "--" in given else len(given)
    names = set(positional_words(command, given[:cut]))
    left_out = {at for at, word in enumerate(given[:cut]) if word.partition("=")[0] in _FILLING}
    left_out |= {at + 1 for at in left_out if given[at] == "--like"}
    kept = [word for at, word in enumerate(given[:cut]) if at not in names | left_out]
    return kept, list(given[cut + 1 :])


async def _launched_with(
    name: str, context: CommandContext, command: AnyCommand, deep: int = 0
) -> tuple[list[str], list[str], Upload | None]:
    """Return the options of the training's launch, the words after its dashes, and its script.

    Raises UnusableError for one whose line does not say it all.
    """
    plan = await _plan_of(name, context)
    typed = words_of(plan.line)
    words, extra = line_options(command, typed)
    script = _script_of(plan)
    if "--spec" in typed or "--from" in typed or deep > _DEEPEST:
        raise UnusableError(
            sentence("{training} was launched with a file: launch it with that file again.", training=name)
        )
    before: LaunchTraining = action_of(command, typed)
    if before.like:
        others, of_others, _ = await _launched_with(before.like, context, command, deep + 1)
        words, extra = [*others, *words], extra or of_others
    return words, extra, script


async def _plan_of(name: str, context: CommandContext) -> Plan:
    """Return the plan by which a training was launched here last."""
    async with context.store.read() as snapshot:
        launches = await snapshot.rows(Launch).find(cluster=context.cluster.name)
        named = [one for one in launches if name in (one.name, one.name.partition("/")[2]) and one.plan]
        newest = max(named, key=lambda one: one.at, default=None)
        plan = await snapshot.rows(Plan).get(newest.plan) if newest is not None else None
    if plan is None:
        raise UnusableError(
            sentence(
                "{training} was not launched here, so what it was launched with is not known.", training=name
            )
        )
    return plan


def _script_of(plan: Plan) -> Upload | None:
    for step in plan.steps:
        if isinstance(step, Create) and (step.ref.kind, step.ref.name) == ("ConfigMap", SCRIPT_OBJECT):
            return Upload(name=SCRIPT_NAME, content=str(step.manifest["data"][SCRIPT_NAME]).encode())
    return None
