"""What is right in a rule file loads, what is wrong is a mistake with its place."""

import pytest

from alerts.loading import load
from alerts.rules import Vocabulary
from tests.alerts.loading.cases import APART, CASES, Case


@pytest.mark.parametrize("case", [*CASES, *APART], ids=lambda case: case.name)
def test_a_file_is_judged_as_prometheus_judges_it(case: Case) -> None:
    loaded = load(case.text, file="x.yml", vocabulary=Vocabulary(), own=False)

    assert (not loaded.mistakes) is case.is_right, loaded.mistakes
    assert all(mistake.place.file == "x.yml" and mistake.place.line for mistake in loaded.mistakes)
