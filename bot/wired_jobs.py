"""Wiring of the jobs: what runs plans, watches launches, reminds and tidies up."""

from collections.abc import Callable, Mapping
from functools import partial

from alerts.routing import CardRouting
from alerts.rules import Rule
from bot.jobs import garbage_collection
from bot.jobs.acceptance_watcher import AcceptanceWatcher
from bot.jobs.agenda import Agenda
from bot.jobs.daily_leases import DailyLeases, Readers
from bot.jobs.due_catalogue import due_works
from bot.jobs.event_loop_lag import EventLoopLag
from bot.jobs.evidence_taker import EvidenceTaker
from bot.jobs.hook_caller import HookCaller, hooks_of
from bot.jobs.launch_watcher import LaunchWatcher
from bot.jobs.lease_watcher import LeaseWatcher
from bot.jobs.plan_runner import PlanRunner
from bot.jobs.remediator import Remediator
from bot.jobs.retention import Retention
from bot.jobs.run_recorder import RunRecorder
from bot.jobs.training_follower import TrainingFollower
from bot.jobs.training_notifier import NoticeRouting, TrainingNotifier
from bot.jobs.unknown_steps import UnknownSteps
from bot.jobs.window_announcer import WindowAnnouncer
from bot.live_cluster import LiveCluster
from bot.settings.mapping import acceptance_of, allowance_of, daily_time_of, owners_of, windows_of
from bot.shared_parts import SharedParts
from bot.supervise import Work
from commands.core.pipeline import Pipeline
from commands.core.remediation_judge import RemediationJudge
from commands.core.remediations import RemediationGate
from commands.core.windows import WindowGate
from commands.execution.executor import PlanExecutor


def wire_jobs(
    shared: SharedParts,
    clusters: Mapping[str, LiveCluster],
    pipeline: Pipeline,
    *,
    rules: Callable[[], Mapping[str, Rule]],
    routing: CardRouting,
    reaches_people: Callable[[str], bool],
) -> dict[str, Work]:
    """Return the jobs, which listen to the store. The default channel has cards of what was requested in none."""
    channel = routing.default
    store, clock = shared.store, shared.clock
    executor = PlanExecutor(
        store,
        pipeline.writers,
        clock,
        errors=shared.errors,
        observe=partial(_count_step, shared),
        gate=pipeline.gate,
        impersonation=pipeline.impersonation,
        hooks=HookCaller(hooks_of(shared.settings), clock),
    )
    plans = PlanRunner(
        store,
        executor,
        channel=channel,
        renew=pipeline.decisions.renew,
        divide=pipeline.decisions.divide,
        before=EvidenceTaker(store, clusters, clock).take,
    )
    unknown = UnknownSteps(store, executor, clock, errors=shared.errors)
    daily = DailyLeases(
        store,
        clusters,
        clock,
        daily=daily_time_of(shared.settings, shared.persons),
        readers=Readers(channel=channel, reaches_people=reaches_people, persons=shared.persons),
    )
    works = due_works(
        store,
        clusters,
        clock,
        pipeline.handle,
        remind_after=shared.settings.incidents.remind_after,
        routing=routing,
        daily=daily,
        redact=shared.redact,
    )
    agenda = Agenda(store, clock, works, errors=shared.errors)
    launches = LaunchWatcher(
        store,
        clusters,
        clock,
        redact=shared.redact,
        channel=channel,
        errors=shared.errors,
        reaches_people=reaches_people,
        rules=rules,
    )
    leases = LeaseWatcher(store, clusters, clock, follow=daily.follow, errors=shared.errors)
    notice_routing = NoticeRouting(
        teams={name: team.channel for name, team in shared.settings.teams.items()},
        routes=routing.routes,
        default=routing.default,
        owners=owners_of(shared.settings, shared.persons),
        reaches_people=reaches_people,
    )
    follower = TrainingFollower(
        store,
        clusters,
        clock,
        notice_routing,
        follows_all=shared.settings.commands.training_cards == "all",
        errors=shared.errors,
    )
    notices = TrainingNotifier(
        store,
        clusters,
        rules,
        clock,
        notice_routing,
        redact=shared.redact,
        errors=shared.errors,
    )
    acceptances = AcceptanceWatcher(
        store, clusters, clock, pipeline.handle, acceptance_of(shared.settings), errors=shared.errors
    )
    remediator = wire_remediator(shared, pipeline, rules=rules, channel=channel)
    for listener in (
        plans.wake,
        acceptances.wake,
        remediator.wake,
        unknown.wake,
        agenda.wake,
        launches.wake,
        leases.wake,
        notices.wake,
    ):
        store.listen(listener)
    windows = WindowAnnouncer(store, clock, windows_of(shared.settings), channel=channel)
    return {
        "plans": plans.run,
        "acceptances": acceptances.run,
        "windows": windows.run,
        "remediations": remediator.run,
        "unknown steps": unknown.run,
        "agenda": agenda.run,
        "launches": launches.run,
        "trainings of others": follower.run,
        "leases": leases.run,
        "training notices": notices.run,
        "training runs": RunRecorder(store, clusters, clock, errors=shared.errors).run,
        "event loop lag": EventLoopLag(shared.metrics.event_loop_lag.observe).run,
        "garbage collection": garbage_collection.collect_periodically,
        "retention": Retention(store, clock, timezone=shared.settings.timezone).run,
    }


def wire_remediator(
    shared: SharedParts, pipeline: Pipeline, *, rules: Callable[[], Mapping[str, Rule]], channel: str
) -> Remediator:
    """Return what acts by itself, through the gates of the pipeline."""
    assert pipeline.budgets is not None
    judge = RemediationJudge(
        pipeline=pipeline,
        clock=shared.clock,
        gate=next(one for one in pipeline.gates if isinstance(one, RemediationGate)),
        budgets=pipeline.budgets,
        windows=next(one for one in pipeline.gates if isinstance(one, WindowGate)),
        allowance=allowance_of(shared.settings),
    )
    return Remediator(shared.store, judge, channel=channel, errors=shared.errors, rules=rules)


def _count_step(shared: SharedParts, kind: str, outcome: str) -> None:
    shared.metrics.plan_steps.labels(kind, outcome).inc()
