"""The rank that failed first, its first line about an error, and the cause, from all signs of a failure. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.rules import Rule
from collectors.cluster.objects import Event
from collectors.trainings.training import Rank, Training
from commands.core.pod_lines import TimedLine
from commands.training.failure_signs import (
    FailureKind,
    Sign,
    SignWeight,
    is_of_checkpoint,
    sign_of_event,
    sign_of_host,
    sign_of_output,
    sign_of_pod,
)

NEAR_END = timedelta(minutes=2)  # a rank's own error is printed within it before its end
BEFORE = timedelta(
    minutes=40
)  # what ended, or was said, earlier than this before the last end is another story
TOGETHER = timedelta(minutes=2)  # what a node says so shortly after a rank's error is its cause
SURVIVED = timedelta(minutes=5)  # what a node said longer before an error of its own rank, the rank survived
CONTEXT = 20  # lines before an error that say what was done
LATE = timedelta(minutes=1)  # after the end of the training: clocks differ


_TIMEOUT = re.compile(r"(?i)collective operation timeout: WorkNCCL\(SeqNum=(\d{1,18})")
_GROUP = re.compile(r"\[PG ID (\w{1,20})")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureEvidence:
    """What was read of a failure. `output` is by rank, `hosts` by node; events may be about anything."""

    output: Mapping[str, Sequence[TimedLine]] = field(default_factory=dict)
    hosts: Mapping[str, Sequence[TimedLine]] = field(default_factory=dict)
    events: Sequence[Event] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFailure:
    """`line` is the first one about the error; empty where there is none.

    `is_guess`: nothing was said of it, and the rank is the one that ended first.
    """

    kind: FailureKind
    rank: Rank | None
    line: str = ""
    at: datetime | None = None
    is_guess: bool = False


def rank_name(rank: Rank) -> str:
    return f"{rank.role}-{rank.index}"


def find_failure(training: Training, evidence: FailureEvidence, rules: Mapping[str, Rule]) -> FoundFailure:
    """Return who failed first and why. Echoes count only where nothing else is known."""
    ranks = _ranks(training)
    signs = sorted(_signs(training, ranks, evidence, rules), key=lambda sign: sign.at)
    strong = [sign for sign in signs if sign.weight is not SignWeight.ECHO]
    strong = [sign for sign in strong if not _was_survived(sign, strong, ranks)]
    if not strong:
        return _of_echoes(training, signs, ranks)
    first = strong[0]
    is_of_none = first.kind is FailureKind.QUOTA  # the task that it is about does not exist
    name = first.rank or ("" if is_of_none else _earliest(_of_node(first, ranks), signs))
    own = [sign for sign in strong if sign.rank == name and sign.weight is SignWeight.OWN]
    if not own and first.is_status:
        own = [
            sign for sign in strong if sign.rank == name and sign.kind is first.kind and not sign.is_status
        ]
    return FoundFailure(
        kind=_cause(first, name, strong, ranks),
        rank=ranks.get(name),
        line=(own[0] if own else first).line,
        at=first.at,
    )


def _was_survived(sign: Sign, strong: Sequence[Sign], ranks: Mapping[str, Rank]) -> bool:
    """Whether the rank of that node went on for long after what the node said, and then had an error of its own."""
    if sign.rank or not sign.node:
        return False
    own = (one for one in strong if one.weight is SignWeight.OWN and one.rank in ranks)
    return any(ranks[one.rank].node == sign.node and one.at > sign.at + SURVIVED for one in own)


def _cause(first: Sign, name: str, strong: Sequence[Sign], ranks: Mapping[str, Rank]) -> FailureKind:
    """Return what its node or the cluster says, if that is at nearly the same time; else what it says itself."""
    node = ranks[name].node if name in ranks else ""
    for sign in strong:
        is_about = sign.rank == name or (sign.node and sign.node == node) or not (sign.rank or sign.node)
        if sign.weight is SignWeight.PROOF and is_about and sign.at <= first.at + TOGETHER:
            return sign.kind
    return first.kind


def _ranks(training: Training) -> dict[str, Rank]:
    """Return the ranks by name: as each failed first, but not long before the others, or else as it is now."""
    ends = [rank.finished for rank in (*training.ranks, *training.failures) if rank.finished is not None]
    last = max(ends, default=None)
    failures = [
        rank
        for rank in training.failures
        if last is None or rank.finished is None or rank.finished >= last - BEFORE
    ]
    return {rank_name(rank): rank for rank in (*training.ranks, *reversed(failures))}


def _signs(
    training: Training, ranks: Mapping[str, Rank], evidence: FailureEvidence, rules: Mapping[str, Rule]
) -> Iterable[Sign]:
    ends = [rank.finished for rank in ranks.values() if rank.finished is not None]
    last = max(ends) + LATE if ends else None
    began = min((rank.started for rank in ranks.values() if rank.started), default=training.created)
    if last is not None:
        began = max(began or last - BEFORE, last - BEFORE)
    for name, lines in evidence.output.items():
        end = ranks[name].finished if name in ranks else None
        yield from _signs_of_output(name, lines, end, rules)
    for node, lines in evidence.hosts.items():
        for line in lines:
            if _is_within(line.at, began, last) and (sign := sign_of_host(node, line, rules)) is not None:
                yield sign
    for name, rank in ranks.items():
        if (sign := sign_of_pod(rank, name)) is not None:
            yield sign
    by_pod = {rank.pod: name for name, rank in ranks.items()}
    nodes = {rank.node for rank in ranks.values()}
    for event in evidence.events:
        about = event.involved_object
        if about.kind == "Node" and about.name not in nodes:
            continue
        sign = sign_of_event(event, by_pod.get(about.name, "") if about.kind == "Pod" else "")
        if sign is not None and _is_within(sign.at, began, last):
            yield sign


def _signs_of_output(
    name: str, lines: Sequence[TimedLine], end: datetime | None, rules: Mapping[str, Rule]
) -> Iterable[Sign]:
    """Return what the lines near its end tell, and before them what it said last: it may try again for long."""
    found: list[Sign] = []
    for number, line in reversed(list(enumerate(lines))):
        sign = sign_of_output(name, line, rules)
        if sign is not None:
            before = (one.text for one in lines[max(0, number - CONTEXT) : number])
            if sign.weight is SignWeight.OWN and is_of_checkpoint(line.text, before):
                sign = replace(sign, kind=FailureKind.CHECKPOINT)
            found.append(sign)
        elif end is not None and line.at < end - NEAR_END:
            break
    return reversed(found)


def _is_within(at: datetime, began: datetime | None, last: datetime | None) -> bool:
    return (began is None or at >= began) and (last is None or at <= last)


def _of_node(sign: Sign, ranks: Mapping[str, Rank]) -> list[str]:
    """Return the ranks that a sign may be about."""
    return [name for name, rank in ranks.items() if not sign.node or rank.node == sign.node]


def _earliest(names: Sequence[str], signs: Sequence[Sign]) -> str:
    """Return the rank that said something first."""
    return next((sign.rank for sign in signs if sign.rank in names), names[0] if names else "")


def _of_echoes(training: Training, signs: Sequence[Sign], ranks: Mapping[str, Rank]) -> FoundFailure:
    """Return what is known where no rank says more than that others are gone."""
    first = training.first_failure
    if not signs:
        at = first.finished if first else None
        return FoundFailure(kind=_by_exit(first), rank=first, at=at, is_guess=True)
    if (behind := _behind(signs)) is not None:
        return FoundFailure(
            kind=FailureKind.HANG, rank=ranks.get(behind.rank), line=behind.line, at=behind.at
        )
    sign = signs[0]
    return FoundFailure(kind=FailureKind.NETWORK, rank=ranks.get(sign.rank), line=sign.line, at=sign.at)


def _behind(signs: Sequence[Sign]) -> Sign | None:
    """Return the timeout of a collective that the others had already left; None where nobody was behind.

    Ranks time out together, so who says it first tells nothing. Only one process group is compared: the one of most.
    """
    by_group: dict[str, list[tuple[int, Sign]]] = {}
    for sign in signs:
        if found := _TIMEOUT.search(sign.line):
            group = _GROUP.search(sign.line)
            by_group.setdefault(group[1] if group else "", []).append((int(found[1]), sign))
    timeouts = max(by_group.values(), key=len, default=[])
    numbers = {number for number, _ in timeouts}
    return min(timeouts, key=lambda one: one[0])[1] if len(numbers) > 1 else None


def _by_exit(rank: Rank | None) -> FailureKind:
    """Return what the exit code alone says: a program that ends by itself has itself to blame."""
    if rank is None or rank.exit_code is None or rank.exit_code >= 128:
        return FailureKind.UNKNOWN
    return FailureKind.USER
