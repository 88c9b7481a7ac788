"""Ratios and goals of rows; a goal that was not measured is not met."""

import pytest

from benchmarks.row import Goal, Peer, Row

PEER = Peer(name="bare", value=50.0)


@pytest.mark.parametrize(
    ("row", "met"),
    [
        pytest.param(
            Row(id="a", measure="m", value=90, peer=PEER, goal=Goal(limit=2)), True, id="a ratio below"
        ),
        pytest.param(
            Row(id="a", measure="m", value=101, peer=PEER, goal=Goal(limit=2)), False, id="a ratio above"
        ),
        pytest.param(
            Row(id="a", measure="m", value=600, peer=PEER, goal=Goal(limit=10, at_least=True)),
            True,
            id="a ratio that must be reached",
        ),
        pytest.param(
            Row(id="a", measure="m", value=40, peer=PEER, goal=Goal(limit=60, of_value=True)),
            True,
            id="a value below, whatever the peer's value",
        ),
        pytest.param(
            Row(id="a", measure="m", value=61, peer=PEER, goal=Goal(limit=60, of_value=True)),
            False,
            id="a value above, whatever the peer's value",
        ),
        pytest.param(
            Row(id="a", measure="m", value=1, goal=Goal(limit=2)), False, id="a ratio without a peer"
        ),
        pytest.param(Row(id="a", measure="m", missing="no server"), False, id="not run"),
        pytest.param(
            Row(id="a", measure="m", value=1, peer=PEER, goal=Goal(limit=2), missing="half of it"),
            False,
            id="run partially",
        ),
        pytest.param(Row(id="a", measure="m", value=1), None, id="no goal"),
    ],
)
def test_a_goal_is_met_or_not(row: Row, met: bool | None) -> None:
    assert row.met is met


def test_the_ratio_is_our_value_over_the_peers() -> None:
    assert Row(id="a", measure="m", value=75, peer=PEER).ratio == 1.5
    assert Row(id="a", measure="m", value=75, peer=Peer(name="none", value=0)).ratio is None
    assert Row(id="a", measure="m", peer=PEER).ratio is None
