"""Outputs that somebody wrote to harm: nothing of them is shown raw, nothing of them stops a reader."""

import json
from dataclasses import fields
from pathlib import Path
from random import Random

import pytest

from collectors.acceptance.reader_catalogue import OUTPUT_READERS
from collectors.acceptance.reader_results import MOST_FIGURES, MOST_FINDINGS
from collectors.acceptance.readings import MeasuredFigure, PartReport, ReadResult
from collectors.acceptance.validations import (
    conditions_asked,
    judged_conditions,
    read_certification,
    read_validation_request,
)

OUTPUTS = Path(__file__).parent / "outputs"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
POISON = (
    "\x1b[31mred\x1b[0m",
    "‮gnp.exe",
    "\x00\x07\x7f",
    f"token {SECRET}",
    "`rm -rf /` $(reboot) ; <!channel> @here",
    "*bold* <https://evil.example|click>",
    "\ud800",
    "a" * 100_000,
    "\n\r\v\f\x85\u2028yardmaster/1 end",
    "9" * 5_000,
    "1e999",
    "-1",
    "NaN",
    "﷽" * 300,
)
TEXTS = sorted(path.name for path in OUTPUTS.iterdir() if path.suffix != ".md")


def hostile(seed: int) -> str:
    """Return one of the outputs with poison in it, cut, doubled, nested, or nothing but poison."""
    random = Random(seed)
    text = (OUTPUTS / random.choice(TEXTS)).read_text()
    for _ in range(random.randint(1, 12)):
        at, poison = random.randrange(len(text) + 1), random.choice(POISON)
        match random.randrange(6):
            case 0:
                text = text[:at] + poison + text[at:]
            case 1:
                text = text[:at]
            case 2:
                words = text.split('"')
                words[random.randrange(len(words))] = json.dumps(poison)[1:-1]
                text = '"'.join(words)
            case 3:
                lines = text.split("\n")
                text = "\n".join((*lines, *lines)) if len(text) < 200_000 else text[:at]
            case 4:
                depth = random.choice((50, 5_000, 200_000))
                text = text[:at] + "[" * depth + text[at:]
            case _:
                text = text.replace(random.choice((",", ":", "Pass", "0", "#")), poison[:50])
    return text


def shown(reading: ReadResult) -> list[str]:
    said = [reading.problem, *reading.versions, *reading.versions.values()]
    both: tuple[PartReport | MeasuredFigure, ...] = (*reading.findings, *reading.figures)
    for one in both:
        said += [value for field in fields(one) if isinstance(value := getattr(one, field.name), str)]
    return said


def check(reading: ReadResult) -> None:
    for said in shown(reading):
        assert said.isprintable(), said
        assert len(said) <= 1_200
        assert SECRET not in said
    assert len(reading.findings) <= MOST_FINDINGS
    assert len(reading.figures) <= MOST_FIGURES
    assert all(0 <= one.value < 1e9 for one in reading.figures)
    gpus = [one.gpu for one in reading.figures] + [one.gpu for one in reading.findings]
    assert all(gpu is None or 0 <= gpu < 256 for gpu in gpus)


@pytest.mark.parametrize("seed", range(100))
def test_nothing_of_a_hostile_output_is_shown_raw(seed: int) -> None:
    text = hostile(seed)
    for reader in OUTPUT_READERS.values():
        check(reader(text))


@pytest.mark.parametrize("seed", range(20))
def test_nothing_of_a_hostile_object_is_shown_raw(seed: int) -> None:
    random = Random(seed)

    def value(depth: int = 0) -> object:
        match random.randrange(7 if depth < 4 else 4):
            case 0:
                return random.choice(POISON)
            case 1:
                return random.choice((None, True, -1, 10**400, float("nan")))
            case 2 | 3:
                return random.choice(("Succeeded", "Failed", "True", "gpu-a04"))
            case 4:
                return [value(depth + 1) for _ in range(random.randrange(5))]
            case _:
                keys = ("phase", "testGroups", "nodes", "tests", "conditions", "type", "status", "message")
                return {key: value(depth + 1) for key in keys}

    found = {"spec": {"conditions": value(), "nodeSelector": value()}, "status": value()}
    node = {"metadata": {"labels": value()}, "status": {"conditions": value()}}
    asked = conditions_asked([found], node)
    for reading in (
        read_validation_request(found, {"node": "gpu-a04"}),
        read_certification(found, {"node": "gpu-a04"}),
        judged_conditions(node, {**asked, "gpu.example.com/BurnedIn": "True"}),
    ):
        if reading is not None:
            check(reading)
