"""Another wording of a check rule is written into its cases, and nothing else is."""

from pathlib import Path

import pytest

from tests.alerts.packs.check_cases import CASES_FOLDER
from tests.alerts.packs.summaries import reword_summaries

FILE = "trainings.yaml"
AS_IT_IS = (CASES_FOLDER / FILE).read_text(encoding="utf-8")


def reworded(folder: Path, was: str, now: str) -> str:
    """Return what becomes of the file in which this stood otherwise."""
    path = folder / FILE
    assert was in AS_IT_IS
    path.write_text(AS_IT_IS.replace(was, now), encoding="utf-8")
    reword_summaries(path)
    return path.read_text(encoding="utf-8")


def test_the_wording_of_the_rule_is_written_into_its_case(tmp_path: Path) -> None:
    sentence = "Training vision-detr/detr-worker is waiting for resources."

    assert reworded(tmp_path, sentence, "It waits.") == AS_IT_IS.replace(sentence, f'"{sentence}"')


@pytest.mark.parametrize(("was", "now"), [("severity: warning", "severity: info"), ("queued", "running")])
def test_another_label_or_input_is_left_for_its_test_to_find(tmp_path: Path, was: str, now: str) -> None:
    assert reworded(tmp_path, was, now) == AS_IT_IS.replace(was, now)
