"""The shipped Prometheus rules while Prometheus cannot be asked, and while one thing is not watched any more.

The presence queries are asked of a real Prometheus elsewhere; here their answers are what promtool's cases imply:
the labels of the presence query's own grouping.
"""

import re
from datetime import UTC, datetime, timedelta

import pytest

from alerts.lifecycle import AlertState
from alerts.rules import Rule
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Sample, Seen
from tests.alerts.packs.judged import fired, once
from tests.alerts.packs.shipped import shipped_rules

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = NOW + timedelta(hours=2)
RULES = {name: rule for name, rule in shipped_rules().items() if isinstance(rule.query, PromQLQuery)}
EVERY = pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())

# What each rule's samples look like. The presence query is asked for the same thing, and for another one.
SAMPLES = {
    "GPUTemperatureHigh": {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1"},
    "GPUThermalThrottling": {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1"},
    "GPUXIDError": {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1", "xid": "79"},
    "GPUXIDChanged": {"Hostname": "gpu-b03", "gpu": "2", "UUID": "GPU-1"},
    "GPUMissing": {"node": "gpu-b03"},
    "GPUIdle": {"Hostname": "gpu-b03", "exported_namespace": "a", "exported_pod": "b"},
    "NodeCPUHighUsage": {"instance": "10.0.1.13:9100"},
    "NodeMemoryHighUtilization": {"instance": "10.0.1.13:9100"},
    "NodeOOMKill": {"instance": "10.0.1.13:9100"},
    "NodeFilesystemSpaceFillingUp": {"instance": "10.0.1.13:9100", "mountpoint": "/"},
    "CoreDNSErrorsHigh": {},
    "CoreDNSErrorsCritical": {},
    "CoreDNSLatencyHigh": {},
}


def _present(rule: Rule, labels: dict[str, str]) -> Labels:
    """One element of the presence query's answer, for these labels."""
    assert isinstance(rule.query, PromQLQuery)
    sees = rule.query.presence or ""
    if grouped := re.search(r"\bby \(([^)]*)\)", sees):
        return Labels({name: labels[name] for name in grouped[1].split(", ") if name in labels})
    if sees.startswith("sum("):
        return Labels()
    return Labels({**labels, "__name__": sees, "job": "node-exporter", "pod": "node-exporter-abcde"})


def _seen(rule: Rule, at: datetime, *, breaches: bool, watched: bool) -> Seen:
    labels = SAMPLES[rule.name]
    others = {name: f"{value}9" for name, value in labels.items()}
    present = [_present(rule, others)] if labels else []
    if watched:
        present.append(_present(rule, labels))
    samples = (Sample(labels=Labels(labels), value=1),) if breaches else ()
    return Seen(source="prometheus", at=at, samples=samples, present=tuple(present))


@EVERY
def test_prometheus_that_does_not_answer_resolves_nothing(rule: Rule) -> None:
    known = {a.key: a for a in fired(rule, _seen(rule, NOW, breaches=True, watched=True), NOW)}
    assert len(known) == 1

    after = once(rule, known, Blind(source="prometheus", at=LATER, reason="refused"), LATER)

    assert (after.alerts, after.changes, after.blind) == (known, (), "refused")


@EVERY
def test_a_subject_that_is_not_watched_any_more_is_blind_alone(rule: Rule) -> None:
    known = {a.key: a for a in fired(rule, _seen(rule, NOW, breaches=True, watched=True), NOW)}

    after = once(rule, known, _seen(rule, LATER, breaches=False, watched=False), LATER)
    still = once(
        rule, after.alerts, _seen(rule, LATER, breaches=False, watched=False), LATER + timedelta(hours=1)
    )

    assert [alert.life for alert in still.alerts.values()] == [alert.life for alert in known.values()]
    assert after.changes == still.changes == ()
    assert not after.blind


@EVERY
def test_a_subject_that_is_watched_and_well_again_resolves(rule: Rule) -> None:
    known = {a.key: a for a in fired(rule, _seen(rule, NOW, breaches=True, watched=True), NOW)}

    first = once(rule, known, _seen(rule, LATER, breaches=False, watched=True), LATER)
    end = LATER + rule.timing.keep_firing_for
    after = once(rule, first.alerts, _seen(rule, end, breaches=False, watched=True), end)

    assert not after.alerts
    assert [change.alert.life.state for change in (*first.changes, *after.changes)] == [AlertState.RESOLVED]


def test_every_rule_of_metrics_is_looked_at() -> None:
    assert set(SAMPLES) == set(RULES)
