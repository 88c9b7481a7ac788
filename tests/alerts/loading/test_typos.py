"""Values that a rule file may not have although their type is right: each with what was probably meant."""

import pytest

from alerts.loading import load
from alerts.rules import Symbols
from tests.alerts.loading.conftest import LoadRule

LOGS = """
alert: Errors
logs: {match: 'message:error', by: [node], over: 5m, extract: "gpu (?P<gpu>[0-9]+)"}
labels: {severity: %s}
annotations: {summary: "%s", runbook: %s}
"""


def rule(severity: str = "warning", summary: str = "Errors.", runbook: str = "ours") -> str:
    return LOGS % (severity, summary, runbook)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            rule(severity="page"),
            "severity: `page` is not a severity; must be one of critical, info, warning",
            id="a severity of another system",
        ),
        pytest.param(rule(severity="critcal"), "did you mean `critical`?", id="a misspelled severity"),
        pytest.param(
            rule(summary="{{ $labels.nod }}"),
            "`$labels.nod` is not a label of the search; did you mean `node`?",
            id="a label that the search does not give",
        ),
        pytest.param(
            rule(runbook="gpu-temprature-high"),
            "there is no page `gpu-temprature-high`; did you mean `gpu-temperature-high`?",
            id="a misspelled runbook",
        ),
        pytest.param(
            "alert: Capped\ncheck: dns-autoscaler-capped\nwith: {growth: lots}\n",
            "with: `growth` must be a number, not `lots`",
            id="a parameter of a check",
        ),
    ],
)
def test_what_was_meant(load_rule: LoadRule, text: str, expected: str) -> None:
    (diagnostic,) = load_rule(text, file="own.yard.yaml").diagnostics
    assert expected in diagnostic.message
    assert diagnostic.location.line > 0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(rule(summary="{{ $labels.node }} {{ $labels.gpu }}"), id="labels of the search"),
        pytest.param(rule(severity="'{{ if true }}critical{{ end }}'"), id="a severity of a template"),
        pytest.param(rule(runbook="a-page-of-our-own"), id="a runbook of one's own"),
    ],
)
def test_what_is_not_a_typo(load_rule: LoadRule, text: str) -> None:
    assert load_rule(text, file="own.yard.yaml").diagnostics == ()


def test_a_file_that_is_not_a_rule_file_is_not_shown() -> None:
    loaded = load("root:x:0:0:a-secret\n", file="passwd", symbols=Symbols(), own=True)
    (diagnostic,) = loaded.diagnostics
    assert str(diagnostic) == "passwd:1:1: this is not a rule file: it must be a mapping with `groups`"
