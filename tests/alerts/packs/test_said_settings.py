"""Sentences of rules do not say as fixed what a setting changes."""

import re

import pytest

from alerts.rules import Rule
from collectors.facts.clock import duration
from collectors.facts.queries import LogQuery
from tests.alerts.packs.shipped import shipped_rules

EVERY = pytest.mark.parametrize("rule", shipped_rules().values(), ids=shipped_rules().keys())
SAID = ("summary", "headline", "resolved_headline", "worse_summary")
_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "fifteen": 15, "thirty": 30}
_SPAN = re.compile(rf"\b(\d+|{'|'.join(_WORDS)}) (second|minute|hour|day)s?\b")


def spans(rule: Rule) -> set[str]:
    """Return the durations that the rule's sentences name, as `15m`."""
    texts = (rule.template.annotations.get(name, "") for name in SAID)
    found = (match for text in texts for match in _SPAN.findall(text))
    return {f"{_WORDS.get(number, number)}{unit[0]}" for number, unit in found}


def test_durations_are_found() -> None:
    assert "15m" in spans(shipped_rules()["KubeNodeReadinessFlapping"])


@EVERY
def test_a_rule_does_not_say_its_own_for(rule: Rule) -> None:
    """`rules.overrides` changes it. A window of the query is part of the rule, and may be said."""
    windows = str(rule.query)
    said = {span for span in spans(rule) if duration(span) == rule.timing.for_}
    assert {span for span in said if f"[{span}" not in windows} == set()


@EVERY
def test_a_rule_does_not_say_the_count_that_must_be_exceeded(rule: Rule) -> None:
    """`rules.overrides` changes `above`, too."""
    if not isinstance(rule.query, LogQuery) or not rule.query.above:
        return
    texts = " ".join(rule.template.annotations.get(name, "") for name in SAID)
    assert f" {rule.query.above:g} " not in texts
