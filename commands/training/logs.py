"""This file fetches a rank's log lines: from the Kubernetes API, or from the log store when the pod is gone."""

import re
from dataclasses import dataclass

from alerts.cards.message import Attachment, Context, Message, Preformatted, bold, text
from collectors.facts.redaction import Redactor
from collectors.facts.results import SourceError
from collectors.trainings.training import Rank, Training
from commands.core.command import UnusableError
from commands.core.context import CommandContext

LINES_SHOWN = 40  # in the answer itself; the others are a file
TEXT_AT_MOST = 256 << 10  # characters
_RANK = re.compile(r"(?:(?P<role>[a-z][a-z0-9]*)[- ]?)?(?P<index>\d{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowLogs:
    training: str
    rank: str
    previous: bool
    tail: int


async def show_logs(training: Training, action: ShowLogs, context: CommandContext) -> Message:
    """The last lines of a rank and where they come from. Raises UnusableError when no source has any."""
    rank = rank_meant(training, action.rank)
    lines, source = await _lines(training, rank, action, context)
    whole = Redactor(context.defaults.redact, limit=TEXT_AT_MOST).clean("\n".join(lines))
    shown = whole.splitlines()
    files: tuple[Attachment, ...] = ()
    if len(shown) > LINES_SHOWN:
        files = (Attachment(name=f"{training.name}-{rank.role}-{rank.index}.log", content=whole),)
    left = f"; the last {LINES_SHOWN} of {len(shown)} lines, all are in the file" if files else ""
    return Message(
        title=text(bold(f"{training.id}, {rank.role} {rank.index}"), f": the log of {rank.pod}"),
        blocks=(
            Preformatted(lines=tuple(shown[-LINES_SHOWN:]) or ("(no lines)",)),
            Context(text=text(f"from {source}{left}")),
        ),
        attachments=files,
    )


def rank_meant(training: Training, said: str) -> Rank:
    """The rank that `3` or `ps-0` means; without words the one that failed first, or else the first."""
    known = {(rank.role, rank.index): rank for rank in (*reversed(training.failures), *training.ranks)}
    if not known:
        raise UnusableError(
            f"{training.id} has no ranks that I know of: {training.reason or training.state.value}."
        )
    if not said:
        return training.first_failure or known.get(("worker", 0)) or next(iter(known.values()))
    shape = _RANK.fullmatch(said.lower())
    roles = list(dict.fromkeys(role for role, _ in known))
    if shape is not None:
        role = shape["role"] or ("worker" if "worker" in roles else roles[0])
        if (found := known.get((role, int(shape["index"])))) is not None:
            return found
    names = [f"{role}-{index}" for role, index in sorted(known)]
    more = f" … {names[-1]}" if len(names) > 6 else ""
    raise UnusableError(
        f"{training.id} has no rank `{said[:40]}`. There are "
        f"{', '.join(names[:6])}{more}; a number alone is a {roles[0]}."
    )


async def _lines(
    training: Training, rank: Rank, action: ShowLogs, context: CommandContext
) -> tuple[list[str], str]:
    trouble = "the settings give no access to its pods"
    if context.cluster.pod_logs is not None:
        try:
            found = await context.cluster.pod_logs.logs(
                training.namespace, rank.pod, tail=action.tail, previous=action.previous
            )
            if found.strip() or context.cluster.logs is None:
                return found.splitlines(), "the Kubernetes API" + (
                    ", the run before" if action.previous else ""
                )
            trouble = "the Kubernetes API has no lines of it"
        except SourceError as error:
            trouble = _in_short(rank, error)
    if context.cluster.logs is None:
        raise UnusableError(f"There is no log of {rank.pod}: {trouble}, and the settings name no log store.")
    where = {"namespace": training.namespace, "pod": rank.pod}
    try:
        kept = await context.cluster.logs.lines(where=where, at=context.now, tail=action.tail)
    except SourceError as error:
        raise UnusableError(f"There is no log of {rank.pod}: {trouble}; the log store: {error}") from error
    if not kept:
        raise UnusableError(
            f"There is no log of {rank.pod}: {trouble}, and the log store has no lines of it."
        )
    lines = [f"{line.at:%H:%M:%S} {line.text}" for line in kept]
    return lines, f"the log store, because {trouble}"


def _in_short(rank: Rank, reason: SourceError) -> str:
    if reason.status == 404:
        return "the pod is gone"
    if reason.status == 400:  # its container waits, or there was no run before
        return (
            f"its container does not run ({rank.reason}: {rank.explanation})" if rank.reason else str(reason)
        )
    return str(reason)
