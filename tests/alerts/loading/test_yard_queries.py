"""Our own rule files: log searches and checks."""

from datetime import timedelta

import pytest

from alerts.loading.listing import query_summary
from collectors.facts.queries import CheckQuery, LogQuery, TimesUsual
from tests.alerts.loading.conftest import LoadRule
from tests.support.log_matches import message, query_string


def test_a_log_search_is_parsed(load_rule: LoadRule) -> None:
    loaded = load_rule(
        """
alert: FellOffBus
logs:
  match: 'message:"fallen off the bus"'
  by: [node, level]
  over: 5m
  above: 2
  novel: 7d
  times_usual: {factor: 4, season: 1w}
  extract: 'Xid.*: (?P<xid>[0-9]+)'
keep_firing_for: 10m
""",
        file="logs.yard.yaml",
    )

    assert loaded.diagnostics == ()
    (rule,) = loaded.groups[0].rules
    assert rule.id == "logs/g/FellOffBus"
    assert rule.query == LogQuery(
        match=message("fallen off the bus"),
        by=("node", "level"),
        over=timedelta(minutes=5),
        above=2,
        novel=timedelta(days=7),
        times_usual=TimesUsual(factor=4, season=timedelta(weeks=1)),
        extract="Xid.*: (?P<xid>[0-9]+)",
    )


def test_a_search_may_count_different_values(load_rule: LoadRule) -> None:
    loaded = load_rule(
        "alert: A\nlogs: {match: 'message:x', over: 5m, by: [namespace], distinct: pod}",
        file="logs.yard.yaml",
    )

    assert loaded.diagnostics == ()
    query = loaded.groups[0].rules[0].query
    assert query == LogQuery(match=message("x"), over=timedelta(minutes=5), by=("namespace",), distinct="pod")
    assert query_summary(query) == "logs: message:x over 5m above 0 different pod by namespace"


def test_a_search_for_lines_of_hosts(load_rule: LoadRule) -> None:
    loaded = load_rule(
        "alert: A\nlogs: {match: 'message:x', over: 5m, by: [node], of: host}", file="logs.yard.yaml"
    )

    assert loaded.diagnostics == ()
    (query,) = (rule.query for rule in loaded.groups[0].rules)
    assert query == LogQuery(match=message("x"), over=timedelta(minutes=5), by=("node",), of_host=True)
    assert query_summary(query) == "logs: message:x of host over 5m above 0 by node"


