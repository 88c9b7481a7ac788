"""The checker of cards finds each kind of untruth, and none on cards that are true."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from demo.card_checks import Moment, OpenIncident, Shown, Version, faults_in

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOT = "*🔴 gpu-a01 is too hot: 8 GPUs throttle*\n*Next:* *Cordon gpu-a01*"
LOSS, RISK = "DATA LOSS on gpu-a01: /dev/rbd1 was formatted", "DATA AT RISK on gpu-a01: a volume is stuck"


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def card(*versions: tuple[float, str], offers: tuple[str, ...] = (), incident: str = "i1") -> Shown:
    made = tuple(Version(at=after(at), said=said, offers=offers) for at, said in versions)
    return Shown(channel="#gpu-alerts", id=incident, versions=made, incident=incident)


def reply(at: float, said: str, *, id: str = "r1") -> Shown:
    version = Version(at=after(at), said=said)
    return Shown(channel="#gpu-alerts", id=id, versions=(version,), incident="i1", is_reply=True)


def moments(
    *already: str, said: Mapping[str, int] | None = None, end: int = 30, **objects: str
) -> list[Moment]:
    incidents = {
        id: OpenIncident(objects=frozenset(names.split()), said=said or {}) for id, names in objects.items()
    }
    return [Moment(at=after(at), already=frozenset(already), incidents=incidents) for at in range(end)]


def test_an_offer_of_what_is_so_is_found() -> None:
    offers = ("node cordon gpu-a01 --reason hot",)
    cordoned = moments("node cordon gpu-a01")

    (fault, _) = faults_in([card((10, HOT), offers=offers)], cordoned)

    assert "offers `node cordon gpu-a01 --reason hot`, which is already so" in fault
    assert faults_in([card((10, HOT), offers=offers)], moments("node cordon gpu-a02")) == []


def test_the_next_step_is_an_offer_too() -> None:
    (fault,) = faults_in([card((10, HOT))], moments("node cordon gpu-a01"))

    assert "offers `Cordon gpu-a01`" in fault


def test_the_first_card_of_an_incident_says_what_stood_before_anybody_looked() -> None:
    said = moments(said={"gpu-a01 is too hot": 3}, i1="gpu-a01")
    first = card((10.4, "*🟠 gpu-a01 is hot*"), (11.4, "*🔴 gpu-a01 is too hot*"))

    assert faults_in([first], said[11:]) == []
    assert faults_in([first], said[10:]) != []


def test_what_became_so_a_moment_ago_may_still_be_offered() -> None:
    late = [one for one in moments("node cordon gpu-a01") if one.at >= after(9)]
    before = [one for one in moments() if one.at < after(9)]

    assert faults_in([card((10, HOT))], [*before, *late]) == []


def test_a_card_that_nobody_looks_at_again_is_found() -> None:
    before, so = moments(end=5), moments("node cordon gpu-a01", end=200)[5:]

    assert faults_in([card((1, HOT))], [*before, *so]) != []
    assert faults_in([card((1, HOT), (60, "*🔴 gpu-a01 is too hot: 8 GPUs throttle*"))], [*before, *so]) == []


def test_a_reply_that_offers_for_long_what_is_done_is_found_and_its_words_are_of_their_moment() -> None:
    before, so = moments(end=5), moments("node cordon gpu-a01", end=200)[5:]
    said = reply(1, HOT)
    offering = replace(said, versions=(replace(said.versions[0], offers=("node cordon gpu-a01",)),))
    then = Version(at=after(60), said="*🔴 gpu-a01 is too hot: 8 GPUs throttle*")

    assert faults_in([offering], [*before, *so]) != []
    assert faults_in([replace(offering, versions=(*offering.versions, then))], [*before, *so]) == []


def test_a_headline_that_says_less_than_what_stands_is_found() -> None:
    known = moments(said={LOSS: 5, RISK: 4}, i1="gpu-a01")

    (fault,) = faults_in([card((10, f"*🔴 {RISK}*"))], known)

    assert f"says less than `{LOSS}`, which stands" in fault
    assert faults_in([card((10, f"*🔴 {LOSS}*"))], known) == []


def test_a_headline_of_what_ended_just_after_it_was_shown_is_right() -> None:
    """It was as grave as what stands on, and ended while a milder alert in nearly the same words stood."""
    failing, slow, milder = (
        "DNS fails for 4.7 % of requests",
        "DNS is too slow",
        "DNS fails for 4.1 % of requests",
    )
    both = moments(said={failing: 3, slow: 3, milder: 2}, i1="gpu-a01")
    ended = moments(said={slow: 3, milder: 2}, i1="gpu-a01")
    shown = [card((10, f"*🔴 {failing}*"), (18, f"*🔴 {slow}*"))]

    assert faults_in(shown, [*both[:11], *ended[11:]]) == []
    assert faults_in(shown, [*both[:4], *ended[4:]]) != []


def test_a_mark_that_is_milder_than_what_stands_is_found() -> None:
    known = moments(said={"gpu-a01 is too hot: 8 GPUs throttle": 3}, i1="gpu-a01")

    (fault,) = faults_in([card((10, "*🟠 gpu-a01 is too hot: 8 GPUs throttle*"))], known)

    assert "a milder severity than an alert that stands" in fault


def test_a_severity_that_did_not_rise_is_found() -> None:
    raised = reply(20, "*Severity raised to critical: gpu-a01 is too hot.*")
    at_once = reply(11, "*Severity raised to critical: gpu-a01 is too hot.*")

    (fault,) = faults_in([card((10, HOT)), raised], moments())
    assert faults_in([card((10, HOT)), at_once], moments()) != []

    assert "its card was never milder" in fault
    assert faults_in([card((8, HOT.replace("🔴", "🟠")), (10, HOT)), raised], moments()) == []


def test_a_severity_that_is_said_to_rise_twice_is_found() -> None:
    said = "*Severity raised to critical: gpu-a01 is too hot.*"
    milder = card((8, HOT.replace("🔴", "🟠")), (10, HOT))

    (fault,) = faults_in([milder, reply(12, said), reply(20, said, id="r2")], moments())

    assert "it was said before" in fault


def test_it_may_rise_again_once_the_incident_was_over() -> None:
    said = "*Severity raised to critical: gpu-a01 is too hot.*"
    again = card(
        (1, HOT.replace("🔴", "🟠")),
        (3, HOT),
        (6, "*✅ gpu-a01 was too hot*"),
        (9, HOT.replace("🔴", "🟠")),
        (11, HOT),
    )

    assert faults_in([again, reply(2, said), reply(10, said, id="r2")], moments()) == []


@pytest.mark.parametrize(
    ("line", "is_true"),
    [
        ("*Also:* 3 tasks cannot resolve a name", False),
        ("*Also:* gpu-a01 was hot: 8 of 8 GPUs", True),
        ("`gpu-a01` is still cordoned until 13:00: hot, by <@U1>.", True),
        ("*Resolved* after 6 s. Fixed by `node show is-a` by <@U1>.", True),
        ("*Resolved* after 6 s: @dana said that it was over: gone.", True),
    ],
)
def test_a_card_that_is_over_speaks_in_the_past(line: str, is_true: bool) -> None:
    over = card((10, f"*✅ gpu-a01 was too hot: 8 GPUs throttled*\n{line}"))

    assert (faults_in([over], moments()) == []) is is_true


def test_two_open_cards_of_one_object_are_found() -> None:
    both = [card((1, HOT)), card((2, "*🟠 gpu-a01 reports errors*"), incident="i2")]

    (fault,) = faults_in(both, moments(i1="gpu-a01", i2="gpu-a01"))

    assert "i1 and i2 are two open cards about gpu-a01" in fault
    assert faults_in(both, moments(i1="gpu-a01", i2="gpu-a02")) == []
    assert faults_in(both, moments(i1="gpu-a01", i2="gpu-a01", end=12)) == []


def test_a_deleted_card_is_no_card() -> None:
    deleted = Version(at=after(3), said="*🟠 gpu-a01 reports errors*", is_deleted=True)
    first = card((2, "*🟠 gpu-a01 reports errors*"), incident="i2")
    gone = Shown(channel="#gpu-alerts", id="i2", versions=(*first.versions, deleted), incident="i2")

    assert faults_in([card((1, HOT)), gone], moments(i1="gpu-a01", i2="gpu-a01")) == []
