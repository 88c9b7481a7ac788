"""Present series looked up by index are those that a comparison with each finds."""

from itertools import product

from alerts.present_series import PresentSeries
from collectors.facts.labels import Labels

SERIES = [
    Labels({"node": "a", "gpu": "0"}),
    Labels({"node": "a", "gpu": "1"}),
    Labels({"node": "b", "job": "dcgm"}),
    Labels({"uuid": "GPU-1"}),
]


def test_the_index_agrees_with_what_comparing_every_series_gives() -> None:
    values = {"node": ("", "a", "b", "c"), "gpu": ("", "0", "2"), "job": ("", "dcgm"), "uuid": ("", "GPU-2")}
    presence = PresentSeries(SERIES)
    found = set[bool]()
    for chosen in product(*values.values()):
        labels = Labels(dict(zip(values, chosen, strict=True)))
        agrees = any(all(labels.get(name, one[name]) == one[name] for name in one) for one in SERIES)
        assert presence.agrees(labels) is agrees, labels
        found.add(agrees)
    assert found == {True, False}


def test_without_series_nothing_agrees() -> None:
    assert not PresentSeries(()).agrees(Labels({"node": "a"}))
    assert not PresentSeries(()).near(["a"])


def test_near_are_the_series_with_one_of_the_words_as_a_value_each_once() -> None:
    assert PresentSeries(SERIES).near(["a", "1"]) == tuple(SERIES[:2])
    assert PresentSeries(SERIES).near(["GPU-1", "dcgm"]) == (SERIES[3], SERIES[2])
