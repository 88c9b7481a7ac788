"""Rule files of the shared data set load or are rejected as by promtool."""

import json
from pathlib import Path

import pytest

from alerts.loading import load
from alerts.rules import Symbols

RULES = Path(__file__).parents[3].parent / "shared" / "data" / "rules"
FILES = json.loads((RULES / "MANIFEST.json").read_text())["files"] if RULES.exists() else []

pytestmark = pytest.mark.skipif(not FILES, reason="the shared data set is not next to the checkout")


@pytest.mark.parametrize(
    "entry", [entry for entry in FILES if entry["accept"]], ids=lambda entry: entry["file"]
)
def test_a_valid_file_loads_completely(entry: dict[str, object]) -> None:
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
def test_an_invalid_file_is_rejected_with_locations(entry: dict[str, object]) -> None:
    name = str(entry["file"])

    loaded = load((RULES / name).read_bytes(), file=name, symbols=Symbols(), own=False)

    assert loaded.diagnostics
    assert all(diagnostic.location.line for diagnostic in loaded.diagnostics)
