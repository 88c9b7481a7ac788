"""Small rule files load, or are rejected with locations, as listed in the cases."""

import pytest

from alerts.loading import load
from alerts.rules import Symbols
from tests.alerts.loading.cases import CASES, DIFFERENCES, Case


@pytest.mark.parametrize("case", [*CASES, *DIFFERENCES], ids=lambda case: case.name)
def test_a_file_is_accepted_or_rejected_as_by_prometheus(case: Case) -> None:
    loaded = load(case.text, file="x.yml", symbols=Symbols(), own=False)

    assert (not loaded.diagnostics) is case.is_valid, loaded.diagnostics
    assert all(
        diagnostic.location.file == "x.yml" and diagnostic.location.line for diagnostic in loaded.diagnostics
    )
