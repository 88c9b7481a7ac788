"""Log lines of a pod: from the Kubernetes API, or from the log store when the pod is gone. Bounded and redacted.

All that shows or judges lines of pods reads them here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import click

from alerts.cards.message import Attachment, Block, Context, Message, Preformatted
from alerts.cards.text import text
from collectors.facts.redaction import MARK, Redactor
from collectors.facts.results import SourceError
from collectors.facts.sentences import Sentence, said_by, sentence
from commands.core.command import UnusableError
from commands.core.context import Cluster, CommandContext, PodLogReader
from commands.core.parameter_types import WholeNumberType
from commands.core.parameters import flag, option
from commands.execution.rights import Right

READ_LOGS = Right(group="", resources=("pods/log",), verbs=("get",))
LINES_SHOWN = 40  # in the answer itself; the full log is attached
FEW_LINES = 12
MAX_TEXT = 256 << 10  # characters
MAX_LOG = 1 << 18  # bytes that are read


def log_options() -> tuple[click.Option, click.Option]:
    """Return the options of each command that shows such lines: `--previous` and `--tail`."""
    return (
        flag("--previous", help="the log of the run before the last restart"),
        option(
            "--tail",
            type=WholeNumberType(least=1, most=2000),
            default=100,
            metavar="LINES",
            help="how many lines; default: 100",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedLine:
    at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PodLog:
    """Which lines are wanted. `waits`: why its container is not running, if that is known."""

    namespace: str
    pod: str
    container: str = ""  # empty: the only one
    tail: int
    previous: bool = False
    since: timedelta | None = None
    waits: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLines:
    """The last lines, without secrets, and where they are from. A log store has those of all runs of the pod."""

    lines: tuple[TimedLine, ...]
    source: Sentence
    is_stored: bool = False

    @property
    def shown(self) -> list[str]:
        """As people read them: the API's are as the program printed them."""
        return [f"{one.at:%H:%M:%S} {one.text}" if self.is_stored else one.text for one in self.lines]


async def read_lines(log: PodLog, cluster: Cluster, *, redact: Redactor, now: datetime) -> FoundLines:
    """Return the last lines from the API, or from the log store. Raises UnusableError if neither has any."""
    problem: str = sentence("the settings give no access to its pods")
    if cluster.pod_logs is not None:
        try:
            found = await api_lines(log, cluster.pod_logs, redact=redact, now=now)
            if any(one.text.strip() for one in found) or cluster.logs is None:
                source = (
                    sentence("the Kubernetes API, previous run")
                    if log.previous
                    else sentence("the Kubernetes API")
                )
                return FoundLines(lines=found, source=source)
            problem = sentence("the Kubernetes API has no lines of it")
        except SourceError as error:
            problem = _api_problem(log, error)
    if cluster.logs is None:
        raise UnusableError(
            sentence(
                "There is no log of {pod}: {problem}, and the settings name no log store.",
                pod=log.pod,
                problem=problem,
            )
        )
    return await _stored_lines(log, problem, cluster, now)


async def api_lines(
    log: PodLog, pods: PodLogReader, *, redact: Redactor, now: datetime
) -> tuple[TimedLine, ...]:
    """Return the last lines that the API has, without secrets. Raises SourceError.

    Above the limit of bytes the API cuts at the end, so fewer lines are read then.
    """
    found = ""
    for tail in (log.tail, min(log.tail, FEW_LINES)):
        found = await pods.logs(
            log.namespace,
            log.pod,
            container=log.container,
            tail=tail,
            previous=log.previous,
            byte_limit=MAX_LOG,
            timestamps=True,
            since=log.since,
        )
        if len(found.encode()) < MAX_LOG:
            break
    return clean_lines(_timed(found, now), redact)


async def _stored_lines(log: PodLog, problem: str, cluster: Cluster, now: datetime) -> FoundLines:
    assert cluster.logs is not None
    where = {"namespace": log.namespace, "pod": log.pod}
    since = now - log.since if log.since is not None else None
    try:
        stored = await cluster.logs.lines(where=where, at=now, since=since, tail=log.tail)
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
    source = sentence("the log store, because {problem}", problem=problem)
    if log.previous:
        source = sentence("the log store, because {problem}; it has the lines of all runs", problem=problem)
    lines = tuple(TimedLine(at=line.at, text=line.text) for line in stored)
    return FoundLines(lines=lines, source=source, is_stored=True)


def clean_lines(lines: Sequence[TimedLine], redact: Redactor) -> tuple[TimedLine, ...]:
    """Return the lines without secrets. A key of many lines is only recognised as a whole: one mark stands for it."""
    kept: list[TimedLine] = []
    is_in_key = False
    for line in lines:
        if not is_in_key and "-----BEGIN" in line.text:
            is_in_key = True
            kept.append(TimedLine(at=line.at, text=MARK))
        elif not is_in_key:
            kept.append(line)
        is_in_key = is_in_key and "-----END" not in line.text
    texts = redact.clean("\n".join(one.text for one in kept), limit=2 * MAX_LOG).splitlines()
    if len(texts) != len(kept):
        texts = [redact.clean(one.text, limit=MAX_LOG) for one in kept]
    return tuple(TimedLine(at=line.at, text=text) for line, text in zip(kept, texts, strict=True))


def _timed(log: str, now: datetime) -> list[TimedLine]:
    """Return the lines of a log, before each of which the API has put a time. Others have that of the line before."""
    found: list[TimedLine] = []
    for line in log.splitlines():
        stamp, _, text = line.partition(" ")
        try:
            at = datetime.fromisoformat(stamp)
        except ValueError:
            at = None
        if at is not None and at.tzinfo is not None:
            found.append(TimedLine(at=at, text=text))
        else:
            found.append(TimedLine(at=found[-1].at if found else now, text=line))
    return found


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
