"""Wiring of the rules' evaluation: for each cluster the view that others see, and the evaluator that runs."""

from collections.abc import Callable

from alerts.rendering import RuleRenderer
from alerts.routing import CardRouting
from bot.evaluation.cluster_view import ClusterView
from bot.evaluation.evaluator import Evaluator, RuleSources
from bot.evaluation.recorder import IncidentRecorder
from bot.evaluation.scheduler import RuleScheduler
from bot.live_cluster import LiveCluster
from bot.shared_parts import SharedParts
from collectors.check_catalogue import checks_of
from collectors.check_runner import CheckRunner
from collectors.query_router import QueryRouter


def wire_view(shared: SharedParts, cluster: LiveCluster) -> ClusterView:
    """Return the view of a cluster's evaluation, which shows the shipped rules until it runs."""
    router = QueryRouter(
        cluster.sources,
        CheckRunner(
            checks_of(idle_after=shared.settings.commands.idle_after),
            cluster.check_input,
            has_cluster=cluster.cache is not None,
            errors=shared.errors,
        ),
    )
    renderer = RuleRenderer(cluster.topology, clean=shared.redact.clean)
    rules = tuple(shared.rulebook.rules)
    return ClusterView(
        RuleScheduler(cluster.name, rules, router, renderer, errors=shared.errors), router, shared.clock
    )


def wire_recorder(shared: SharedParts, cluster: str, routing: CardRouting) -> IncidentRecorder:
    """Return the recorder of a cluster's alerts, whoever produces them."""
    incidents = shared.settings.incidents
    return IncidentRecorder(
        cluster,
        shared.store,
        routing,
        reopens_within=incidents.reopens_within,
        storm_from=incidents.storm_from,
    )


def wire_evaluator(
    shared: SharedParts,
    cluster: LiveCluster,
    view: ClusterView,
    recorder: IncidentRecorder,
    on_view_change: Callable[[], None],
) -> Evaluator:
    """Return the evaluator of a cluster, which calls `on_view_change` when its view changed."""
    return Evaluator(
        cluster,
        view.scheduler,
        recorder,
        view.router,
        rules=RuleSources(shipped=tuple(shared.rulebook.rules), reads_objects=shared.settings.rules.objects),
        clock=shared.clock,
        metrics=shared.metrics,
        view=view,
        clock_steps=cluster.clock_steps,
        on_view_change=on_view_change,
    )
