"""Our own rule files: annotations that have a meaning."""

from datetime import timedelta

import pytest

from alerts.rules import Culprits, ImpactScope, ResolveWhen, Timing
from collectors.facts.queries import PromQLQuery
from tests.alerts.loading.conftest import LoadRule

HOT = """
alert: GPUTemperatureHigh
expr: DCGM_FI_DEV_GPU_TEMP > 85
for: 2m
keep_firing_for: 5m
labels: {severity: critical}
annotations:
  summary: "{{ $labels.gpu }} is hot"
  runbook: gpu-temperature-high
  presence: DCGM_FI_DEV_GPU_TEMP
  resolve_when: acknowledged
  actions: |
    node cordon {node}

    node drain {node}
"""


def test_annotations_of_our_own_rules_are_parsed(load_rule: LoadRule) -> None:
    loaded = load_rule(HOT)

    assert loaded.diagnostics == ()
    (rule,) = loaded.groups[0].rules
    assert rule.id == "gpu/g/GPUTemperatureHigh"
    assert rule.query == PromQLQuery(expr="DCGM_FI_DEV_GPU_TEMP > 85", presence="DCGM_FI_DEV_GPU_TEMP")
    assert rule.timing == Timing(for_=timedelta(minutes=2), keep_firing_for=timedelta(minutes=5))
    assert rule.template.labels == {"severity": "critical"}
    assert rule.template.actions == ("node cordon {node}", "node drain {node}")
    assert rule.template.resolve_when is ResolveWhen.ACKNOWLEDGED
    assert rule.template.runbook == "gpu-temperature-high"
    assert set(rule.template.annotations) == {"summary", "runbook"}
    assert (rule.location.line, rule.location.column) == (4, 5)


def test_what_a_card_says_of_a_group_is_parsed(load_rule: LoadRule) -> None:
    loaded = load_rule(
        """
alert: A
expr: up
annotations:
  headline: "{node}: {gpus}, {{ $value }}"
  resolved_headline: "{place} was bad."
  impact: holder
  ladder: heat
  culprits: memory
  worse_after: Other Another
  worse_summary: "{{ $labels.node }} is lost."
"""
    )

    assert loaded.diagnostics == ()
    (rule,) = loaded.groups[0].rules
    assert rule.template.impact is ImpactScope.HOLDER
    assert rule.template.worse_after == ("Other", "Another")
    assert (rule.template.ladder, rule.template.culprits) == ("heat", Culprits.MEMORY)
    assert set(rule.template.annotations) == {"headline", "resolved_headline", "worse_summary"}


def test_without_a_word_the_impact_is_left_to_the_component(load_rule: LoadRule) -> None:
    (rule,) = load_rule("alert: A\nexpr: up").groups[0].rules

    assert rule.template.impact is None


def test_in_foreign_files_they_are_plain_annotations(load_rule: LoadRule) -> None:
    loaded = load_rule(HOT.replace("node", "nosuch").replace("acknowledged", "whenever"), own=False)

    assert loaded.diagnostics == ()
    (rule,) = loaded.groups[0].rules
    assert set(rule.template.annotations) == {"summary", "runbook", "presence", "resolve_when", "actions"}
    assert rule.template.actions == ()
    assert rule.template.resolve_when is ResolveWhen.CLEARED
    assert rule.query == PromQLQuery(expr="DCGM_FI_DEV_GPU_TEMP > 85")


@pytest.mark.parametrize(
    ("annotation", "position", "message"),
    [
        ("actions: |\n    node cordon {node}\n    fly away", (9, 9), "no command `fly`"),
        ("actions: node cordon {nodes}", (7, 16), "`{nodes}` is not a subject field; did you mean `node`?"),
        ("remedy: node cordon {node}", (7, 15), "remedy: this annotation is not supported; remove it"),
        (
            "remediation: |\n    node cordon {node}\n    node show {node}",
            (7, 20),
            "remediation: write one command line",
        ),
        ("closes: proof", (7, 15), "closes: this annotation is not supported; remove it"),
        (
            "resolve_when: proven",
            (7, 21),
            "proof: with `resolve_when: proven` it must be set, of repaired, gpus-",
        ),
        (
            "resolve_when: proven\n  proof: word\n  proof_severity: info",
            (9, 23),
            "proof_severity: `info` must be critical or warning",
        ),
        ("proof: word", (7, 14), "proof: it is only used with `resolve_when: proven`"),
        (
            "resolve_when: proven\n  proof: gpus-allocated",
            (8, 14),
            "`gpus-allocated` is not one of repaired, gpus-allocatable, node-rebooted, volume-mounted, metric, "
            "accepted, word",
        ),
        (
            "resolve_when: proven\n  proof: '{{ if eq $labels.xid \"79\" }}gpu-back{{ end }}'",
            (8, 14),
            "`gpu-back` is not one of",
        ),
        ("resolve_when: proven\n  proof: metric", (8, 14), "`metric` needs `proof_expr`"),
        (
            "resolve_when: proven\n  proof: word\n  proof_expr: up",
            (9, 19),
            "proof_expr: `proof` must name `metric`, or it is not used",
        ),
        (
            "resolve_when: proven\n  proof: metric\n  proof_expr: sum(up",
            (9, 19),
            "proof_expr: could not parse expression: 1:4: parse error: unclosed left parenthesis",
        ),
        (
            "presence: sum(up",
            (7, 17),
            "presence: could not parse expression: 1:4: parse error: unclosed left parenthesis",
        ),
        ("impact: everyone", (7, 15), "`everyone` must be one of subject, cluster, holder, bystanders"),
        ('headline: "{nodes} is hot"', (7, 17), "`{nodes}` is not a subject field; did you mean `node`?"),
        (
            'resolved_headline: "{gpu} {counts}"',
            (7, 26),
            "`{counts}` is not a subject field; did you mean `count`?",
        ),
        ("worse_after: Other", (7, 20), "worse_after: `worse_summary` must be set: what the card then says"),
        ("resolve_when: maybe", (7, 21), "`maybe` must be one of cleared, acknowledged, proven"),
        (
            'summary: "{{ nope }}"',
            (7, 16),
            'annotation "summary": template: 1:4: function "nope" not defined',
        ),
    ],
)
def test_an_invalid_annotation_is_reported_with_its_location(
    load_rule: LoadRule, annotation: str, position: tuple[int, int], message: str
) -> None:
    loaded = load_rule(f"alert: A\nexpr: up\nannotations:\n  {annotation}")

    (diagnostic,) = loaded.diagnostics
    assert message in diagnostic.message
    assert diagnostic.message.startswith('group "g", rule 1, "A": ')
    assert (diagnostic.location.line, diagnostic.location.column) == position
