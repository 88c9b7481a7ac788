"""The gate of the owners: each answer, silence, and what is not known."""

from dataclasses import replace
from datetime import timedelta

import pytest

from commands.execution.disruption import Disruption
from commands.gates.consent import consent_verdict
from commands.gates.training_answers import about, with_answer
from commands.models import ReclaimRequest, ReclaimState, TrainingAnswer
from tests.support.yard import NOON

HOUR = timedelta(hours=1)
DETR = Disruption(name="vision/Job/detr", shown="vision/detr", owner="ana", ends=True, asks="U_ANA")
VIT = replace(DETR, name="vision/Job/vit", shown="vision/vit")
BERT = replace(DETR, name="speech/Job/bert", shown="speech/bert", owner="bo", asks="U_BO")


def request(state: ReclaimState, of: Disruption = DETR, **fields: object) -> ReclaimRequest:
    return ReclaimRequest(
        id=of.name,
        cluster="prod",
        training=of.name,
        owner=of.owner,
        owner_id=of.asks,
        gpus=8,
        asked_by="U_DANA",
        asked_by_name="dana",
        asked_at=NOON,
        grace_until=NOON + HOUR,
        state=state,
        is_automatic=False,
        for_plan="p1",
        **{"name": of.shown, **fields},  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("state", "late", "held", "is_final"),
    [
        pytest.param(ReclaimState.ASKED, False, "ana may answer about vision/detr", False, id="asked"),
        pytest.param(ReclaimState.ASKED, True, "ana did not answer", True, id="silent"),
        pytest.param(
            ReclaimState.SNOOZED, False, "ana needs vision/detr until", False, id="kept for a while"
        ),
        pytest.param(ReclaimState.SNOOZED, True, "", False, id="kept until now"),
        pytest.param(
            ReclaimState.AFTER_CHECKPOINT, True, "the next checkpoint", False, id="after a checkpoint"
        ),
        pytest.param(ReclaimState.AGREED, False, "", False, id="agreed"),
        pytest.param(ReclaimState.VOID, False, "", False, id="the training has ended"),
        pytest.param(ReclaimState.KEPT, False, "ana needs vision/detr", True, id="kept"),
    ],
)
def test_what_an_answer_means(state: ReclaimState, late: bool, held: str, is_final: bool) -> None:
    now = NOON + HOUR * 2 if late else NOON
    verdict = consent_verdict([DETR], [request(state)], now, silence_agrees=False)
    assert held in verdict.reason
    assert (verdict.holds, verdict.is_final) == (bool(held), is_final)


def test_silence_agrees_only_where_the_settings_say_so_and_after_the_grace() -> None:
    asked = [request(ReclaimState.ASKED)]
    assert consent_verdict([DETR], asked, NOON, silence_agrees=True).until == NOON + HOUR
    assert not consent_verdict([DETR], asked, NOON + HOUR, silence_agrees=True).holds


def test_one_owner_of_two_who_has_not_answered_holds_the_plan_back() -> None:
    both = [request(ReclaimState.AGREED), request(ReclaimState.ASKED, BERT)]
    verdict = consent_verdict([DETR, BERT], both, NOON, silence_agrees=False)
    assert "bo may answer about speech/bert" in verdict.reason
    assert "detr" not in verdict.reason


def test_a_checkpoint_that_is_waited_for_has_no_known_end() -> None:
    both = [request(ReclaimState.AFTER_CHECKPOINT), request(ReclaimState.ASKED, BERT)]
    assert consent_verdict([DETR, BERT], both, NOON, silence_agrees=False).until is None


def test_what_nobody_was_asked_about_does_not_end() -> None:
    verdict = consent_verdict([DETR, BERT], [request(ReclaimState.AGREED)], NOON, silence_agrees=True)
    assert (verdict.is_final, str(verdict.reason)) == (True, "the owner of speech/bert was not asked")


def test_one_answer_is_about_all_of_an_owners_trainings_and_is_waited_for_once() -> None:
    vit = replace(DETR, name="vision/Job/vit", shown="vision/vit")
    both = request(ReclaimState.ASKED, also=(vit.name,))
    verdict = consent_verdict([DETR, vit], [both], NOON, silence_agrees=False)
    assert str(verdict.reason).count("ana may answer") == 1
    agreed = replace(both, state=ReclaimState.AGREED)
    assert not consent_verdict([DETR, vit], [agreed], NOON, silence_agrees=False).holds
    kept = replace(both, state=ReclaimState.KEPT)
    assert consent_verdict([DETR, vit], [kept], NOON, silence_agrees=False).is_final


def both(*answers: TrainingAnswer) -> ReclaimRequest:
    """Return the request about two trainings of ana, with these answers about single ones."""
    asked = request(
        ReclaimState.ASKED,
        name="vision/detr, vision/vit",
        also=(VIT.name,),
        labels=(DETR.shown, VIT.shown),
    )
    for answer in answers:
        one = about(asked, answer.training)
        until = answer.until or one.grace_until
        asked = with_answer(
            asked, replace(one, state=answer.state, keep_reason=answer.reason, grace_until=until)
        )
    return asked


def test_each_training_of_a_request_may_have_an_answer_of_its_own() -> None:
    part = both(TrainingAnswer(training=DETR.name, state=ReclaimState.AGREED))
    assert part.state is ReclaimState.ASKED, "one is not answered"
    assert not consent_verdict([DETR], [part], NOON, silence_agrees=False).holds
    verdict = consent_verdict([DETR, VIT], [part], NOON, silence_agrees=False)
    assert verdict.reason == f"ana may answer about vision/vit until {NOON + HOUR:%Y-%m-%d %H:%M} UTC"
    later = TrainingAnswer(training=VIT.name, state=ReclaimState.SNOOZED, until=NOON + 3 * HOUR)
    all_of_it = with_answer(
        part, replace(about(part, VIT.name), state=later.state, grace_until=NOON + 3 * HOUR)
    )
    assert all_of_it.state is ReclaimState.SNOOZED
    assert consent_verdict([VIT], [all_of_it], NOON + 2 * HOUR, silence_agrees=False).until == NOON + 3 * HOUR
    assert not consent_verdict([VIT], [all_of_it], NOON + 4 * HOUR, silence_agrees=False).holds


def test_what_one_owner_needs_ends_a_plan_that_cannot_be_divided_and_no_other() -> None:
    kept = both(TrainingAnswer(training=DETR.name, state=ReclaimState.KEPT, reason="a paper is due"))
    whole = consent_verdict([DETR, VIT], [kept], NOON, silence_agrees=False)
    assert (whole.is_final, str(whole.reason)) == (True, "ana needs vision/detr: a paper is due")
    parts = consent_verdict([DETR, VIT], [kept], NOON, silence_agrees=False, may_be_divided=True)
    assert (parts.holds, parts.is_final) == (True, False)
    none = both(
        TrainingAnswer(training=DETR.name, state=ReclaimState.KEPT),
        TrainingAnswer(training=VIT.name, state=ReclaimState.KEPT),
    )
    assert none.state is ReclaimState.KEPT
    assert consent_verdict([DETR, VIT], [none], NOON, silence_agrees=False, may_be_divided=True).is_final


def test_an_answer_about_all_of_it_stands_for_each_until_one_has_its_own() -> None:
    agreed = replace(both(), state=ReclaimState.AGREED)
    kept = with_answer(agreed, replace(about(agreed, VIT.name), state=ReclaimState.KEPT))
    assert about(kept, DETR.name).state is ReclaimState.AGREED
    assert about(kept, VIT.name).state is ReclaimState.KEPT
