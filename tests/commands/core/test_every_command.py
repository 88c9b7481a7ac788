"""Every command is typed in a test. What its plans write is compared with its rights wherever a test plans it."""

import re
from pathlib import Path
from typing import Any

import pytest

from commands.command_catalogue import CATALOGUE
from commands.core.command import Command

TESTS = Path(__file__).parents[2]
TEXT = "\n".join(
    path.read_text(encoding="utf-8")
    for path in sorted(
        {*TESTS.rglob("test_*.py"), *TESTS.glob("support/*.py")}
    )  # such as the life of each kind
)


@pytest.mark.parametrize("command", CATALOGUE, ids=lambda one: one.name)
def test_a_command_is_typed_in_a_test(command: Command[Any]) -> None:
    assert re.search(rf"[\"'`]{re.escape(command.name)}\b", TEXT), (
        f"no test of `{command.name}` in tests/commands"
    )
