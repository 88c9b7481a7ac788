"""Tables of what stands beside Yardmaster: the rules that kube-prometheus has too, and those that need logs."""

from pathlib import Path

import yaml

from collectors.facts.queries import LogQuery
from docs.shipped_rules import shipped

KUBE_PROMETHEUS = Path(__file__).parent / "kube-prometheus-alerts.yaml"


def twice_part() -> str:
    """Alertmanager's route for the alerts that both have: they go to a receiver that notifies nobody."""
    names = twice()
    lines = [
        "```yaml",
        "# alertmanager",
        "route:",
        "  receiver: default",
        "  routes:",
        '    - receiver: "null"  # Yardmaster has them',
        "      matchers:",
        f'        - alertname =~ "{"|".join(names)}"',
        "receivers:",
        "  - name: default",
        '  - name: "null"',
        "```",
    ]
    return "\n".join([f"{len(names)} alerts have the same name and meaning in both:", "", *lines])


def twice() -> list[str]:
    """Return the names of the shipped rules that kube-prometheus has too."""
    theirs = set(yaml.safe_load(KUBE_PROMETHEUS.read_text(encoding="utf-8")))
    return sorted({rule.name for rule in shipped().rules} & theirs)


def without_logs_part() -> str:
    """What nobody sees without a log store, by pack."""
    rules = [rule for rule in shipped().rules if isinstance(rule.query, LogQuery)]
    packs = dict.fromkeys(rule.id.partition("/")[0] for rule in rules)
    rows = [
        f"| {pack} | {', '.join(rule.name for rule in rules if rule.id.startswith(f'{pack}/'))} |"
        for pack in packs
    ]
    count = f"{len(rules)} of the {len(shipped().rules)} shipped rules search logs:"
    return "\n".join([count, "", "| Pack | Rules |", "|---|---|", *rows])
