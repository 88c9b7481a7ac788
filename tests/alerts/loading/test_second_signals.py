"""Second signals of remediations: another kind of signal, or the rule is refused when it is loaded."""

from pathlib import Path

import pytest

from alerts.loading.second_signals import Signal, signals_of
from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from collectors.facts.queries import PromQLQuery

OTHERS = """\
  - {alert: Gauge, expr: node_hot > 1}
  - {alert: Counter, expr: "rate(node_faults_total[5m]) > 1"}
  - {alert: Total, expr: node_faults_total > 100}
  - {alert: Both, expr: "rate(node_faults_total[5m]) > 1 and on (node) node_hot > 1"}
"""
SEARCH = (
    "groups:\n- name: l\n  rules:\n  - {alert: Logged, logs: {match: 'message:x', by: [node], over: 5m}}\n"
)


def errors(folder: Path, expr: str, beside: str) -> list[str]:
    """Return what is wrong with a rule that acts by itself beside these alerts."""
    rule = (
        f"  - alert: Acts\n    expr: {expr}\n    annotations:\n      remediation: node cordon {{node}}\n"
        f"      remediation_with: {beside}\n"
    )
    (folder / "own.yaml").write_text(f"groups:\n- name: g\n  rules:\n{rule}{OTHERS}")
    (folder / "logs.yard.yaml").write_text(SEARCH)
    files = tuple(folder / name for name in ("own.yaml", "logs.yard.yaml"))
    return [str(one) for one in read_rulebook(RulesSettings(packs=(), files=files)).diagnostics]


@pytest.mark.parametrize("beside", ["Logged", "Counter", "Total", "Logged Counter"])
def test_another_kind_of_signal_is_one(tmp_path: Path, beside: str) -> None:
    assert errors(tmp_path, "node_memory > 0.9", beside) == []


@pytest.mark.parametrize(
    ("beside", "kinds"), [("Gauge", "gauge"), ("Acts", "gauge"), ("Both", "gauge"), ("Logged Gauge", "gauge")]
)
def test_the_same_kind_is_refused_with_the_line(tmp_path: Path, beside: str, kinds: str) -> None:
    (found,) = errors(tmp_path, "node_memory > 0.9", beside)
    assert found.startswith(f"{tmp_path}/own.yaml:4:")
    assert f"`{beside.split()[-1]}` measures the same kind of signal ({kinds})" in found


def test_a_name_that_is_no_rule_is_refused(tmp_path: Path) -> None:
    (found,) = errors(tmp_path, "node_memory > 0.9", "Loged")
    assert "`Loged` is not a rule" in found


def test_the_shipped_rules_have_second_signals_of_another_kind() -> None:
    book = read_rulebook(RulesSettings())
    assert book.diagnostics == ()
    assert any(rule.template.remediation_with for rule in book.rules)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("up == 0", {Signal.GAUGE}),
        ("sum(increase(a[5m])) > 1", {Signal.COUNTER}),
        ("max_over_time(b_bytes[5m]) > 1", {Signal.GAUGE}),
        ("rate(a[5m]) / b", {Signal.COUNTER, Signal.GAUGE}),
        ("request_duration_seconds_bucket", {Signal.COUNTER}),
    ],
)
def test_what_an_expression_measures(expr: str, expected: set[Signal]) -> None:
    assert signals_of(PromQLQuery(expr=expr)) == expected
