"""The diagnosis of everything that the settings name: one list of findings, by the part that each is about."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from bot.channels.channel_catalogue import DIAGNOSES, Diagnose
from bot.doctor.graph_links import graph_link
from bot.doctor.kubernetes_access import diagnose_kubernetes
from bot.doctor.listed_nodes import listed_cluster
from bot.doctor.received_alerts import received_findings
from bot.doctor.rule_report import rule_findings, stored_history
from bot.doctor.unmeasured_gpus import unmeasured_gpus
from bot.evaluation.rulebook import Rulebook
from bot.live_cluster import NO_KUBERNETES
from bot.settings.schema import Settings
from bot.settings.source_settings import ClusterSettings
from bot.source_catalogue import SOURCES, SourceCatalogue, SourceParts, open_sources
from collectors.blind_checks import rules_without
from collectors.facts.clock import Clock
from collectors.facts.findings import Finding, FindingLevel, RuleHealth, broken, ok
from collectors.facts.queries import PromQLQuery, Query
from collectors.facts.redaction import Redactor, use_redactor
from collectors.facts.results import SourceError
from commands.command_catalogue import CATALOGUE

LIMIT = 90.0  # seconds for one part


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFinding:
    """A finding about one part: `prod-a prometheus`, `slack`."""

    part: str
    finding: Finding
    rule: str = ""  # the rule that it is about, if it is about one

    @property
    def is_broken(self) -> bool:
        return self.finding.level is FindingLevel.BROKEN

    def as_json(self) -> dict[str, object]:
        one = self.finding
        return {
            "part": self.part,
            "level": one.level.value,
            "finding": one.text,
            "fix": one.fix,
            "lines": list(one.lines),
            "rules": list(one.rules),
            "health": one.health.value,
        }


async def examine(
    settings: Settings,
    rulebook: Rulebook,
    *,
    clock: Clock,
    sources: SourceCatalogue = SOURCES,
    channels: Mapping[str, Diagnose] = DIAGNOSES,
) -> list[PartFinding]:
    """Ask every source and channel. Nothing is changed, posted or stored."""
    queries = {rule.name: rule.query for rule in rulebook.rules}
    found: list[PartFinding] = []
    for cluster in settings.clusters:
        of_sources = await _cluster(cluster, settings, queries, clock, sources)
        history = await stored_history(settings.store.url, cluster.name, clock.now())
        findings = [one.finding for one in of_sources]
        report = rule_findings(rulebook.rules, findings, history, clock.now())
        found += of_sources
        part = f"{cluster.name} rules"
        found += [PartFinding(part=part, finding=one, rule="".join(one.rules)) for one in report]
        rules = {rule.id: rule for rule in rulebook.rules}
        sent = received_findings(history.received, rules, settings, cluster.name)
        found += [PartFinding(part=f"{cluster.name} received alerts", finding=one) for one in sent]
    for kind, ask in channels.items():
        try:
            async with asyncio.timeout(LIMIT):
                found += [PartFinding(part=kind, finding=one) for one in await ask(settings)]
        except TimeoutError:
            found.append(PartFinding(part=kind, finding=_late(kind)))
    return found


async def _cluster(
    cluster: ClusterSettings,
    settings: Settings,
    queries: Mapping[str, Query],
    clock: Clock,
    catalogue: SourceCatalogue,
) -> list[PartFinding]:
    found: list[PartFinding] = []

    def add(part: str, findings: Sequence[Finding]) -> None:
        found.extend(PartFinding(part=f"{cluster.name} {part}", finding=one) for one in findings)

    if cluster.kubernetes is not None:
        try:
            async with asyncio.timeout(LIMIT):
                add(
                    "kubernetes",
                    await diagnose_kubernetes(
                        cluster.kubernetes, settings, CATALOGUE, queries, impersonates=cluster.impersonate
                    ),
                )
        except TimeoutError:
            add("kubernetes", [_late("the API server")])
    elif rules := rules_without(queries):
        none = replace(ok(NO_KUBERNETES), rules=tuple(rules), health=RuleHealth.WAITING, cause=NO_KUBERNETES)
        add("kubernetes", [none])
    async with AsyncExitStack() as stack:
        try:
            redact = Redactor(settings.redact)
            stack.callback(use_redactor, use_redactor(redact))
            parts = SourceParts(redact=redact)
            opened = await open_sources(cluster, parts, stack, catalogue)
        except (SourceError, ValueError) as error:
            add("sources", [broken(str(error), "correct the settings of its sources")])
            return found
        if cluster.kubernetes is not None:
            listed = await listed_cluster(cluster.kubernetes, cluster=cluster.name)
            if listed.topology.nodes:
                opened.follow(lambda: listed.topology)
            metrics = opened.answering(PromQLQuery)
            if metrics is not None:
                add(metrics.name, await unmeasured_gpus(listed, opened, clock.now()))
        for name, findings in (await opened.diagnose(queries, at=clock.now())).items():
            add(name, findings)
        link = await graph_link(cluster)
        add("links", [link] if link is not None else [])
    return found


def _late(what: str) -> Finding:
    return broken(f"{what} did not answer within {LIMIT:.0f} s", "check that it is up and can be reached")
