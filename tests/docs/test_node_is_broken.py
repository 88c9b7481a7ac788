"""The settings of docs/a-node-is-broken.md are taken, and its table is that of the list."""

import re
import subprocess
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
    assert {name: {"yes": True, "no": False}[second.strip()] for name, second in rows} == {
        name: bool(one.second_person) for name, one in own_repairs().items()
    }


def test_the_repair_of_the_page_runs_and_its_last_line_says_how_it_went(tmp_path: Path) -> None:
    written = next(one for one in map(yaml.safe_load, BLOCKS) if "restart-lldpd" in one.get("repairs", {}))
    (repair,) = Settings.model_validate(written).repairs.values()

    def run(state: str) -> tuple[int, list[str], list[str]]:
        calls, tool = tmp_path / "calls", tmp_path / "systemctl"
        calls.write_text("")
        tool.write_text(
            f'#!/bin/sh\necho "$*" >> {calls}\n[ "$1" = restart ] || {{ echo {state}; [ {state} = active ]; }}\n'
        )
        tool.chmod(0o755)
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "NODE_NAME": "gpu-a04"}
        ran = subprocess.run(
            ["/bin/sh", "-c", repair.script], env=env, capture_output=True, text=True, timeout=20, check=False
        )
        return ran.returncode, ran.stdout.splitlines(), calls.read_text().splitlines()

    asked = ["restart lldpd.service", "is-active lldpd.service"]
    assert run("active") == (0, ["active"], asked)
    code, printed, calls = run("failed")
    assert (code != 0, printed, calls) == (True, ["failed"], asked)
