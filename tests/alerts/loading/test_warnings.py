"""Warnings about a rule file that promtool accepts but that probably does not mean what its author meant."""

import pytest

from alerts.loading import check_report, load
from alerts.loading.promql_labels import output_labels
from alerts.rules import Symbols

SYMBOLS = Symbols(runbooks=frozenset({"gpu-idle", "node-clock"}))


def warnings(rule: str, *, own: bool = False) -> list[str]:
    loaded = load(f"groups: [{{name: g, rules: [{{{rule}}}]}}]", file="r.yaml", symbols=SYMBOLS, own=own)
    assert loaded.diagnostics == ()
    return [one.message.partition('"A": ')[2] for one in loaded.warnings]


def test_a_severity_that_is_not_ours_says_what_it_is_taken_for() -> None:
    assert warnings("alert: A, expr: up == 0, labels: {severity: page}") == [
        "severity: `page` is taken for critical"
    ]
    assert warnings("alert: A, expr: up == 0, labels: {severity: '{{ $value }}'}") == []


def test_a_label_that_the_query_does_not_give_is_always_empty() -> None:
    rule = "alert: A, expr: sum by (node) (up) == 0, annotations: {summary: '{{ $labels.nod }} is down'}"
    assert warnings(rule) == ["`$labels.nod` is not a label of the query; did you mean `node`?"]
    assert warnings(rule.replace("sum by (node) (up)", "up")) == []


def test_a_page_that_is_not_shipped_is_found_below_the_setting_only() -> None:
    rule = "alert: A, expr: up == 0, annotations: {runbook: %s}"
    assert warnings(rule % "site-power", own=True) == [
        "runbook: there is no shipped page `site-power`, only one below the setting `runbooks`"
    ]
    assert warnings(rule % "node-clock", own=True) == []
    assert warnings(rule % "site-power") == []  # in a file of Prometheus' the annotation means nothing to us


def test_the_report_has_the_warnings_and_is_a_success() -> None:
    loaded = load(
        "groups: [{name: g, rules: [{alert: A, expr: up, labels: {severity: none}}]}]",
        file="r.yaml",
        symbols=SYMBOLS,
        own=False,
    )
    assert check_report("r.yaml", loaded) == [
        "Checking r.yaml",
        '  warning: r.yaml:1:68: group "g", rule 1, "A": severity: `none` is taken for info',
        "  SUCCESS: 1 rules found",
    ]


@pytest.mark.parametrize("text", ["", "groups: []", "groups: [{name: g, rules: []}]"])
def test_a_file_without_rules_is_no_success(text: str) -> None:
    report = check_report("r.yaml", load(text, file="r.yaml", symbols=SYMBOLS, own=False))
    assert report == [
        "Checking r.yaml",
        "  WARNING: 0 rules found, so there is nothing to evaluate",
    ]


@pytest.mark.parametrize(
    ("expr", "labels"),
    [
        ("up", None),
        ("rate(x[5m]) > 0", None),
        ("sum(x)", set()),
        ("(sum by (a, b) (x)) > 5", {"a", "b"}),
        ("100 * sum by (a) (x)", {"a"}),
        ("topk(3, sum by (a) (x))", {"a"}),
        ("topk by (b) (3, x)", None),
        ("count_values by (a) ('v', x)", {"a", "v"}),
        ("sum without (a) (sum by (a, b) (x))", {"b"}),
        ("sum without (a) (x)", None),
        ("sum by (a) (x) or sum by (b) (y)", {"a", "b"}),
        ("sum by (a) (x) and y", {"a"}),
        ("sum by (a) (x) * on (a) group_left (b) y", {"a", "b"}),
        ("y * on (a) group_right (b) sum by (a) (x)", {"a", "b"}),
        ("round(sum by (a) (x))", {"a"}),
        ("label_replace(sum by (a) (x), 'b', '$1', 'a', '(.*)')", None),
        ("absent(x)", None),
    ],
)
def test_the_outermost_aggregation_decides_the_labels(expr: str, labels: set[str] | None) -> None:
    assert output_labels(expr) == labels
