"""The life of an alert, one letter per minute.

`!` active, `.` inactive, `?` unknown, `~` uncertain; `p` pending, `F` firing, `R` resolved, `-` none.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.lifecycle import AlertLife, AlertState, Verdict, advance
from alerts.rules import Timing
from tests.support.alerting import NOON, minutes

VERDICTS = {"!": Verdict.ACTIVE, ".": Verdict.INACTIVE, "?": Verdict.UNKNOWN, "~": Verdict.UNCERTAIN}
LETTERS = {AlertState.PENDING: "p", AlertState.FIRING: "F", AlertState.RESOLVED: "R"}


def states_of(verdicts: str, timing: Timing) -> str:
    life: AlertLife | None = None
    states = ""
    for number, letter in enumerate(verdicts):
        life = advance(life, VERDICTS[letter], timing, NOON + minutes(number))
        states += LETTERS[life.state] if life else "-"
    return states


@pytest.mark.parametrize(
    ("verdicts", "states"),
    [
        pytest.param("!!!!!!!", "pppppFF", id="fires after five minutes"),
        pytest.param("!!!.!!!", "ppp-ppp", id="a gap restarts the pending time"),
        pytest.param("!!!!!!...", "pppppFFFR", id="keeps firing for two minutes"),
        pytest.param("!!!!!!..!..", "pppppFFFFFF", id="a relapse restarts keep_firing_for"),
        pytest.param("!!!!!!..!...", "pppppFFFFFFR", id="and resolves two minutes later"),
        pytest.param("!!!!!!?????", "pppppFFFFFF", id="unknown never resolves"),
        pytest.param("!!!!!!.?????", "pppppFFFFFFF", id="not even during keep_firing_for"),
        pytest.param("!!!!!!.??.", "pppppFFFFR", id="keep_firing_for passes while unknown"),
        pytest.param("!!???!", "pppppF", id="unknown does not restart the pending time"),
        pytest.param("!!?????", "ppppppp", id="nor does unknown fire"),
        pytest.param("!!??.", "pppp-", id="a pending alert that ended while unknown leaves no trace"),
        pytest.param("!!!!!!~~~~", "pppppFFFFF", id="uncertain never resolves"),
        pytest.param("!!!!!!.~..", "pppppFFFFF", id="keep_firing_for begins anew after uncertain"),
        pytest.param("!!!!!!.~...", "pppppFFFFFR", id="and resolves two minutes later then"),
        pytest.param("!!~~~!", "pppppF", id="uncertain does not restart the pending time"),
        pytest.param("!!~~.", "pppp-", id="a pending alert that ended while uncertain leaves no trace"),
        pytest.param("???", "---", id="unknown from the start is no alert"),
        pytest.param("~~", "--", id="nor is uncertain"),
        pytest.param("....", "----", id="inactive is no alert"),
        pytest.param(
            "!!!!!!...!!!!!!", "pppppFFFRpppppF", id="after it resolved a new alert is pending first"
        ),
        pytest.param("!!!!!!...?.", "pppppFFFR--", id="resolved is reported once"),
    ],
)
def test_for_five_minutes_and_keep_firing_for_two(verdicts: str, states: str) -> None:
    assert states_of(verdicts, Timing(for_=minutes(5), keep_firing_for=minutes(2))) == states


@pytest.mark.parametrize(
    ("verdicts", "states"),
    [
        pytest.param("!!.", "FFR", id="fires and resolves immediately"),
        pytest.param("!.!.", "FRFR", id="each active period is an alert"),
    ],
)
def test_without_for_and_keep_firing_for(verdicts: str, states: str) -> None:
    assert states_of(verdicts, Timing()) == states


def test_a_life_has_the_times_of_its_transitions() -> None:
    timing = Timing(for_=minutes(2), keep_firing_for=minutes(1))
    life: AlertLife | None = None
    for number, letter in enumerate("!!!!.."):
        life = advance(life, VERDICTS[letter], timing, NOON + minutes(number))

    assert life == AlertLife(
        state=AlertState.RESOLVED,
        since=NOON,
        fired_at=NOON + minutes(2),
        inactive_since=NOON + minutes(4),
        resolved_at=NOON + minutes(5),
    )


@dataclass
class Reference:
    """Prometheus' own algorithm (rules/alerting.go, Eval): mutable, one field after the other."""

    hold: timedelta
    keep_firing_for: timedelta
    state: str = "none"
    active_at: datetime | None = None
    keep_firing_since: datetime | None = None

    def eval(self, breach: bool, ts: datetime) -> str:
        if breach and self.state in ("none", "inactive"):
            self.state, self.active_at, self.keep_firing_since = "pending", ts, None
        if not breach and self.state != "none":
            keep_firing = False
            if self.state == "firing" and self.keep_firing_for > timedelta():
                self.keep_firing_since = self.keep_firing_since or ts
                keep_firing = ts - self.keep_firing_since < self.keep_firing_for
            if self.state in ("pending", "inactive"):
                self.state = "none"
            elif not keep_firing:
                self.state = "inactive"
        if breach:
            self.keep_firing_since = None
            assert self.active_at is not None
            if self.state == "pending" and ts - self.active_at >= self.hold:
                self.state = "firing"
        return {"none": "-", "pending": "p", "firing": "F", "inactive": "R"}[self.state]


any_verdicts = st.text("!.?", min_size=1, max_size=60)
timings = st.builds(
    lambda for_, keep: Timing(for_=minutes(for_), keep_firing_for=minutes(keep)),
    st.sampled_from([0, 1, 2.5, 5]),
    st.sampled_from([0, 1, 2.5, 5]),
)


@given(st.text("!.", min_size=1, max_size=60), timings)
def test_the_states_are_as_in_prometheus(verdicts: str, timing: Timing) -> None:
    reference = Reference(hold=timing.for_, keep_firing_for=timing.keep_firing_for)

    expected = "".join(
        reference.eval(letter == "!", NOON + minutes(number)) for number, letter in enumerate(verdicts)
    )

    assert states_of(verdicts, timing) == expected


@given(any_verdicts, timings)
def test_a_failed_query_is_like_no_query(verdicts: str, timing: Timing) -> None:
    """Prometheus changes no alert when a query fails: without the unknown verdicts the life ends the same."""
    life = without_unknown = None
    for number, letter in enumerate(verdicts):
        now = NOON + minutes(number)
        life = advance(life, VERDICTS[letter], timing, now)
        if letter != "?":
            without_unknown = advance(without_unknown, VERDICTS[letter], timing, now)
    if verdicts[-1] != "?":
        assert life == without_unknown


@given(any_verdicts, timings)
def test_unknown_changes_no_alert(verdicts: str, timing: Timing) -> None:
    life: AlertLife | None = None
    for number, letter in enumerate(verdicts):
        before = life
        life = advance(life, VERDICTS[letter], timing, NOON + minutes(number))
        if letter == "?" and before is not None and before.state is not AlertState.RESOLVED:
            assert life is before


@given(any_verdicts, timings)
def test_nothing_fires_early_or_while_inactive(verdicts: str, timing: Timing) -> None:
    life: AlertLife | None = None
    for number, letter in enumerate(verdicts):
        before = life.state if life else None
        life = advance(life, VERDICTS[letter], timing, NOON + minutes(number))
        if life and life.state is AlertState.FIRING and before is not AlertState.FIRING:
            assert letter == "!"
            assert life.fired_at == NOON + minutes(number)
            assert life.fired_at - life.since >= timing.for_
