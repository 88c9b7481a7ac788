"""An alert's life, a letter a minute.

`!` breach, `.` clear, `?` blind; `p` pending, `F` firing, `R` resolves, `-` none.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.lifecycle import AlertLife, AlertState, Verdict, advance
from alerts.rules import Timing
from tests.support.alerting import NOON, minutes

VERDICTS = {"!": Verdict.ACTIVE, ".": Verdict.INACTIVE, "?": Verdict.UNKNOWN}
LETTERS = {AlertState.PENDING: "p", AlertState.FIRING: "F", AlertState.RESOLVED: "R"}


def film(strip: str, timing: Timing) -> str:
    life: AlertLife | None = None
    told = ""
    for number, letter in enumerate(strip):
        life = advance(life, VERDICTS[letter], timing, NOON + minutes(number))
        told += LETTERS[life.state] if life else "-"
    return told


@pytest.mark.parametrize(
    ("strip", "told"),
    [
        pytest.param("!!!!!!!", "pppppFF", id="held for five minutes"),
        pytest.param("!!!.!!!", "ppp-ppp", id="a gap starts the wait again"),
        pytest.param("!!!!!!...", "pppppFFFR", id="lingers for two minutes"),
        pytest.param("!!!!!!..!..", "pppppFFFFFF", id="a relapse restarts the linger"),
        pytest.param("!!!!!!..!...", "pppppFFFFFFR", id="and ends it two minutes later"),
        pytest.param("!!!!!!?????", "pppppFFFFFF", id="blindness never resolves"),
        pytest.param("!!!!!!.?????", "pppppFFFFFFF", id="not even while it lingers"),
        pytest.param("!!!!!!.??.", "pppppFFFFR", id="a linger that went on unseen is over at the next look"),
        pytest.param("!!???!", "pppppF", id="blindness does not restart the wait"),
        pytest.param("!!?????", "ppppppp", id="nor does it fire by itself"),
        pytest.param("!!??.", "pppp-", id="what cleared while nobody looked leaves no trace"),
        pytest.param("???", "---", id="blind from the start is nothing"),
        pytest.param("....", "----", id="clear is nothing"),
        pytest.param("!!!!!!...!!!!!!", "pppppFFFRpppppF", id="after its end a new life waits its turn"),
        pytest.param("!!!!!!...?.", "pppppFFFR--", id="resolved is told once"),
    ],
)
def test_film_of_five_minutes_hold_and_two_of_linger(strip: str, told: str) -> None:
    assert film(strip, Timing(for_=minutes(5), keep_firing_for=minutes(2))) == told


@pytest.mark.parametrize(
    ("strip", "told"),
    [
        pytest.param("!!.", "FFR", id="fires and ends at once"),
        pytest.param("!.!.", "FRFR", id="each breach is an alert"),
    ],
)
def test_film_without_patience(strip: str, told: str) -> None:
    assert film(strip, Timing()) == told


def test_a_life_remembers_when_it_began_and_fired() -> None:
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
    """Prometheus' own steps (rules/alerting.go, Eval), as they stand there: mutable, one field after the other."""

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


strips = st.text("!.?", min_size=1, max_size=60)
patiences = st.builds(
    lambda hold, linger: Timing(for_=minutes(hold), keep_firing_for=minutes(linger)),
    st.sampled_from([0, 1, 2.5, 5]),
    st.sampled_from([0, 1, 2.5, 5]),
)


@given(st.text("!.", min_size=1, max_size=60), patiences)
def test_it_is_as_prometheus_does_it(strip: str, timing: Timing) -> None:
    reference = Reference(hold=timing.for_, keep_firing_for=timing.keep_firing_for)

    wanted = "".join(
        reference.eval(letter == "!", NOON + minutes(number)) for number, letter in enumerate(strip)
    )

    assert film(strip, timing) == wanted


@given(strips, patiences)
def test_a_failed_look_is_as_no_look(strip: str, timing: Timing) -> None:
    """Prometheus touches no alert when a query fails: the strip with its blind letters left out ends the same."""
    life = other = None
    for number, letter in enumerate(strip):
        now = NOON + minutes(number)
        life = advance(life, VERDICTS[letter], timing, now)
        if letter != "?":
            other = advance(other, VERDICTS[letter], timing, now)
    if strip[-1] != "?":
        assert life == other


@given(strips, patiences)
def test_blindness_changes_nothing_that_stands(strip: str, timing: Timing) -> None:
    life: AlertLife | None = None
    for number, letter in enumerate(strip):
        before = life
        life = advance(life, VERDICTS[letter], timing, NOON + minutes(number))
        if letter == "?" and before is not None and before.state is not AlertState.RESOLVED:
            assert life is before


@given(strips, patiences)
def test_nothing_fires_before_its_time_or_without_a_breach(strip: str, timing: Timing) -> None:
    life: AlertLife | None = None
    for number, letter in enumerate(strip):
        before = life.state if life else None
        life = advance(life, VERDICTS[letter], timing, NOON + minutes(number))
        if life and life.state is AlertState.FIRING and before is not AlertState.FIRING:
            assert letter == "!"
            assert life.fired_at == NOON + minutes(number)
            assert life.fired_at - life.since >= timing.for_
