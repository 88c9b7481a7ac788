"""Findings about alerts that other programs send: rules that both sides have, and alerts that name no cluster."""

from collections.abc import Iterable, Mapping, Sequence

from alerts.alert import Alert
from alerts.rules import Rule, RuleIndex, named_rule
from bot.settings.schema import Settings
from collectors.facts.findings import Finding, warning
from collectors.facts.sentences import counted, listed, sentence

SHOWN = 10


def received_findings(
    alerts: Iterable[Alert], rules: Mapping[str, Rule], settings: Settings, cluster: str
) -> list[Finding]:
    """Return what to change about what senders send to a cluster."""
    sent = [alert for alert in alerts if alert.cluster == cluster]
    return [*_doubled(sent, rules), *_unnamed(sent, settings, cluster)]


def _doubled(sent: Sequence[Alert], rules: Mapping[str, Rule]) -> Iterable[Finding]:
    """Yield the rules that are evaluated here and by a sender."""
    index = RuleIndex(rules)
    names = sorted({alert.name for alert in sent if named_rule(alert.name, index) is not None})
    if not names:
        return
    yield warning(
        counted(
            "{count} rule is judged here and by a sender: {names}",
            "{count} rules are judged here and by a sender: {names}",
            count=len(names),
            names=listed(names, most=SHOWN),
        ),
        "drop them at the sender with these lines, as the rules here know more; "
        "or switch them off here with `enabled: false` in rules.overrides",
        (
            "# prometheus.yml, in `alertmanagers` of Yardmaster",
            "alert_relabel_configs:",
            f"  - {{source_labels: [alertname], regex: '{'|'.join(names)}', action: drop}}",
        ),
    )


def _unnamed(sent: Sequence[Alert], settings: Settings, cluster: str) -> Iterable[Finding]:
    """Yield that the cluster got alerts that name none, where there are several and the settings say nothing."""
    names = [one.name for one in settings.clusters]
    if len(names) < 2 or settings.receive.default_cluster:
        return
    count = sum(alert.labels.get("cluster", "") not in names for alert in sent)
    if count:
        yield warning(
            counted(
                "{count} alert that names no cluster was counted to this one",
                "{count} alerts that name no cluster were counted to this one",
                count=count,
            ),
            sentence(
                "let each sender add the label `cluster` with one of {clusters}, or set receive.default_cluster",
                clusters=listed(names),
            ),
        )
