"""Log lines of a rank: from the Kubernetes API, or from the log store when the pod is gone."""

import re
from dataclasses import dataclass

from alerts.cards.message import Attachment, Context, Message, Preformatted
from alerts.cards.text import bold, text
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.facts.sentences import Sentence, listed, said_by, sentence, word
from collectors.trainings.training import Rank, Training
from commands.core.command import UnusableError
from commands.core.context import CommandContext

LINES_SHOWN = 40  # in the answer itself; the full log is attached
MAX_TEXT = 256 << 10  # characters
_RANK = re.compile(r"(?:(?P<role>[a-z][a-z0-9-]*?)[- ]?)?(?P<index>\d{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowLogs:
    training: str
    rank: str
    previous: bool
    tail: int


async def show_logs(training: Training, action: ShowLogs, context: CommandContext) -> Message:
    """Return the last lines of a rank and their source. Raises UnusableError if no source has any."""
    rank = find_rank(training, action.rank)
    if action.previous and not rank.restarts:
        raise UnusableError(
            sentence(
                "{pod} has not restarted, so there is no log of an earlier run. `training logs "
                "{training} --rank {role}-{index}` shows its current run.",
                pod=rank.pod,
                training=training.typed,
                role=rank.role,
                index=rank.index,
            )
        )
    lines, source = await _lines(training, rank, action, context)
    whole = Redactor(context.defaults.redact, limit=MAX_TEXT).clean("\n".join(lines))
    shown = whole.splitlines()
    files: tuple[Attachment, ...] = ()
    if len(shown) > LINES_SHOWN:
        files = (Attachment(name=f"{training.name}-{rank.role}-{rank.index}.log", content=whole),)
    said = sentence("from {source}", source=source)
    if files:
        said = sentence(
            "from {source}; the last {shown} of {lines} lines, the rest is in the file",
            source=source,
            shown=LINES_SHOWN,
            lines=len(shown),
        )
    named = bold(f"{training.shown}, {rank.role} {rank.index}")
    return Message(
        title=text(sentence("{rank}: the log of {pod}", rank=named, pod=rank.pod)),
        blocks=(
            Preformatted(lines=tuple(shown[-LINES_SHOWN:]) or ("(no lines)",)),
            Context(text=text(said)),
        ),
        attachments=files,
    )


def find_rank(training: Training, given: str) -> Rank:
    """Return the rank that `3` or `ps-0` means; if none is given, the first failed one, or else the first."""
    known = {(rank.role, rank.index): rank for rank in (*reversed(training.failures), *training.ranks)}
    if not known:
        raise UnusableError(
            sentence(
                "{training} has no known ranks: {reason}.",
                training=training.shown,
                reason=training.reason or word(training.state.value),
            )
        )
    if not given:
        return training.first_failure or known.get(("worker", 0)) or next(iter(known.values()))
    shape = _RANK.fullmatch(given.lower())
    roles = list(dict.fromkeys(role for role, _ in known))
    if shape is not None:
        role = shape["role"] or ("worker" if "worker" in roles else roles[0])
        if (found := known.get((role, int(shape["index"])))) is not None:
            return found
    names = [f"{role}-{index}" for role, index in sorted(known)]
    named: Sentence = listed(names[:6])
    if len(names) > 6:
        named = sentence("{names} … {last}", names=named, last=names[-1])
    raise UnusableError(
        sentence(
            "{training} has no rank `{given}`. There are {names}; a number alone means a {role}.",
            training=training.shown,
            given=given[:40],
            names=named,
            role=roles[0],
        )
    )


async def _lines(
    training: Training, rank: Rank, action: ShowLogs, context: CommandContext
) -> tuple[list[str], str]:
    problem: str = sentence("the settings give no access to its pods")
    if context.cluster.pod_logs is not None:
        try:
            found = await context.cluster.pod_logs.logs(
                training.namespace, rank.pod, tail=action.tail, previous=action.previous
            )
            if found.strip() or context.cluster.logs is None:
                source = (
                    sentence("the Kubernetes API, previous run")
                    if action.previous
                    else sentence("the Kubernetes API")
                )
                return found.splitlines(), source
            problem = sentence("the Kubernetes API has no lines of it")
        except SourceError as error:
            problem = _api_problem(rank, error)
    if context.cluster.logs is None:
        raise UnusableError(
            sentence(
                "There is no log of {pod}: {problem}, and the settings name no log store.",
                pod=rank.pod,
                problem=problem,
            )
        )
    where = {"namespace": training.namespace, "pod": rank.pod}
    try:
        stored = await context.cluster.logs.lines(where=where, at=context.now, tail=action.tail)
    except SourceError as error:
        raise UnusableError(
            sentence(
                "There is no log of {pod}: {problem}; the log store: {error}",
                pod=rank.pod,
                problem=problem,
                error=said_by(error),
            )
        ) from error
    if not stored:
        raise UnusableError(
            sentence(
                "There is no log of {pod}: {problem}, and the log store has no lines of it.",
                pod=rank.pod,
                problem=problem,
            )
        )
    lines = [f"{line.at:%H:%M:%S} {line.text}" for line in stored]
    if action.previous:
        return lines, sentence(
            "the log store, because {problem}; it has the lines of all runs", problem=problem
        )
    return lines, sentence("the log store, because {problem}", problem=problem)


def _api_problem(rank: Rank, reason: SourceError) -> str:
    if reason.status == 404:
        return sentence("the pod is gone")
    if reason.status == 400:  # its container waits, or there is no previous run
        return (
            sentence(
                "its container is not running ({reason}: {explanation})",
                reason=rank.reason,
                explanation=rank.explanation,
            )
            if rank.reason
            else said_by(reason)
        )
    return said_by(reason)
