"""Every rule file of the data set, where it stands beside the checkout, is judged as promtool judged it."""

import json
from pathlib import Path

import pytest

from alerts.loading import load
from alerts.rules import Symbols

RULES = Path(__file__).parents[3].parent / "shared" / "data" / "rules"
FILES = json.loads((RULES / "MANIFEST.json").read_text())["files"] if RULES.exists() else []

pytestmark = pytest.mark.skipif(not FILES, reason="the data set does not stand beside the checkout")


@pytest.mark.parametrize(
    "entry", [entry for entry in FILES if entry["accept"]], ids=lambda entry: entry["file"]
)
def test_a_right_file_loads_whole(entry: dict[str, object]) -> None:
    name = str(entry["file"])

    loaded = load((RULES / name).read_bytes(), file=name, symbols=Symbols(), own=False)

    assert loaded.diagnostics == ()
    counts = {
        "groups": len(loaded.groups),
        "alerts": sum(len(group.rules) for group in loaded.groups),
        "records": sum(len(group.recording_rules) for group in loaded.groups),
    }
    assert counts == {kind: entry.get(kind, count) for kind, count in counts.items()}


@pytest.mark.parametrize(
    "entry", [entry for entry in FILES if entry["accept"] is False], ids=lambda entry: entry["file"]
)
def test_a_wrong_file_is_refused_with_places(entry: dict[str, object]) -> None:
    name = str(entry["file"])

    loaded = load((RULES / name).read_bytes(), file=name, symbols=Symbols(), own=False)

    assert loaded.diagnostics
    assert all(diagnostic.location.line for diagnostic in loaded.diagnostics)
