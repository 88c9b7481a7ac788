"""The table of kinds and their real controllers: a line for each kind, and only what has passed with this version."""

import json
from pathlib import Path
from typing import Any

import pytest

from commands.training.training_kinds import KINDS
from docs.controllers_table import LIFE, controllers_part
from tests.real.parts.controllers import KUBERAY, KUEUE
from tests.support.real_controllers import (
    ELASTIC,
    IN_KUEUE,
    SHORT,
    in_every_run,
    title,
)

DAY = "2026-11-28"


def part_of(folder: Path, **recorded: dict[str, Any]) -> dict[str, str]:
    """Return the lines of the table by their kinds, for these records."""
    file = folder / "soak.json"
    file.write_text(json.dumps({"recorded": recorded}), encoding="utf-8")
    return {line.split(" | ")[0].strip("| "): line for line in controllers_part(file).splitlines()[2:]}


def of_rayjob(controller: str) -> dict[str, Any]:
    return {"kind": "rayjob", "controller": controller, "on": DAY}


def test_each_kind_has_a_line_with_its_controller(tmp_path: Path) -> None:
    lines = part_of(tmp_path)
    assert len(lines) == len(KINDS)
    assert title(KUBERAY) in lines["RayJob"]
    assert lines["RayJob"].endswith("| – | – |")


def test_what_has_passed_is_counted_with_its_day(tmp_path: Path) -> None:
    own, queued = of_rayjob(title(KUBERAY)), of_rayjob(title(KUEUE))
    line = part_of(tmp_path, **{f"{LIFE}a": own, f"{LIFE}b": own, "elastic": own, "queue": queued})["RayJob"]
    assert f"2 of the 10 tests of its life, last on {DAY}; 1 test more of it" in line
    assert f"1 test of it in a queue of {title(KUEUE)}" in line


def test_what_has_passed_with_another_version_does_not_count(tmp_path: Path) -> None:
    old = of_rayjob("KubeRay 1.0.0")
    assert part_of(tmp_path, **{f"{LIFE}a": old})["RayJob"].endswith("| – | – |")


@pytest.mark.parametrize("kinds", [SHORT, ELASTIC, IN_KUEUE])
def test_what_is_in_every_run_is_of_known_kinds(kinds: tuple[str, ...]) -> None:
    assert in_every_run().keys() >= set(kinds)
