"""`alert why` shows a rule's query as a rule file writes it."""

from datetime import timedelta

import pytest

from collectors.facts.log_match import FieldPhrase
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery, Query, TimesUsual
from commands.alert.query_text import query_lines
from tests.alerts.packs.shipped import shipped_rules

LOGS = LogQuery(
    match=FieldPhrase(field="level", text="error"),
    by=("component", "node"),
    over=timedelta(minutes=5),
    above=20,
    novel=timedelta(days=7),
    times_usual=TimesUsual(factor=3),
    extract="(?P<gpu>\\d)",
)


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        pytest.param(PromQLQuery(expr="up\n  == 0\n"), ("up", "  == 0"), id="PromQL"),
        pytest.param(CheckQuery(name="gpus-missing"), ("check: gpus-missing",), id="a check"),
        pytest.param(
            CheckQuery(
                name="pods-pending", parameters={"after": timedelta(minutes=10), "kinds": ("Job", "Pod")}
            ),
            ("check: pods-pending", "with: after 10m, kinds Job Pod"),
            id="a check with parameters",
        ),
        pytest.param(
            LOGS,
            (
                "logs.match: level:error",
                "logs.by: component, node",
                "logs.over: 5m",
                "logs.above: 20",
                "logs.novel: 1w",
                "logs.times_usual: factor 3, season 1d",
                "logs.extract: (?P<gpu>\\d)",
            ),
            id="a log search",
        ),
    ],
)
def test_a_query_is_shown_with_the_keys_of_a_rule_file(query: Query, lines: tuple[str, ...]) -> None:
    assert query_lines(query) == lines


def test_no_shipped_rule_is_shown_in_python() -> None:
    python = ("Query(", "mappingproxy", "timedelta", "frozenset", "None")
    shown = {name: "\n".join(query_lines(rule.query)) for name, rule in shipped_rules().items()}
    assert all(shown.values())
    assert {name for name, text in shown.items() if any(word in text for word in python)} == set()
