"""The lines in people's own words, as docs/commands.md explains them, lead to what it says."""

import re
import shlex
from pathlib import Path

import pytest

from commands.command_catalogue import LEXICON
from commands.core.matching.interpretation import FORM_OPTION, Fill, Offer, Run, interpret
from commands.core.matching.known_names import KnownNames
from commands.core.matching.references import NO_THREAD
from commands.core.parameter_types import NameKind
from commands.core.parsing import words_of

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
NAMES = KnownNames(
    {
        NameKind.NODE: ["gpu-a04", "gpu-b03", "gpu-c11"],
        NameKind.TRAINING: ["vision/detr", "nlp/llama-sft"],
        NameKind.VOLUME: ["data/train-data"],
    }
)
THREAD = {NameKind.INCIDENT: "i12", NameKind.NODE: "gpu-a04", NameKind.RUNBOOK: "gpu-xid-error"}
IN_THREAD = "in a card's thread: "


def rows() -> list[tuple[str, str]]:
    section = PAGE.read_text(encoding="utf-8").split("## In your own words", 1)[1].split("\n## ", 1)[0]
    found = [
        tuple(cell.strip() for cell in row.strip("|").split("|"))
        for row in section.splitlines()
        if "|" in row
    ]
    return [(line, outcome) for line, outcome in found[2:]]


@pytest.mark.parametrize(("line", "outcome"), rows())
def test_a_line_leads_to_what_the_page_says(line: str, outcome: str) -> None:
    thread = THREAD if line.startswith(IN_THREAD) else NO_THREAD
    meaning = interpret(words_of(line.removeprefix(IN_THREAD)), LEXICON, lambda: NAMES, thread)
    named = re.search("`([^`]+)`", outcome)
    words = tuple(shlex.split(named[1])) if named else ()
    form = (*words, FORM_OPTION)
    if outcome.startswith("the answer of"):
        assert isinstance(meaning, Run)
        assert (meaning.words, meaning.command.changes_something) == (words, False)
    elif outcome.startswith("the preview of"):
        assert isinstance(meaning, Run)
        assert (meaning.words, meaning.command.plan is not None) == (words, True)
    elif outcome.startswith("the form of"):
        assert isinstance(meaning, Fill)
        assert meaning.words == words
    else:
        shown = {
            "a button for": (words,),
            "a button for the form of": (form,),
            "the list of what there is": (),
        }
        beside = ((*words[:2], FORM_OPTION),) if outcome.endswith("and one for its form") else ()
        assert isinstance(meaning, Offer)
        assert meaning.lines == (*shown[outcome.split(" `")[0]], *beside)
