"""Ranges of nodes are all of their nodes, and a number that is added to what is there is not taken as the total."""

import pytest

from commands.command_catalogue import LEXICON
from commands.core.matching.interpretation import Fill, Run, interpret
from commands.core.matching.known_names import KnownNames
from commands.core.parameter_types import NameKind
from commands.core.parsing import words_of

NODES = [f"gpu-{number:02}" for number in range(1, 13)]
NAMES = KnownNames({NameKind.NODE: [*NODES, "gpu-05-07", "cpu-06"], NameKind.TRAINING: ["nlp/moe"]})


def run_by(line: str) -> str:
    found = interpret(words_of(line), LEXICON, lambda: NAMES)
    assert isinstance(found, Run), found
    return " ".join(found.words)


@pytest.mark.parametrize(
    "line",
    [
        "please drain gpu-02 to gpu-04",
        "please drain gpu-02 through 04",
        "please drain gpu-02..gpu-04",
        "please drain gpu-02..04",
        "please drain gpu-02-04",
        "把 gpu-02 到 gpu-04 排空",
        "gpu-02到gpu-04 排空",
    ],
)
def test_a_range_of_nodes_is_all_of_them(line: str) -> None:
    assert run_by(line) == "node drain gpu-02 gpu-03 gpu-04"


def test_a_name_that_looks_like_a_range_is_a_name() -> None:
    assert run_by("please cordon gpu-05-07") == "node cordon gpu-05-07"


def test_a_range_that_ends_at_an_unknown_node_is_not_half_of_it() -> None:
    assert not isinstance(interpret(words_of("please drain gpu-02 to gpu-40"), LEXICON, lambda: NAMES), Run)


@pytest.mark.parametrize(
    "line", ["2 more dns replicas", "scale dns by 2 more", "scale dns, add 2", "dns 再加 2 个"]
)
def test_a_number_that_is_added_is_not_taken_as_the_total(line: str) -> None:
    found = interpret(words_of(line), LEXICON, lambda: NAMES)
    words = found.words if isinstance(found, Run | Fill) else ()
    assert "2" not in words


def test_a_total_is_taken_and_so_is_more_time() -> None:
    assert run_by("scale dns to 5") == "dns scale 5"
    found = interpret(words_of("extend gpu-03 by 2 more hours"), LEXICON, lambda: NAMES)
    assert "2h" in str(found)