def test_a_check_is_parsed_with_its_parameters(load_rule: LoadRule) -> None:
    loaded = load_rule("alert: A\ncheck: dns-autoscaler-capped\nwith: {growth: 1.5}", file="dns.yard.yaml")

    assert loaded.diagnostics == ()
    assert loaded.groups[0].rules[0].query == CheckQuery(
        name="dns-autoscaler-capped", parameters={"growth": 1.5}
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("alert: A", "one of 'logs' or 'check' must be set"),
        ("alert: A\ncheck: bare\nlogs: {match: 'message:x', over: 5m}", "not both"),
        ("alert: A\nexpr: up", "`expr`: it belongs in a Prometheus rule file"),
        ("record: a\nexpr: up", "`record`: it belongs in a Prometheus rule file"),
        ("alert: A\nunusual: {x: y}", "`unusual` is reserved: anomaly detection is not supported"),
        ("alert: A\ncheck: dns-autoscaler-caped", "did you mean `dns-autoscaler-capped`?"),
        (
            "alert: A\ncheck: bare\nwith: {x: 1}",
            "the check `bare` has no parameter `x`; it has no parameters",
        ),
        (
            "alert: A\nlogs: {match: 'message:x', over: 5m}\nwith: {x: 1}",
            "only a rule with `check` has `with`",
        ),
        ("alert: A\nlogs: {over: 5m}", "`match` must be set"),
        ("alert: A\nlogs: {match: '', over: 5m}", "is missing at the end"),
        ("alert: A\nlogs: {match: error, over: 5m}", 'logs.match: name the field: message:"error"'),
        ("alert: A\nlogs: {match: 'pod:x*', over: 5m}", "write it as `elasticsearch: '…'` beside `match`"),
        ("alert: A\nlogs: {elasticsearch: ' ', over: 5m}", "`elasticsearch` must not be empty"),
        ("alert: A\nlogs: {opensearch: x, over: 5m}", "unknown field `opensearch`"),
        ("alert: A\nlogs: {match: 'message:x'}", "`over` must be set"),
        (
            "alert: A\nlogs: {match: 'message:x', over: 5m, by: [nodes]}",
            "`by` cannot be `nodes`; did you mean `node`?",
        ),
        ("alert: A\nlogs: {match: 'message:x', over: 5m, above: many}", "must be a number, not `many`"),
        ("alert: A\nlogs: {match: 'message:x', over: 5m, novel: 1m}", "`novel` must be longer than `over`"),
        (
            "alert: A\nlogs: {match: 'message:x', over: 5m, times_usual: {season: 1d}}",
            "`factor` must be a number above 0",
        ),
        (
            "alert: A\nlogs: {match: 'message:x', over: 5m, extract: '(a'}",
            "`extract` is not a regular expression",
        ),
        ("alert: A\nlogs: {match: 'message:x', over: 5m, extract: 'a'}", "`extract` needs a named group"),
        ("alert: A\nlogs: {match: 'message:x', over: 5m, above_: 1}", "unknown field `above_`"),
        ("alert: A\nlogs: x", "`logs` must be a mapping"),
        ("alert: A\nlogs: {match: 'message:x', over: 5m, of: pods}", "`of` must be `host`"),
        (
            "alert: A\nlogs: {match: 'message:x', over: 5m, of: host, novel: 7d}",
            "`of` and `novel` cannot be used together",
        ),
        (
            "alert: A\nlogs: {match: 'message:x', over: 5m, distinct: pods}",
            "`distinct` cannot be `pods`; did you mean",
        ),
        (
            "alert: A\nlogs: {match: 'message:x', over: 5m, distinct: pod, by: [pod]}",
            "`distinct` and `by` cannot both be `pod`",
        ),
        (
            "alert: A\nlogs: {match: 'message:x', over: 5m, distinct: pod, novel: 7d}",
            "`distinct` and `novel` cannot be used together",
        ),
        (
            "alert: A\ncheck: bare\nannotations: {presence: up}",
            "only a rule with `expr` has a presence query",
        ),
    ],
)
def test_an_invalid_query_is_rejected(load_rule: LoadRule, body: str, message: str) -> None:
    loaded = load_rule(body, file="x.yard.yaml")

    assert any(message in diagnostic.message for diagnostic in loaded.diagnostics), loaded.diagnostics
    assert loaded.groups[0].rules == ()


@pytest.mark.parametrize("key", ["logs: {match: 'message:x', over: 5m}", "check: bare", "unusual: {}"])
def test_our_queries_in_a_prometheus_file_name_the_right_kind_of_file(load_rule: LoadRule, key: str) -> None:
    loaded = load_rule(f"alert: A\nexpr: up\n{key}")

    (diagnostic,) = loaded.diagnostics
    assert "it belongs in a *.yard.yaml file" in diagnostic.message


@pytest.mark.parametrize(
    ("logs", "line", "column"),
    [
        ("logs: {match: 'message:\"a b\" AND pod:x-y', over: 5m}", 5, 42),
        (
            "logs:\n  over: 5m\n  match: >-\n    message:one\n    OR message:two AND\n    message:three",
            9,
            24,
        ),
        ("logs:\n  over: 5m\n  match: |\n    message:one\n    OR error", 9, 12),
        ('logs: {over: 5m, match: "message:\\"b\\" c"}', 5, 29),
    ],
    ids=["a quoted text", "a folded block", "a literal block", "an escaped text: where it begins"],
)
def test_a_diagnostic_of_a_match_names_the_place(
    load_rule: LoadRule, logs: str, line: int, column: int
) -> None:
    (diagnostic,) = load_rule(f"alert: A\n{logs}", file="logs.yard.yaml").diagnostics

    assert (diagnostic.location.line, diagnostic.location.column) == (line, column)


def test_a_search_may_be_in_the_syntax_of_a_store(load_rule: LoadRule) -> None:
    both = "{match: 'message:x', elasticsearch: 'message:y*', over: 5m}"
    loaded = load_rule(f"alert: A\nlogs: {both}", file="logs.yard.yaml")

    assert loaded.diagnostics == ()
    (query,) = (rule.query for rule in loaded.groups[0].rules)
    assert query == LogQuery(
        match=message("x"), store_match=query_string("message:y*"), by=(), over=timedelta(minutes=5)
    )
    assert query_summary(query) == "logs: message:x elasticsearch: message:y* over 5m above 0"
