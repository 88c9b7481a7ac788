"""A name that differs in its numbers only is another thing: it is not suggested for the one that was typed."""

import pytest

from commands.core.command import UnknownNameError
from commands.core.lookups import known_name
from commands.core.matching.known_names import KnownNames
from commands.core.other_names import without_others
from commands.core.parameter_types import NameKind

NODES = ("gpu-07", "gpu-17", "gpu-b03")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gpu-77", ["gpu-b03"]),
        ("gpu-7", ["gpu-07", "gpu-b03"]),
        ("GPU-07", ["gpu-07", "gpu-b03"]),
        ("gpu07", ["gpu-07", "gpu-17", "gpu-b03"]),
        ("gpu-b30", ["gpu-07", "gpu-17"]),
        ("gup-b03", ["gpu-07", "gpu-17", "gpu-b03"]),
    ],
)
def test_other_numbers_make_another_name(typed: str, meant: list[str]) -> None:
    assert without_others(typed, NODES) == meant


def test_the_node_that_is_gone_is_not_taken_for_the_one_beside_it() -> None:
    assert not KnownNames({NameKind.NODE: NODES[:2]}).near("gpu-77")
    with pytest.raises(UnknownNameError) as error:
        known_name("gpu-77", NODES[:2], "node")
    assert error.value.near == ()
    assert "There are `gpu-07`, `gpu-17`" in str(error.value)
