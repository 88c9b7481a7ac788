"""Cases of log rules at the edge of their window: lines that are as old as may be, and lines that are older."""

from dataclasses import replace

import msgspec

from tests.alerts.packs.log_case import LogCase, LogEvent
from tests.alerts.packs.log_cases import LOG_CASES
from tests.alerts.packs.timing import TIMING


def _at_the_edge(case: LogCase) -> tuple[LogCase, ...]:
    """Return the case with its lines just in the window, and just too old. None where what was before matters."""
    window = TIMING[case.rule].window.total_seconds()
    ages = [event.ago + number for event in case.events for number in range(event.times)]
    if max(ages) >= window:
        return ()
    within, beyond = window - max(ages) - 1, window - min(ages) + 1
    counted = f"{case.description}, at the edge of the window"
    too_old = f"{case.description}, beyond the edge of the window"
    return (
        replace(case, description=counted, events=_older(case, within)),
        replace(case, description=too_old, events=_older(case, beyond), fired=()),
    )


def _older(case: LogCase, seconds: float) -> tuple[LogEvent, ...]:
    return tuple(msgspec.structs.replace(event, ago=event.ago + seconds) for event in case.events)


def _one_pair_a_rule() -> tuple[LogCase, ...]:
    by_rule = {case.rule: pair for case in reversed(LOG_CASES) if case.fired and (pair := _at_the_edge(case))}
    return tuple(case for pair in by_rule.values() for case in pair)


AGED_CASES = _one_pair_a_rule()
