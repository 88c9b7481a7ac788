"""Lines of people who had seen the documentation only lead to what they expected, or to a button or a form for it."""

import re
import shlex
from pathlib import Path
from typing import Any

from commands.command_catalogue import LEXICON
from commands.core.matching.interpretation import FORM_OPTION, Fill, Interpretation, Run, interpret
from commands.core.matching.known_names import KnownNames
from commands.core.matching.references import NO_THREAD
from commands.core.parameter_types import NameKind
from commands.core.parsing import words_of
from tests.support.quick_yaml import from_yaml

FOUND: dict[str, Any] = from_yaml(
    (Path(__file__).parent / "strangers_lines.yaml").read_text(encoding="utf-8")
)
NAMES = KnownNames({NameKind(kind): names for kind, names in FOUND["cluster"].items()}, me="dana")
THREADS = {
    id: {NameKind(kind): name for kind, name in about.items()} for id, about in FOUND["threads"].items()
}
RIGHT = 0.9  # of the lines; they reached 0.92
WRONGLY_SUGGESTED = 0.055  # they reached 0.052, with each button whose options are not the expected ones


def meaning_of(entry: dict[str, Any]) -> Interpretation:
    thread = THREADS[entry["thread"]] if "thread" in entry else NO_THREAD
    return interpret(words_of(entry["line"]), LEXICON, lambda: NAMES, thread)


def lines_of(meaning: Interpretation) -> list[tuple[str, ...]]:
    return [meaning.words] if isinstance(meaning, Run | Fill) else list(meaning.lines)


def is_right(meaning: Interpretation, expected: str) -> bool:
    kind, _, line = expected.partition(": ")
    lines = lines_of(meaning)
    if kind == "cannot":
        return not lines
    if kind == "asks for":
        return isinstance(meaning, Fill) or any(FORM_OPTION in words for words in lines)
    wanted = comparable(shlex.split(line))
    return any(comparable(words) == wanted for words in lines if FORM_OPTION not in words)


def comparable(words: list[str] | tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the arguments without namespaces, and the options sorted; any reason is as good as another."""
    spread = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    cut = next((at for at, word in enumerate(spread) if word.startswith("--")), len(spread))
    options = re.findall(r"--\S+(?: (?!--)[^-]\S*)*", " ".join(_duration(word) for word in spread[cut:]))
    shown = ["--reason" if one.startswith("--reason") else re.sub(r"\S+/", "", one) for one in options]
    return [word.rpartition("/")[2] for word in spread[:cut]], sorted(shown)


def _duration(word: str) -> str:
    days = re.fullmatch(r"(\d+)([dw])", word)
    return f"{int(days[1]) * (24 if days[2] == 'd' else 168)}h" if days else word


def test_lines_of_strangers_lead_to_what_they_expected() -> None:
    right, suggested, previewed = 0, list[str](), list[str]()
    for entry in FOUND["lines"]:
        meaning = meaning_of(entry)
        if any(is_right(meaning, expected) for expected in entry["expect"]):
            right += 1
        elif isinstance(meaning, Run):
            previewed += [entry["line"]] if meaning.command.changes_something else []
        elif lines_of(meaning):
            suggested.append(entry["line"])
    total = len(FOUND["lines"])
    assert total == 464
    assert right / total >= RIGHT
    assert len(suggested) / total <= WRONGLY_SUGGESTED, suggested
    assert len(previewed) <= 3, previewed
