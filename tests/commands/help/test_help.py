"""`help` fits on a phone: a line for each noun, and a menu that leads to more about it."""

from dataclasses import replace
from pathlib import Path

from alerts.cards.message import Buttons, Paragraph
from alerts.cards.text import plain
from commands.command_catalogue import CATALOGUE
from tests.support.incident_yard import yard_with
from tests.support.incidents import an_open_incident
from tests.support.yard import ANA, CLUSTER, text_of


async def test_the_overview_has_a_line_for_each_noun_and_all_commands(tmp_path: Path) -> None:
    async with yard_with(tmp_path) as yard:
        answer = await yard.answer("help")
        assert answer is not None
        (lines,) = [plain(one.text) for one in answer.message.blocks if isinstance(one, Paragraph)]
        nouns = [command.noun for command in CATALOGUE]
        several = {noun for noun in nouns if nouns.count(noun) > 1}
        assert len(lines.split("\n")) == len(several) + 1
        assert all((command.verb or command.noun) in lines for command in CATALOGUE)
        menu, forms = [
            menu for one in answer.message.blocks if isinstance(one, Buttons) for menu in one.menus
        ]
        assert {option.label for option in menu.options} == several
        for option in forms.options[:3]:
            form = await yard.answer(option.line)
            assert form is not None
            assert form.form is not None
            assert form.form.command.name == option.label
        for option in menu.options:
            assert f"{option.label} " in await yard.say(option.line)


async def test_what_one_may_not_run_is_marked(tmp_path: Path) -> None:
    async with yard_with(tmp_path) as yard:
        answer = await yard.answer("help", ANA)
        assert answer is not None
        shown = text_of(answer.message).replace("\N{NO-BREAK SPACE}", " ")
        assert "🔒 cordon" in shown
        assert "🔒 you may not run this" in shown
        own = (await yard.say("help")).replace("\N{NO-BREAK SPACE}", " ")
        assert "✏️ cordon" in own
        assert "🔒" not in own


async def test_what_matters_now_comes_first(tmp_path: Path) -> None:
    async with yard_with(tmp_path) as yard:
        assert "[Open incidents] incident list" in await yard.say("help")
    async with yard_with(tmp_path, replace(an_open_incident(id="i7"), cluster=CLUSTER)) as yard:
        shown = await yard.say("help")
        assert (
            "[1 open incident] incident list\n[Show i7] incident show i7\n[Acknowledge i7] alert ack i7"
            in shown
        )
