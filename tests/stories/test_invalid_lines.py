"""Answers to invalid lines: the invalid word and the valid usage, never a traceback or no answer."""

from pathlib import Path

import pytest

from commands.command_catalogue import CATALOGUE
from commands.core.parsing import find, words_of
from tests.support.light import CHANNEL, Light, light

# the typed line, and the parts of the answer: the invalid word and the valid usage
INVALID = {
    "a typo in the noun": ("noed cordon gpu-a01", ("noed", "node cordon NODE")),
    "a typo in the verb": ("node cordn gpu-a01", ("cordn", "node cordon", "node cordon NODE")),
    "a verb of another noun": ("node launch x", ("launch", "node cordon")),
    "an unknown noun": ("frobnicate everything", ("frobnicate", "help")),
    "words in the wrong order": ("cordn node gpu-a01", ("cordn", "node cordon NODE")),
    "a typo in an option": ("node cordon gpu-a01 --reson fan", ("--reson", "--reason", "node cordon NODE")),
    "an option of another command": ("node list --reason fan", ("--reason", "node list")),
    "an option without its value": ("node cordon gpu-a01 --reason", ("--reason", "node cordon NODE")),
    "one argument too many": ("node show gpu-a01 gpu-a02", ("gpu-a02", "node show NODE")),
    "a bad number": ("dns scale many", ("many", "dns scale")),
    "a number out of range": ("dns scale 0", ("0", "dns scale")),
    "a bad duration": ("node cordon gpu-a01 --for soon", ("soon", "4h", "node cordon NODE")),
    "a negative duration": ("node cordon gpu-a01 --for -4h", ("-4h", "node cordon NODE")),
    "a quote that is never closed": ('node cordon gpu-a01 --reason "fan', ("quote",)),
    "ten thousand characters": ("node cordon " + "x" * 10_000, ("10012", "4000")),
    "an unknown node": ("node cordon gpu-z99", ("gpu-z99",)),
    "a typo in a node": ("node cordon gpu-a1", ("gpu-a1", "gpu-a01")),
    "an unknown plan": ("plan confirm p99", ("p99",)),
    "a node in the place of a plan": ("plan undo gpu-a01", ("gpu-a01",)),
    "an unknown cluster": ("node list --cluster nowhere", ("nowhere", "prod-a")),
    "a cluster without its name": ("node list --cluster", ("--cluster", "node list")),
    "Chinese": ("今天天气", ("今天天气", "help")),
    "an emoji": ("🔥🔥🔥", ("🔥", "help")),
    "right to left and combining signs": ("nöde\u202e cordon", ("nöde", "node cordon NODE")),
    "only punctuation": ("--- ;;; |||", ("---", "help")),
    "a shell substitution": ("node cordon $(reboot)", ("$(reboot)",)),
    "a second command after it": ("node list; reboot", ("reboot", "node list")),
    "a null byte": ("node cordon gpu\x00a01", ("gpu-a01",)),
    "help for an unknown command": ("help nodes cordon", ("nodes", "node")),
    "a Slack mention instead of a node": ("node cordon <!channel>", ("channel",)),
}
NEVER_SAID = ("Traceback", "Error(", "Internal error", "<!channel>", "NoneType")


async def answer_to(stage: Light, line: str) -> str:
    answer = await stage.asks("dana", line)
    return answer.said.replace("\u200b", "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


async def test_an_invalid_line_is_answered_with_the_invalid_word_and_the_usage(tmp_path: Path) -> None:
    """All in one stage: a line that did something would be seen at the end."""
    wrong: dict[str, str] = {}
    async with light(tmp_path) as stage:
        for name, (line, words) in INVALID.items():
            answer = await answer_to(stage, line)
            if not all(word in answer for word in words) or any(text in answer for text in NEVER_SAID):
                wrong[name] = answer
        assert wrong == {}
        assert not await stage.plans()
        assert not stage.writes("/")


async def test_an_empty_line_is_answered_with_help(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        assert "Available commands" in await answer_to(stage, "")
        await stage.slack.types("dana", CHANNEL, "@yardmaster")
        await stage.slack.until(lambda: len(stage.slack.ephemerals("dana")) > 1)
        assert "Available commands" in stage.slack.ephemerals("dana")[-1].said


REWRITTEN = {
    "smart quotes": "node cordon gpu-a01 --reason “fan is loud”",
    "an em dash for two hyphens": 'node cordon gpu-a01 —reason "fan is loud"',
    "an en dash": 'node cordon gpu-a01 –reason "fan is loud"',
    "no-break spaces": 'node\u00a0cordon\u00a0gpu-a01 --reason "fan is loud"',
    "a code span": '`node cordon gpu-a01 --reason "fan is loud"`',
    "a code block": '```node cordon gpu-a01 --reason "fan is loud"```',
    "extra spaces": '   node cordon   gpu-a01  --reason "fan is loud"  ',
    "an invisible character": 'node cordon \u200bgpu-a01 --reason "fan is loud"',
}


@pytest.mark.parametrize("typed", list(REWRITTEN.values()), ids=list(REWRITTEN))
async def test_changes_of_a_line_by_slack_and_phones_are_undone(tmp_path: Path, typed: str) -> None:
    async with light(tmp_path) as stage:
        await stage.slack.types("dana", CHANNEL, f"@yardmaster {typed}")
        answer = await stage.slack.until(lambda: stage.slack.ephemerals("dana"), 60)
        assert "Cordon gpu-a01?" in answer[0].said
        (plan,) = await stage.plans()
        assert plan.steps[0].description == "cordon gpu-a01: no new pods are scheduled there (fan is loud)"


@pytest.mark.parametrize("command", CATALOGUE, ids=lambda command: command.name)
def test_the_example_of_a_command_is_that_command(command: object) -> None:
    example = command.example  # type: ignore[attr-defined]
    assert find(words_of(example), CATALOGUE) is command
