"""Log lines of a pod: from the Kubernetes API, or from the log store when the pod is gone. Bounded and redacted."""

from collections.abc import Sequence
from dataclasses import dataclass

import click

from alerts.cards.message import Attachment, Block, Context, Message, Preformatted
from alerts.cards.text import text
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.facts.sentences import Sentence, said_by, sentence
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.core.parameter_types import WholeNumberType
from commands.execution.rights import Right

READ_LOGS = Right(group="", resources=("pods/log",), verbs=("get",))
LINES_SHOWN = 40  # in the answer itself; the full log is attached
MAX_TEXT = 256 << 10  # characters


def log_options() -> tuple[click.Option, click.Option]:
    """Return the options of each command that shows such lines: `--previous` and `--tail`."""
    return (
        click.Option(["--previous"], is_flag=True, help="the log of the run before the last restart"),
        click.Option(
            ["--tail"],
            type=WholeNumberType(least=1, most=2000),
            default=100,
            metavar="LINES",
            help="how many lines; default: 100",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PodLog:
    """Which lines are wanted. `waits`: why its container is not running, if that is known."""

    namespace: str
    pod: str
    container: str = ""  # empty: the only one
    tail: int
    previous: bool = False
    waits: str = ""


async def lines_of(log: PodLog, context: CommandContext) -> tuple[list[str], str]:
    """Return the last lines, as they are, and their source. Raises UnusableError if no source has any."""
    problem: str = sentence("the settings give no access to its pods")
    if context.cluster.pod_logs is not None:
        try:
            found = await context.cluster.pod_logs.logs(
                log.namespace, log.pod, container=log.container, tail=log.tail, previous=log.previous
            )
            if found.strip() or context.cluster.logs is None:
                source = (
                    sentence("the Kubernetes API, previous run")
                    if log.previous
                    else sentence("the Kubernetes API")
                )
                return found.splitlines(), source
            problem = sentence("the Kubernetes API has no lines of it")
        except SourceError as error:
            problem = _api_problem(log, error)
    if context.cluster.logs is None:
        raise UnusableError(
            sentence(
                "There is no log of {pod}: {problem}, and the settings name no log store.",
                pod=log.pod,
                problem=problem,
            )
        )
    return await _stored_lines(log, problem, context)


async def _stored_lines(log: PodLog, problem: str, context: CommandContext) -> tuple[list[str], str]:
    assert context.cluster.logs is not None
    where = {"namespace": log.namespace, "pod": log.pod}
    try:
        stored = await context.cluster.logs.lines(where=where, at=context.now, tail=log.tail)
    except SourceError as error:
        raise UnusableError(
            sentence(
                "There is no log of {pod}: {problem}; the log store: {error}",
                pod=log.pod,
                problem=problem,
                error=said_by(error),
            )
        ) from error
    if not stored:
        raise UnusableError(
            sentence(
                "There is no log of {pod}: {problem}, and the log store has no lines of it.",
                pod=log.pod,
                problem=problem,
            )
        )
    lines = [f"{line.at:%H:%M:%S} {line.text}" for line in stored]
    if log.previous:
        return lines, sentence(
            "the log store, because {problem}; it has the lines of all runs", problem=problem
        )
    return lines, sentence("the log store, because {problem}", problem=problem)


def log_message(
    title: Sentence, lines: Sequence[str], source: str, file: str, context: CommandContext, *more: Block
) -> Message:
    """Return the lines as a message: the last of them in it, and all in the attached file of that name."""
    whole = Redactor(context.defaults.redact, limit=MAX_TEXT).clean("\n".join(lines))
    shown = whole.splitlines()
    files: tuple[Attachment, ...] = ()
    said = sentence("from {source}", source=source)
    if len(shown) > LINES_SHOWN:
        files = (Attachment(name=file, content=whole),)
        said = sentence(
            "from {source}; the last {shown} of {lines} lines, the rest is in the file",
            source=source,
            shown=LINES_SHOWN,
            lines=len(shown),
        )
    return Message(
        title=text(title),
        blocks=(
            Preformatted(lines=tuple(shown[-LINES_SHOWN:]) or ("(no lines)",)),
            Context(text=text(said)),
            *more,
        ),
        attachments=files,
    )


def _api_problem(log: PodLog, reason: SourceError) -> str:
    if reason.status == 404:
        return sentence("the pod is gone")
    if reason.status == 400:  # its container waits, or there is no previous run
        return log.waits or said_by(reason)
    return said_by(reason)
