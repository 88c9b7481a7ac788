"""A sample that cannot be read is skipped and counted, and does not blind its query."""

import json
from typing import Any

import pytest

from collectors.facts.labels import Labels
from collectors.facts.results import Sample, SourceError
from collectors.sources.prometheus import wire

GOOD = {"metric": {"node": "gpu-a01"}, "value": [1767225600, "91"]}
ODD = [
    pytest.param({"metric": {"node": 7}, "value": [1767225600, "1"]}, id="a label that is no text"),
    pytest.param({"metric": None, "value": [1767225600, "1"]}, id="no labels"),
    pytest.param({"metric": {}, "value": ["NaN", "1"]}, id="a time that is no number"),
    pytest.param({"metric": {}, "value": [1767225600, 1]}, id="a value that is no text"),
    pytest.param({"metric": {}, "value": [1767225600, "a lot"]}, id="a value in words"),
    pytest.param({"metric": {}, "value": [1767225600]}, id="half a pair"),
    pytest.param({"metric": {}, "value": "91"}, id="no pair"),
    pytest.param([], id="a list"),
    pytest.param(None, id="null"),
]


def body(*elements: Any) -> bytes:
    answer = {"status": "success", "data": {"resultType": "vector", "result": elements}}
    return json.dumps(answer).encode()


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_sample_is_skipped_and_counted(odd: Any) -> None:
    skipped: list[str] = []
    (batch,) = wire.instant(body(GOOD, odd, GOOD), cap=10, skip=skipped.append)
    assert batch == (Sample(labels=Labels({"node": "gpu-a01"}), value=91.0),) * 2
    (reason,) = skipped
    assert "a lot" not in reason


def test_nothing_but_odd_samples_is_an_error() -> None:
    with pytest.raises(SourceError, match="none of the 2 samples can be read"):
        list(wire.instant(body(None, []), cap=10, skip=lambda _reason: None))


def test_odd_samples_of_one_batch_alone_are_skipped() -> None:
    skipped: list[str] = []
    elements = [None] * wire.BATCH + [GOOD]
    batches = list(wire.instant(body(*elements), cap=10_000, skip=skipped.append))
    assert [len(batch) for batch in batches] == [0, 1]
    assert len(skipped) == wire.BATCH
