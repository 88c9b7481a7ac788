"""The table of the kinds of training and their real controllers: what the tests run beside a real control plane."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from collectors.facts.workload_keys import shown_kind
from commands.training.training_kinds import KINDS
from tests.real.parts.controllers import KUEUE
from tests.support.life_of_a_kind import LifeOfAKind
from tests.support.real_controllers import CONTROLLERS, OWN, in_every_run, title

RECORDED = Path(__file__).parent / "soak.json"
LIFE = "test_life_on_real_controllers.py::TestLife::"


def controllers_part(recorded: Path = RECORDED) -> str:
    """A line for each kind; what has passed in `make soak` is from its last recorded runs.

    A kind whose controller is not among the real parts has none.
    """
    passed: Mapping[str, Mapping[str, Any]] = json.loads(recorded.read_text(encoding="utf-8"))["recorded"]
    lines = ["| Kind | Controller | In `make test` | Passed in `make soak` |", "|---|---|---|---|"]
    for kind in KINDS.values():
        own, part = OWN.get(kind.option), CONTROLLERS.get(kind.option)
        controller = own.controller if own is not None else title(part) if part is not None else "–"
        tests = [f"its life (`{own.tests}`)"] if own is not None else []
        usual = ", ".join([*tests, *in_every_run().get(kind.option, ())]) or "–"
        soaked = "; ".join(_passed(passed, kind.option, controller)) or "–"
        lines.append(f"| {shown_kind(kind.name)} | {controller} | {usual} | {soaked} |")
    return "\n".join(lines)


def _passed(recorded: Mapping[str, Mapping[str, Any]], kind: str, controller: str) -> list[str]:
    """Return what has passed of a kind with this version of its controller, and with this version of Kueue."""
    of_kind = {test: one for test, one in recorded.items() if one.get("kind") == kind}
    own = {test: one for test, one in of_kind.items() if one["controller"] == controller}
    life = [one["on"] for test, one in own.items() if LIFE in test]
    others = [one["on"] for test, one in own.items() if LIFE not in test]
    queued = [one["on"] for one in of_kind.values() if one["controller"] == title(KUEUE)]
    whole = sum(name.startswith("test_") for name in vars(LifeOfAKind))
    found = []
    if life:
        found.append(f"{len(life)} of the {whole} tests of its life, last on {max(life)}")
    if others:
        found.append(f"{_tests(others)} more of it")
    if queued:
        found.append(f"{_tests(queued)} of it in a queue of {title(KUEUE)}, last on {max(queued)}")
    return found


def _tests(found: list[str]) -> str:
    return f"{len(found)} test" if len(found) == 1 else f"{len(found)} tests"
