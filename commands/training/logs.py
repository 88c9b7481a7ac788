"""Log lines of a rank: from the Kubernetes API, or from the log store when the pod is gone."""

import re
from dataclasses import dataclass
from datetime import timedelta

from alerts.cards.message import Message
from alerts.cards.text import bold
from collectors.facts.redaction import Redactor
from collectors.facts.sentences import Sentence, listed, sentence, word
from collectors.trainings.training import Rank, Training
from commands.core.command import UnusableError
from commands.core.context import CommandContext
from commands.core.pod_lines import MAX_LOG, PodLog, log_message, read_lines
from commands.training.all_logs import all_logs, errors_in
from commands.training.failure_finding import rank_name
from commands.training.followed_log import follow_log
from commands.training.rank_lines import lines_of_rank

_RANK = re.compile(r"(?:(?P<role>[a-z][a-z0-9-]*?)[- ]?)?(?P<index>\d{1,5})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowLogs:
    training: str
    rank: str
    previous: bool
    tail: int
    all: bool = False
    errors: bool = False
    since: timedelta | None = None
    follow: bool = False


async def show_logs(training: Training, action: ShowLogs, context: CommandContext) -> Message:
    """Return the last lines of a rank, or of all, and their source. Raises UnusableError if no source has any."""
    if action.all:
        if action.rank or action.previous or action.follow:
            raise UnusableError(
                sentence("`--all` cannot be combined with `--rank`, `--previous` or `--follow`.")
            )
        return await all_logs(training, context, tail=action.tail, since=action.since, errors=action.errors)
    rank = find_rank(training, action.rank)
    if action.follow:
        if action.previous or action.errors or action.since is not None:
            raise UnusableError(
                sentence("`--follow` cannot be combined with `--previous`, `--errors` or `--since`.")
            )
        await follow_log(training, rank, context)
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
    log = PodLog(
        namespace=training.namespace,
        pod=rank.pod,
        tail=action.tail,
        previous=action.previous,
        waits=_waits(rank),
    )
    if action.since is not None or action.errors:
        lines, source = await _chosen_lines(training, rank, action, context)
    else:
        redact = Redactor(context.defaults.redact, limit=MAX_LOG)
        found = await read_lines(log, context.cluster, redact=redact, now=context.now)
        lines, source = found.shown, found.source
    named = bold(f"{training.shown}, {rank.role} {rank.index}")
    title = sentence("{rank}: the log of {pod}", rank=named, pod=rank.pod)
    return log_message(title, lines, source, f"{training.name}-{rank.role}-{rank.index}.log", context)


async def _chosen_lines(
    training: Training, rank: Rank, action: ShowLogs, context: CommandContext
) -> tuple[list[str], str]:
    """Return the lines of a rank that are new enough, or about an error. Raises UnusableError if there are none."""
    if action.previous:
        raise UnusableError(sentence("`--since` and `--errors` cannot be combined with `--previous`."))
    found = await lines_of_rank(
        training,
        rank,
        context.cluster,
        redact=Redactor(context.defaults.redact, limit=MAX_LOG),
        now=context.now,
        tail=action.tail,
        since=action.since,
    )
    if action.errors:
        found = errors_in(rank_name(rank), found, context.rules)
    if not found:
        raise UnusableError(
            sentence("{pod} has printed no such lines, or they cannot be read any more.", pod=rank.pod)
        )
    chosen = sentence("its errors only") if action.errors else sentence("the time asked for")
    return [f"{line.at:%H:%M:%S} {line.text}" for line in found], chosen


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


def _waits(rank: Rank) -> str:
    if not rank.reason:
        return ""
    return sentence(
        "its container is not running ({reason}: {explanation})",
        reason=rank.reason,
        explanation=rank.explanation,
    )
