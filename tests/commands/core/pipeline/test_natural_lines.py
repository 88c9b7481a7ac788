"""Lines as people write them, through the pipeline: what reads runs, what changes something is a button."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from alerts.cards.message import Button, Buttons, Message
from alerts.cards.posted import CardKind, PostedCard
from alerts.cards.sentence_spans import expanded
from alerts.cards.text import Span, Style
from alerts.routing import CardRouting
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from bot.channels.slack.blocks import render
from commands.core.command import CommandOutcome
from commands.execution.plan import Plan, PlanState
from commands.execution.preview import preview
from tests.support.yard import ANA, BO, DANA, Yard, text_of, yard_on


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_on(tmp_path, "gpu-a01", "gpu-b03") as yard:
        yield yard


def buttons(message: Message) -> list[Button]:
    return [one for block in message.blocks if isinstance(block, Buttons) for one in block.buttons]


async def plans(yard: Yard) -> list[Plan]:
    async with yard.store.read() as snapshot:
        return list(await snapshot.rows(Plan).find())


async def test_a_bare_name_shows_what_it_names(yard: Yard) -> None:
    assert "Node gpu-b03" in await yard.say("GPU-B03")
    assert "Node gpu-b03" in await yard.say("查看gpu-b03")


async def test_a_guess_at_a_change_is_a_button_that_previews_it(yard: Yard) -> None:
    answer = await yard.answer("cordn `gpu-b03`", DANA)
    assert answer is not None
    button = buttons(answer.message)[0]
    assert answer.outcome is CommandOutcome.WRONG
    assert not await plans(yard)
    assert "Cordon gpu-b03?" in await yard.say(button.line, DANA)
    (plan,) = await plans(yard)
    assert plan.line == "node cordon gpu-b03"


async def test_a_line_in_capitals_with_commas_is_the_command_that_it_names(yard: Yard) -> None:
    assert "Cordon gpu-a01, gpu-b03?" in await yard.say("NODE CORDON GPU-A01,`gpu-b03`.", DANA)
    (plan,) = await plans(yard)
    assert plan.line == "node cordon gpu-a01 gpu-b03"
    assert "confirmed" in await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", DANA)


async def test_a_missing_argument_asks_for_the_form(yard: Yard) -> None:
    answer = await yard.answer("cordon", DANA)
    assert answer is not None
    assert answer.form is not None
    assert (answer.form.command.name, answer.form.words) == ("node cordon", ())
    assert [one.line for one in buttons(answer.message)] == ["node cordon --form"]
    assert "node cordon NODE…" in text_of(answer.message)


async def test_a_name_that_is_nearly_known_is_a_button_with_the_right_one(yard: Yard) -> None:
    answer = await yard.answer("node cordon gpu-b3 --for 2h", DANA)
    assert answer is not None
    assert "There is no node gpu-b3" in text_of(answer.message)
    assert "node cordon gpu-b03 --for 2h" in [one.line for one in buttons(answer.message)]


async def test_a_text_without_quotes_is_offered_with_quotes(yard: Yard) -> None:
    answer = await yard.answer("node cordon gpu-b03 --reason fan failure", DANA)
    assert answer is not None
    assert 'needs quotes: --reason "fan failure"' in text_of(answer.message)
    (button,) = buttons(answer.message)
    assert "(fan failure)" in await yard.say(button.line, DANA)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("dns scale 0", "replicas must be a whole number, 1 or more, and 0 is not."),
        ("dns scale six", "replicas must be a whole number, 1 or more, and six is not."),
        ("audit --last 999", "--last must be a whole number, 1 to 200, and 999 is not."),
        ("node cordon gpu-b03 --reason", "--reason needs a value."),
        ("node list --rak rack-a", "node list has no option --rak. Did you mean --rack?"),
        ("node show gpu-a01 gpu-b03", "gpu-b03 is one word too many."),
        ("node cordon gpu-b03 --for soon", "--for: soon is not a duration"),
        ("training launch x --image y --kind torch", "--kind: torch is not one of job, jobset,"),
        (
            "training launch x --image y --workers two",
            "--workers must be a whole number, such as 4, or a range",
        ),
        ("training launch x --image y --gpus many", "--gpus must be a number, 0 or more, and many is not."),
    ],
)
async def test_a_wrong_argument_is_explained_in_our_own_words(yard: Yard, line: str, reason: str) -> None:
    answer = (await yard.say(line, DANA)).lower()
    assert reason.lower() in answer
    assert "usage:" in answer


async def test_a_refusal_names_the_team_and_asks_it(yard: Yard) -> None:
    answer = await yard.answer("node cordon gpu-b03 --reason fan", BO)
    assert answer is not None
    assert answer.outcome is CommandOutcome.REFUSED
    assert "Only sre may run node cordon; you are in speech." in text_of(answer.message)
    (button,) = buttons(answer.message)
    assert button.label == "Ask sre to do it"
    object.__setattr__(yard.pipeline, "routing", CardRouting(default="slack:C0SRE"))
    asked = await yard.say(button.line, BO)
    assert "Asked sre in C0SRE: Cordon gpu-b03" in asked
    (plan,) = await plans(yard)
    assert (plan.actor, plan.asked_of, plan.state) == (BO.id, ("sre",), PlanState.PROPOSED)
    card = await card_of(yard, plan)
    assert "bo asks sre to confirm this." in card
    assert "node cordon gpu-b03 --reason fan" in card
    assert f"plan confirm {plan.id} --hash {plan.hash}" in card
    assert "already" in await yard.say(button.line, BO)
    assert "Only sre may run" in await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", BO)
    assert "confirmed" in await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", DANA)


async def card_of(yard: Yard, plan: Plan) -> str:
    context = CardContext(
        rules=dict, training=lambda _cluster, _id: None, blind=lambda _cluster, _queries: {}
    )
    async with yard.store.read() as snapshot:
        (posted,) = await snapshot.rows(PostedCard).find(kind=CardKind.PLAN.value, row_id=plan.id)
        composed = await CardCatalogue(context).compose(posted, snapshot, yard.clock.now())
    assert composed.message is not None
    assert composed.next_due == plan.expires_at
    return f"{posted.channel}\n{text_of(composed.message)}"


async def test_a_plan_that_nobody_confirmed_in_time_says_so(yard: Yard) -> None:
    object.__setattr__(yard.pipeline, "routing", CardRouting(default="slack:C0SRE"))
    await yard.say("ask -- node cordon gpu-b03", BO)
    (plan,) = await plans(yard)
    yard.clock.move(plan.expires_at - plan.created_at)
    async with yard.store.read() as snapshot:
        (posted,) = await snapshot.rows(PostedCard).find(kind=CardKind.PLAN.value)
        context = CardContext(
            rules=dict, training=lambda _cluster, _id: None, blind=lambda _cluster, _queries: {}
        )
        composed = await CardCatalogue(context).compose(posted, snapshot, yard.clock.now())
    assert composed.is_final
    assert composed.message is not None
    assert "Nobody confirmed it in time; nothing was done." in text_of(composed.message)
    assert not buttons(composed.message)


async def test_a_command_without_a_preview_cannot_be_asked_for(yard: Yard) -> None:
    assert "nobody can be asked" in await yard.say("ask -- silence expire s1", BO)


async def test_the_namespaces_of_a_team_are_named(yard: Yard) -> None:
    answer = await yard.say("training launch x --image registry.example/x:1 --namespace other", BO)
    assert "not in namespace other; yours: speech-*" in answer


async def test_the_teams_are_listed(yard: Yard) -> None:
    answer = await yard.say("who is on call?", ANA)
    assert "sre: nobody that is known" in answer
    assert "training *" in answer
    assert "You are in vision." in answer
    assert answer == await yard.say("team list", ANA)


async def test_an_unknown_request_is_named(yard: Yard) -> None:
    assert "There is no request c3f9a1b2." in await yard.say("gpu request c3f9a1b2", ANA)


async def test_a_person_who_may_confirm_sees_the_preview_and_nobody_is_asked(yard: Yard) -> None:
    object.__setattr__(yard.pipeline, "routing", CardRouting(default="slack:C0SRE"))
    said = await yard.say("ask -- node cordon gpu-b03", DANA)
    assert "Cordon gpu-b03?" in said
    assert "You may confirm this yourself, so nobody was asked." in said
    (plan,) = await plans(yard)
    assert plan.asked_of == ()
    assert "confirmed" in await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", DANA)


async def test_the_group_of_an_asked_team_is_mentioned(yard: Yard) -> None:
    sre = replace(yard.pipeline.permissions.teams["sre"], groups=("S0SRE",))
    permissions = replace(yard.pipeline.permissions, teams={**yard.pipeline.permissions.teams, "sre": sre})
    object.__setattr__(yard.pipeline, "permissions", permissions)
    object.__setattr__(yard.pipeline, "routing", CardRouting(default="slack:C0SRE"))
    await yard.say("ask -- node cordon gpu-b03", BO)
    (plan,) = await plans(yard)
    assert plan.asked_groups == ("S0SRE",)
    assert "<!subteam^S0SRE>" in str(render(preview(plan)))


async def test_the_namespaces_that_somebody_may_change_are_shown_as_written(yard: Yard) -> None:
    answer = await yard.answer("training launch x --image y --namespace vision", BO)
    assert answer is not None
    assert Span("speech-*", Style.CODE) in expanded(answer.message.title)
