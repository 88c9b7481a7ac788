"""The settings of docs/a-node-is-broken.md are taken, and its table is that of the list."""

import re
from pathlib import Path

import pytest
import yaml

from bot.settings.schema import Settings
from commands.node.repair.repair_list import own_repairs

PAGE = Path("docs/a-node-is-broken.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_its_settings_are_taken(block: str) -> None:
    assert Settings.model_validate(yaml.safe_load(block)).model_fields_set


def test_its_table_has_every_repair_and_who_confirms_it() -> None:
    rows = re.findall(r"^\| `([a-z-]+)`[^|]*\|[^|]*\|[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)
    assert {name: bool(second.strip()) for name, second in rows} == {
        name: bool(one.second_person) for name, one in own_repairs().items()
    }
