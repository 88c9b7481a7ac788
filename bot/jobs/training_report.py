"""Facts about a followed training beside its state: its place, who held it, why it failed, what it used."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.rules import Rule
from alerts.store import StoreSnapshot
from bot.live_cluster import LiveCluster
from collectors.facts.queries import PromQLQuery
from collectors.facts.redaction import Redactor
from collectors.facts.results import Seen, SourceError
from collectors.facts.sentences import counted, sentence
from collectors.trainings.training import Training, TrainingState
from commands.execution.plan import Plan, PlanState
from commands.models import Launch
from commands.training.failure_evidence import failure_evidence
from commands.training.failure_finding import find_failure
from commands.training.queue_line import QueueLine, queue_line
from commands.training.queue_objects import queue_objects
from commands.training.rank_lines import last_lines

HOLDS = ("training suspend", "training stop", "gpu settle", "gpu release")  # commands that end or hold one
RECENT = timedelta(minutes=15)  # before what was seen, such a plan is what did it
LOOKED_AT = 100  # plans


async def with_failure(
    launch: Launch,
    training: Training,
    cluster: LiveCluster,
    rules: Mapping[str, Rule],
    *,
    redact: Redactor,
    now: datetime,
) -> Launch:
    """Return it with the task that failed first, its first line about the error, and the cause."""
    evidence = await failure_evidence(training, cluster, redact=redact, now=now)
    found = find_failure(training, evidence, rules)
    lines = launch.last_lines
    first = found.rank or training.first_failure
    if first is not None and not lines:
        lines = await last_lines(training, first, cluster, redact=redact, now=now)
    return replace(
        launch,
        first=None if found.is_guess else found.rank,
        first_line=found.line,
        cause=found.kind.value,
        last_lines=lines,
    )


async def queue_place(training: Training, cluster: LiveCluster) -> str:
    """Return how many are before it in its queue; empty without a queue, or where that is not known."""
    try:
        inventory = cluster.inventory()
        objects = await queue_objects(training, inventory, cluster.reader)
        line = queue_line(training, cluster.trainings(), inventory, objects)
    except SourceError:
        return ""
    return place_text(line)


def place_text(line: QueueLine) -> str:
    if not line.system or line.before is None:
        return ""
    if not line.before:
        return sentence("first in queue {queue} of {system}", queue=line.name, system=line.system)
    return counted(
        "{count} before it in queue {queue} of {system}",
        "{count} before it in queue {queue} of {system}",
        count=len(line.before),
        queue=line.name,
        system=line.system,
    )


async def held_by(launch: Launch, snapshot: StoreSnapshot, now: datetime) -> str:
    """Return who suspended or stopped it through a plan of ours; empty where nobody did.

    That is its owner alone if they took part in it: they know.
    """
    found = await snapshot.rows(Plan).find(cluster=launch.cluster, newest=True, limit=LOOKED_AT)
    for plan in found:
        is_recent = plan.confirmed_at is not None and now - plan.confirmed_at < RECENT
        is_meant = any(one.name == launch.training for one in plan.disrupts) or launch.shown in plan.line
        is_run = plan.state in (PlanState.RUNNING, PlanState.DONE)
        if is_recent and is_meant and is_run and plan.command in HOLDS:
            asked, second = plan.actor_name, plan.confirmed_by_name or plan.actor_name
            if launch.by_name in (asked, second):
                return launch.by_name
            if asked == second:
                return asked
            return sentence("{who}, confirmed by {second}", who=asked, second=second)
    return ""


async def with_use(launch: Launch, training: Training, cluster: LiveCluster, now: datetime) -> Launch:
    """Return it with how long it ran, and the most memory that its GPUs used."""
    started, finished = training.started or launch.started, training.finished or now
    seen = replace(launch, started=started, finished=finished, gpus=training.gpus_wanted or launch.gpus)
    if started is None or training.state is not TrainingState.SUCCEEDED:
        return seen
    return replace(seen, peak_memory=await peak_memory(training, started, cluster, now))


async def peak_memory(
    training: Training, started: datetime, cluster: LiveCluster, now: datetime
) -> float | None:
    """Return the most memory that its GPUs used together since it started, in MiB; None where that is not known."""
    lasted = max(1, round((now - started).total_seconds()))
    pods = "|".join(sorted({rank.pod for rank in training.ranks}))
    if not pods:
        return None
    series = f'DCGM_FI_DEV_FB_USED{{exported_namespace="{training.namespace}",exported_pod=~"{pods}"}}'
    answer = await cluster.query(
        PromQLQuery(expr=f"sum(max by (UUID) (max_over_time({series}[{lasted}s])))", of_pack=True), at=now
    )
    return answer.samples[0].value if isinstance(answer, Seen) and answer.samples else None
