"""A histogram ends somewhere: a rule compares with no more than its last bound, and says `or more` of it."""

import re
from itertools import groupby
from pathlib import Path

import pytest

from alerts.rules import Rule
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Sample
from tests.alerts.packs.shipped import shipped_rules
from tests.support.alerting import a_renderer

RECORDINGS = Path(__file__).parents[2] / "recordings"
_BOUND = re.compile(r'^(\w+)_bucket\{.*le="([0-9.e+-]+)"', re.MULTILINE)
# `histogram_quantile(0.99, …name_bucket…)) > 1`: the shares above which a rule looks at what is slow.
_SLOW = re.compile(r"histogram_quantile\(0\.(?:99|5), .*?(\w+)_bucket.*?\)\s*(>=?) ([0-9.]+)", re.DOTALL)


def ends() -> dict[str, float]:
    """Return the last bound of each histogram of the recorded pages."""
    bounds = [
        (name, float(bound))
        for file in sorted(RECORDINGS.glob("*.prom"))
        for name, bound in _BOUND.findall(file.read_text(encoding="utf-8"))
    ]
    return {
        name: max(bound for _, bound in found)
        for name, found in groupby(sorted(bounds), key=lambda pair: pair[0])
    }


ENDS = ends()
SLOW = [
    pytest.param(rule, *found.groups(), id=rule.name)
    for rule in shipped_rules().values()
    if isinstance(rule.query, PromQLQuery)
    and (found := _SLOW.search(rule.query.expr))
    and found[1] in ENDS  # the pages of the others are not recorded
]


def test_the_rules_about_slowness_are_found() -> None:
    assert {"KubeletPlegDurationHigh", "CoreDNSLatencyHigh", "etcdHighFsyncDurations"} <= {
        case.id for case in SLOW
    }
    assert len(SLOW) >= 9


@pytest.mark.parametrize(("rule", "histogram", "compared", "bound"), SLOW)
def test_a_rule_can_fire(rule: Rule, histogram: str, compared: str, bound: str) -> None:
    end = ENDS[histogram]
    assert float(bound) < end or (compared == ">=" and float(bound) == end), rule.name


@pytest.mark.parametrize(("rule", "histogram", "compared", "bound"), SLOW)
def test_what_is_beyond_the_end_is_or_more(rule: Rule, histogram: str, compared: str, bound: str) -> None:
    labels = Labels({"instance": "10.0.0.1:9100", "pod": "coredns-0", "verb": "LIST", "resource": "pods"})

    def said(value: float) -> bool:
        found = a_renderer().annotations(rule, Sample(labels=labels, value=value))["summary"]
        return "or more" in found

    assert said(ENDS[histogram])
    assert compared == ">=" or not said(float(bound))
