"""Lines that no words of the commands explain lead to what the examples that they are like mean, as suggestions."""

import re
from collections import Counter
from copy import copy
from itertools import pairwise

import pytest

from commands.command_catalogue import CATALOGUE, LEXICON, read_examples
from commands.core.matching.examples import NOTHING, Example, Examples, example_words, examples_in
from commands.core.matching.interpretation import FORM_OPTION, Interpretation, Offer, Run, interpret
from commands.core.matching.known_names import KnownNames
from commands.core.matching.likely import likely_candidates
from commands.core.matching.references import NO_THREAD, ThreadNames
from commands.core.parameter_types import NameKind
from commands.core.parsing import words_of

EXAMPLES = read_examples()
ALONE = copy(LEXICON)
ALONE.examples = Examples()
LIKE = 0.85  # of lines that were left out: their command is among the three likeliest
PLACES = ("channel", "incident", "plan", "request", "training")
KINDS = {*(kind.value for kind in NameKind), "number", "duration"}
NAMES = KnownNames(
    {
        NameKind.NODE: ["gpu-a01", "gpu-a02", "gpu-b03"],
        NameKind.TRAINING: ["vision/detr", "speech/asr"],
        NameKind.VOLUME: ["vision/sets"],
        NameKind.POD: ["vision/detr-worker-3"],
    },
    me="dana",
)
INCIDENT: ThreadNames = {NameKind.INCIDENT: "i3", NameKind.NODE: "gpu-a02", NameKind.TRAINING: "vision/detr"}
PLAN: ThreadNames = {NameKind.PLAN: "p7", NameKind.NODE: "gpu-a02"}


def understood(line: str, thread: ThreadNames = NO_THREAD) -> Interpretation:
    return interpret(words_of(line), LEXICON, lambda: NAMES, thread)


def suggested(line: str, thread: ThreadNames = NO_THREAD) -> list[str]:
    meaning = understood(line, thread)
    assert isinstance(meaning, Offer), meaning
    return [" ".join(words) for words in meaning.lines]


def test_each_example_is_of_a_command_and_a_place_that_there_are() -> None:
    commands = {one.name for one in CATALOGUE}
    wrong = [
        one
        for one in EXAMPLES
        if one.command not in (NOTHING, *commands)
        or one.place not in PLACES
        or not set(re.findall(r"\{(\w+)\}", one.line)) <= KINDS
    ]
    assert not wrong


def test_each_line_is_there_once() -> None:
    counted = Counter((one.place, one.line) for one in EXAMPLES)
    assert [line for line, count in counted.items() if count > 1] == []


def test_the_table_is_sorted_so_that_a_change_shows_where_it_is() -> None:
    order = [*(one.name for one in CATALOGUE), NOTHING]
    places = [(order.index(one.command), PLACES.index(one.place)) for one in EXAMPLES]
    assert all(one <= following for one, following in pairwise(places))


def test_of_examples_that_were_left_out_nearly_all_are_like_those_of_their_command() -> None:
    """One in thirty is left out. What such a line means is among the three likeliest, as it is suggested."""
    left_out = EXAMPLES[::30]
    others = Examples(lambda: [one for at, one in enumerate(EXAMPLES) if at % 30])
    found = sum(
        one.command
        in [command for command, _ in others.likely(list(example_words(one.line)), [one.place])[:3]]
        for one in left_out
    )
    assert found / len(left_out) >= LIKE


@pytest.mark.parametrize(
    ("line", "thread", "meant"),
    [
        ("gpu-b03 sounds like a vacuum cleaner, nothing new on it for 6h", NO_THREAD, "node cordon gpu-b03 --for 6h"),
        ("put detr on ice until the demo is over", NO_THREAD, "training suspend detr"),
        ("vendor is done with gpu-a01, back into rotation with it", NO_THREAD, "node uncordon gpu-a01"),
        ("lock down vision/sets NOW, two nodes have it mounted rw", NO_THREAD, "volume freeze vision/sets"),
        ("detr-worker-3 has been terminating for an hour, get rid of it", NO_THREAD, "pod delete vision/detr-worker-3"),
        ("save everything we know about the box before anybody restarts it", INCIDENT, "node evidence gpu-a02"),
        ("nah, call it off", PLAN, "plan cancel p7"),
        ("gpu-b03 风扇坏了，先别往上派新任务", NO_THREAD, "node cordon gpu-b03"),
    ],
)  # fmt: skip
def test_what_no_words_of_a_command_say_is_suggested(line: str, thread: ThreadNames, meant: str) -> None:
    assert meant in suggested(line, thread)


@pytest.mark.parametrize(
    ("line", "thread"),
    [
        ("please nobody touch gpu-a01 today, the vendor is measuring there", NO_THREAD),
        ("I drained gpu-b03 by hand yesterday, that's why it looked empty", NO_THREAD),
        ("dana says bo will probably stop detr on monday", NO_THREAD),
        ("gn all, that was a long one", NO_THREAD),
        ("刚才辛苦大家了，先吃个早饭", INCIDENT),
    ],
)
def test_a_remark_is_answered_with_no_suggestion(line: str, thread: ThreadNames) -> None:
    assert suggested(line, thread) == []


def test_no_change_is_previewed_because_its_line_is_like_an_example() -> None:
    """What is previewed, the words of its command say as well without the examples."""
    for one in EXAMPLES[::17]:
        words = words_of(re.sub(r"@?\{\w+\}", "gpu-a01", one.line))
        found = interpret(words, LEXICON, lambda: NAMES)
        if isinstance(found, Run) and found.command.changes_something:
            alone = interpret(words, ALONE, lambda: NAMES)
            assert isinstance(alone, Run), one
            assert alone.words == found.words


def test_a_name_that_a_command_cannot_take_makes_it_unlikely() -> None:
    examples = (
        Example("node cordon", "channel", "keep jobs off {node}"),
        Example("training suspend", "channel", "keep jobs off {training}"),
    )
    assert examples_in("[node cordon | channel]\nkeep jobs off {node}\n") == examples[:1]
    assert [command for command, _ in Examples(lambda: examples).likely(["keep", "<node>"], ["channel"])] == [
        "node cordon",
        "training suspend",
    ]


def test_without_examples_nothing_is_likely() -> None:
    assert Examples().likely(["keep"], ["channel"]) == []
    assert list(likely_candidates((), (), (), ALONE, NAMES, NO_THREAD)) == []


def test_what_is_missing_is_asked_for_in_a_form() -> None:
    assert suggested("somebody should get a new experiment going on the free cards")[0].endswith(FORM_OPTION)


def test_a_word_that_is_left_is_not_taken_for_a_person_who_is_named_already() -> None:
    assert suggested("@mira takes this over, i need sleep", INCIDENT)[0] == "alert hand-over i3 @mira"
    assert suggested("@eli take over, i'm about to board", INCIDENT)[0] == "alert hand-over i3 @eli"
