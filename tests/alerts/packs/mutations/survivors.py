"""The mistakes in rules that no case notices, each with the reason why: `survivors.yaml`."""

from pathlib import Path
from typing import Any

from tests.support.quick_yaml import from_yaml

_FILE = Path(__file__).with_name("survivors.yaml")


def survivors() -> dict[str, frozenset[str]]:
    """Return the mutations by the name of their rule. Raises ValueError for one without a reason, or named twice."""
    entries: list[dict[str, Any]] = from_yaml(_FILE.read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    for entry in entries:
        if not entry["reason"].endswith("."):
            raise ValueError(f"a reason is a sentence: {entry}")
        for rule, mutations in entry["mutations"].items():
            found.setdefault(rule, []).extend(mutations)
    if twice := [rule for rule, mutations in found.items() if len(set(mutations)) < len(mutations)]:
        raise ValueError(f"a mutation of {twice} is named twice")
    return {rule: frozenset(mutations) for rule, mutations in found.items()}
