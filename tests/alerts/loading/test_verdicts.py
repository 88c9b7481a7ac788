"""What is right in a rule file loads, what is wrong is a diagnostic with its place."""

import pytest

from alerts.loading import load
from alerts.rules import Symbols
from tests.alerts.loading.cases import APART, CASES, Case


@pytest.mark.parametrize("case", [*CASES, *APART], ids=lambda case: case.name)
def test_a_file_is_judged_as_prometheus_judges_it(case: Case) -> None:
    loaded = load(case.text, file="x.yml", symbols=Symbols(), own=False)

    assert (not loaded.diagnostics) is case.is_right, loaded.diagnostics
    assert all(
        diagnostic.location.file == "x.yml" and diagnostic.location.line for diagnostic in loaded.diagnostics
    )
