"""Another wording of a check or log rule is written into its cases, and nothing else is."""

from pathlib import Path

import pytest

from tests.alerts.packs.check_cases import CASES_FOLDER
from tests.alerts.packs.log_cases import LOG_CASES_FOLDER
from tests.alerts.packs.summaries import reword_summaries

CHECKS = CASES_FOLDER / "trainings.yaml"
LOGS = LOG_CASES_FOLDER / "network.yaml"
AS_IT_IS = CHECKS.read_text(encoding="utf-8")


def reworded(folder: Path, was: str, now: str, of: Path = CHECKS) -> str:
    """Return what becomes of the file in which this stood otherwise."""
    path = folder / of.parent.name / of.name
    path.parent.mkdir()
    as_it_is = of.read_text(encoding="utf-8")
    assert was in as_it_is
    path.write_text(as_it_is.replace(was, now), encoding="utf-8")
    reword_summaries(path)
    return path.read_text(encoding="utf-8")


def test_the_wording_of_the_rule_is_written_into_its_case(tmp_path: Path) -> None:
    sentence = "Training vision-detr/detr-worker is waiting for resources."

    assert reworded(tmp_path, sentence, "It waits.") == AS_IT_IS.replace(sentence, f'"{sentence}"')


@pytest.mark.parametrize(("was", "now"), [("severity: warning", "severity: info"), ("queued", "running")])
def test_another_label_or_input_is_left_for_its_test_to_find(tmp_path: Path, was: str, now: str) -> None:
    assert reworded(tmp_path, was, now) == AS_IT_IS.replace(was, now)


def test_a_case_of_a_log_rule_gets_its_wording_too(tmp_path: Path) -> None:
    sentence = "'gpu-a01 has no address left for new pods: 3 lines in 5 minutes.'"

    assert reworded(tmp_path, sentence, "It has none.", LOGS) == LOGS.read_text(encoding="utf-8").replace(
        sentence, sentence.replace("'", '"')
    )
