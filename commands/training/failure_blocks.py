"""A failure as people read it: who failed first, its first line about the error, the cause. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from alerts.cards.message import Block, Paragraph, Preformatted
from alerts.cards.text import Text, bold, text
from alerts.incidents.incident import Incident
from collectors.facts.sentences import listed, sentence, word
from collectors.trainings.exit_codes import explain_exit
from collectors.trainings.training import Rank
from commands.training.failure_cause import cause_text
from commands.training.failure_finding import FoundFailure
from commands.training.failure_signs import FailureKind


class FailureRow(Protocol):
    """A stored row with what was found of a failure."""

    @property
    def first(self) -> Rank | None: ...

    @property
    def first_line(self) -> str: ...

    @property
    def cause(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFailure:
    """`kind` is a FailureKind; `incident` is that of its node, or of another of its nodes."""

    first: Rank | None
    kind: str = ""
    line: str = ""
    incident: Incident | None = None

    @property
    def is_known(self) -> bool:
        return self.first is not None or self.incident is not None


def failure_of_row(row: FailureRow, incident: Incident | None, others: Sequence[Rank]) -> ShownFailure:
    return shown_failure(row.first, row.cause, row.first_line, incident, others)


def failure_found(found: FoundFailure, incident: Incident | None, others: Sequence[Rank]) -> ShownFailure:
    first = None if found.is_guess else found.rank
    return shown_failure(first, found.kind.value, found.line, incident, others)


def shown_failure(
    first: Rank | None, kind: str, line: str, incident: Incident | None, others: Sequence[Rank]
) -> ShownFailure:
    """Return what is shown. Where nothing says who failed first, it is who did on the incident's node, or at all."""
    node = incident.subject.node if incident is not None else ""
    there = next((rank for rank in others if node and rank.node == node), None)
    named = first or there or next(iter(others), None)
    return ShownFailure(first=named, kind=kind, line=line, incident=incident)


def failure_blocks(shown: ShownFailure) -> list[Block]:
    blocks: list[Block] = [Paragraph(text=one) for one in failure_texts(shown)]
    if shown.line:
        blocks.append(Preformatted(lines=(shown.line,)))
    return blocks


def failure_texts(shown: ShownFailure) -> list[Text]:
    """Return the same without the line of its log, a text for each line."""
    said = [cause_text(shown.incident)] if shown.incident is not None else []
    if shown.first is not None:
        said.append(text(bold("First failure: "), failure_summary(shown.first)))
    if words := cause_words(shown.kind):
        said.append(text(bold("Cause: "), words))
    return said


def failure_summary(rank: Rank) -> str:
    """Return a text like `worker 3 on gpu-a04: exit code 137, OOMKilled: it exceeded its memory limit`."""
    named = f"{rank.role} {rank.index}"
    if rank.node:
        named = sentence("{role} {index} on {node}", role=rank.role, index=rank.index, node=rank.node)
    reason = rank.explanation or explain_exit(rank.exit_code, rank.reason)
    return listed(filter(None, (named, _end(rank), reason)), ":")


def _end(rank: Rank) -> str:
    reason = rank.reason if rank.reason != "Error" else ""
    if rank.exit_code is None:
        return reason or rank.phase
    if reason:
        return sentence("exit code {exit_code}, {reason}", exit_code=rank.exit_code, reason=reason)
    return sentence("exit code {exit_code}", exit_code=rank.exit_code)


_WORDS: Mapping[str, str] = {
    FailureKind.GPU: "a GPU of its node is broken",
    FailureKind.NODE: "its node was lost, or evicted it",
    FailureKind.MEMORY: "it had too little memory",
    FailureKind.USER: "its own program ended with an error",
    FailureKind.DNS: "names were not resolved (DNS)",
    FailureKind.NETWORK: "the network between its tasks",
    FailureKind.VOLUME: "its storage failed, or could not be mounted",
    FailureKind.IMAGE: "its image could not be pulled, or is not for the processors of its node",
    FailureKind.HANG: "its tasks waited for one that was behind them",
    FailureKind.CHECKPOINT: "the checkpoint that it reads is damaged",
    FailureKind.QUOTA: "a quota did not let one of its tasks be created",
    FailureKind.PREEMPTION: "it was preempted by others with a higher priority, or by those whose quota it used",
}


def cause_words(kind: str) -> str:
    """Return the sentence about a FailureKind, without a full stop; empty where the cause is not known."""
    found = _WORDS.get(kind)
    return word(found) if found else ""
