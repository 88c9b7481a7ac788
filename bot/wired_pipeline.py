"""Wiring of the pipeline: what every command line goes through, and the rules that commands know."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from alerts.routing import CardRouting
from alerts.rules import Rule, RuleIndex
from bot.chat_accounts import People
from bot.evaluation.cluster_view import ClusterView
from bot.live_cluster import LiveCluster
from bot.settings.mapping import (
    breaker_of,
    budgets_of,
    defaults_of,
    impersonation_of,
    permissions_of,
    windows_of,
)
from bot.shared_parts import SharedParts
from bot.source_catalogue import not_connected
from collectors.check_runner import KUBERNETES
from collectors.facts.queries import Query
from commands.command_catalogue import LEXICON
from commands.core.pipeline import Pipeline, as_given
from commands.core.remediations import RemediationGate
from commands.core.rule_runs import RuleRun
from commands.core.windows import WindowGate
from commands.gpu.consents import ConsentGate, OwnerConsents


class RulesOfAll:
    """The rules in force in any cluster, by id; the same index until some are replaced."""

    def __init__(self, views: Sequence[ClusterView]) -> None:
        self._views = views
        self._of: list[Mapping[str, Rule]] = []
        self._index = RuleIndex()

    def __call__(self) -> RuleIndex:
        current = [view.rules for view in self._views]
        if [id(rules) for rules in current] != [id(rules) for rules in self._of]:
            self._of = current
            self._index = RuleIndex({id: rule for rules in current for id, rule in rules.items()})
        return self._index


def wire_pipeline(
    shared: SharedParts,
    clusters: Mapping[str, LiveCluster],
    views: Mapping[str, ClusterView],
    people: People | None,
    *,
    routing: CardRouting,
    rules: Callable[[], Mapping[str, Rule]],
    catch_up: Callable[[], Awaitable[int]],
) -> Pipeline:
    """Return the pipeline with its gates."""
    missing = {one.name: not_connected(one) for one in shared.settings.clusters}
    windows = WindowGate(windows=windows_of(shared.settings), clock=shared.clock)

    def unseen(cluster: str) -> Mapping[str, str]:
        return {**missing[cluster], **views[cluster].blind} if cluster in views else {}

    def blind(cluster: str, queries: tuple[Query, ...]) -> Mapping[str, str]:
        if (view := views.get(cluster)) is None:
            return {}
        needed = {KUBERNETES, *view.blind_sources(queries)}
        return {source: why for source, why in view.blind.items() if source in needed}

    def rule_runs(cluster: str) -> Mapping[str, RuleRun]:
        return views[cluster].rule_runs if cluster in views else {}

    return Pipeline(
        lexicon=LEXICON,
        permissions=permissions_of(shared.settings),
        store=shared.store,
        clusters=clusters,
        writers={name: cluster.writer for name, cluster in clusters.items() if cluster.writer is not None},
        clock=shared.clock,
        defaults=defaults_of(shared.settings, shared.persons),
        budgets=budgets_of(shared.settings, clusters, shared.clock, windows),
        gates=(
            windows,
            ConsentGate(clock=shared.clock, silence_agrees=shared.settings.commands.silence_agrees),
            RemediationGate(rules=rules, blind=blind, limits=breaker_of(shared.settings)),
        ),
        consents=OwnerConsents(grace=shared.settings.commands.consent_grace),
        impersonation=impersonation_of(shared.settings, shared.persons),
        rules=rules,
        unseen=unseen,
        rule_runs=rule_runs,
        catch_up=catch_up,
        current=people.current if people else as_given,
        members=people.members if people else None,
        persons=shared.persons,
        routing=routing,
        observe=lambda command, outcome: shared.metrics.commands.labels(command, outcome).inc(),
    )
