"""This file tells how wrong lines are answered: with the wrong word and a valid usage, never a traceback or silence."""

from pathlib import Path

import pytest

from commands.command_catalogue import CATALOGUE
from commands.core.parsing import find, words_of
from tests.support.light import CHANNEL, Light, light

# what is typed, and what the answer has to hold: the wrong word, and what is right
WRONG = {
    "a typo in the noun": ("noed cordon gpu-a01", ("noed", "node cordon NODE")),
    "a typo in the verb": ("node cordn gpu-a01", ("cordn", "node cordon", "node cordon NODE")),
    "a verb of another noun": ("node launch x", ("launch", "node cordon")),
    "a noun alone": ("node", ("node", "node list")),
    "an unknown noun": ("frobnicate everything", ("frobnicate", "help")),
    "words in the wrong order": ("cordon node gpu-a01", ("cordon", "node cordon NODE")),
    "a typo in an option": ("node cordon gpu-a01 --reson fan", ("--reson", "--reason", "node cordon NODE")),
    "an option of another command": ("node list --reason fan", ("--reason", "node list")),
    "an option without its value": ("node cordon gpu-a01 --reason", ("--reason", "node cordon NODE")),
    "a missing argument": ("node cordon", ("NODE", "node cordon NODE")),
    "one argument too many": ("node show gpu-a01 gpu-a02", ("gpu-a02", "node show NODE")),
    "a bad number": ("dns scale many", ("many", "dns scale")),
    "a number out of range": ("dns scale 0", ("0", "dns scale")),
    "a bad duration": ("node cordon gpu-a01 --for soon", ("soon", "4h", "node cordon NODE")),
    "a negative duration": ("node cordon gpu-a01 --for -4h", ("-4h", "node cordon NODE")),
    "a quote that is never closed": ('node cordon gpu-a01 --reason "fan', ("quote",)),
    "ten thousand characters": ("node cordon " + "x" * 10_000, ("10012", "4000")),
    "a node that is not there": ("node cordon gpu-z99", ("gpu-z99",)),
    "a node whose name is nearly right": ("node cordon gpu-a1", ("gpu-a1", "gpu-a01")),
    "a plan that is not there": ("plan confirm p99", ("p99",)),
    "a plan that is no plan": ("plan undo gpu-a01", ("gpu-a01",)),
    "an unknown cluster": ("node list --cluster nowhere", ("nowhere", "prod-a")),
    "a cluster without its name": ("node list --cluster", ("--cluster", "node list")),
    "Chinese": ("节点 列表", ("节点", "help")),
    "an emoji": ("🔥🔥🔥", ("🔥", "help")),
    "right to left and combining signs": ("nöde\u202e cordon", ("nöde", "node cordon NODE")),
    "only punctuation": ("--- ;;; |||", ("---", "help")),
    "a shell's trick": ("node cordon $(reboot)", ("$(reboot)",)),
    "a second command behind": ("node list; reboot", ("list;", "node list")),
    "a null byte": ("node cordon gpu\x00a01", ("gpu-a01",)),
    "help for what is not there": ("help nodes cordon", ("nodes", "node")),
    "a Slack mention instead of a node": ("node cordon <!channel>", ("channel",)),
}


@pytest.fixture(params=list(WRONG.values()), ids=list(WRONG))
def wrong(request: pytest.FixtureRequest) -> tuple[str, tuple[str, ...]]:
    found: tuple[str, tuple[str, ...]] = request.param
    return found


async def said_to(stage: Light, line: str) -> str:
    answer = await stage.asks("dana", line)
    return answer.said.replace("\u200b", "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


async def test_a_wrong_line_is_answered_with_the_wrong_word_and_what_is_right(
    tmp_path: Path, wrong: tuple[str, tuple[str, ...]]
) -> None:
    line, words = wrong
    async with light(tmp_path) as stage:
        said = await said_to(stage, line)
        for word in words:
            assert word in said, f"{line!r} was answered {said!r}"
        for sign in ("Traceback", "Error(", "broke something", "<!channel>", "NoneType"):
            assert sign not in said
        assert not await stage.plans()
        assert not stage.writes("/")


async def test_an_empty_line_is_answered_with_help(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        assert "What I can do" in await said_to(stage, "")
        await stage.slack.types("dana", CHANNEL, "@yardmaster")
        await stage.slack.until(lambda: len(stage.slack.ephemerals("dana")) > 1)
        assert "What I can do" in stage.slack.ephemerals("dana")[-1].said


MANGLED = {
    "smart quotes": "node cordon gpu-a01 --reason “fan is loud”",
    "a long dash for two short ones": 'node cordon gpu-a01 —reason "fan is loud"',
    "an en dash": 'node cordon gpu-a01 –reason "fan is loud"',
    "no-break spaces": 'node\u00a0cordon\u00a0gpu-a01 --reason "fan is loud"',
    "a code span": '`node cordon gpu-a01 --reason "fan is loud"`',
    "a code block": '```node cordon gpu-a01 --reason "fan is loud"```',
    "blanks around": '   node cordon   gpu-a01  --reason "fan is loud"  ',
    "an invisible sign": 'node cordon \u200bgpu-a01 --reason "fan is loud"',
}


@pytest.mark.parametrize("typed", list(MANGLED.values()), ids=list(MANGLED))
async def test_what_slack_and_phones_make_of_a_line_is_undone(tmp_path: Path, typed: str) -> None:
    async with light(tmp_path) as stage:
        await stage.slack.types("dana", CHANNEL, f"@yardmaster {typed}")
        answer = await stage.slack.until(lambda: stage.slack.ephemerals("dana"), 60)
        assert "Cordon gpu-a01?" in answer[0].said
        (plan,) = await stage.plans()
        assert plan.steps[0].description == "cordon gpu-a01: nothing new is placed there (fan is loud)"


@pytest.mark.parametrize("command", CATALOGUE, ids=lambda command: command.name)
def test_the_example_that_a_command_shows_is_that_command(command: object) -> None:
    example = command.example  # type: ignore[attr-defined]
    assert find(words_of(example), CATALOGUE) is command
