"""The stage of the recorder's tests: one rule on a node, hot in some spans of minutes."""

from collections.abc import Mapping
from datetime import datetime

from tests.support.alerting import NOON, a_rule, minutes
from tests.support.evaluation import EVERY, Canned, EvaluationStage, hot

RULE = a_rule(for_=minutes(2), keep_firing_for=minutes(1))


def a_yard(*spans: tuple[int, int], **more: object) -> EvaluationStage:
    parts = {"rules": (RULE,), "metrics": Canned(hot(*spans)), **more}
    return EvaluationStage(**parts)  # type: ignore[arg-type]


def by_rule(**spans: tuple[int, int]) -> Canned:
    """Each rule's expression is its own name, hot in its own span of minutes."""

    def heat(expr: str, at: datetime) -> Mapping[str, float]:
        begin, end = spans.get(expr, (0, 0))
        return {"gpu-a01": 91} if begin <= (at - NOON) / EVERY < end else {}

    return Canned(heat)
