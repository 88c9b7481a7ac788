"""Further faults of other makes of GPU, written from their exporters' documents before the packs knew of them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from demo.parts.prometheus import PrometheusServer
from tests.recorded.conftest import served
from tests.recorded.table import MINUTE, episodes_of
from tests.recorded.test_makes import NO_LOGS, before_it_is_fixed, holder_node
from tests.support.examples import by_profile
from tests.support.gpu_makes import GpuMake
from tests.support.more_makes import MAKES_AGAIN, MORE_MAKES
from tests.support.recorded_cluster import FaultKind
from tests.support.recorded_loop import rule_loop
from tests.support.recorded_objects import objects_at

LEAST_ALIKE = ("ascend-again", "telegraf-again")
# Information by choice; a power limit only counts for one GPU of several; a remapped row needs the day before.
NOT_SEEN = {
    *((make.name, FaultKind.FULL) for make in MORE_MAKES),
    ("amd-more", FaultKind.POWER_CAPPED),
    ("telegraf", FaultKind.ISOLATED),
}
# Those that are least like the others; `make soak` has all of them.
MAKES = by_profile(
    [one for one in (*MORE_MAKES, *MAKES_AGAIN) if one.name in LEAST_ALIKE], [*MORE_MAKES, *MAKES_AGAIN]
)
EPISODES = episodes_of(MAKES)
pytestmark = pytest.mark.soak
more_makes = pytest.mark.parametrize("make", MAKES, ids=lambda one: one.name)


@pytest.fixture(scope="module")
def recordings(promtool_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    """A Prometheus with these episodes alone."""
    with served(EPISODES.values(), tmp_path_factory.mktemp("more-makes")) as server:
        yield server


@more_makes
async def test_each_fault_has_its_card(recordings: PrometheusServer, make: GpuMake) -> None:
    async with before_it_is_fixed(recordings, EPISODES[f"make, {make.name}"]) as loop:
        cards = await loop.shown()
        seen = {
            incident.subject.node or holder_node(cards[incident.id], make)
            for incident in await loop.incidents()
        }
        assert seen == {node for kind, node in make.faulty.items() if (make.name, kind) not in NOT_SEEN}, (
            list(cards.values())
        )


@more_makes
async def test_twenty_quiet_minutes(recordings: PrometheusServer, make: GpuMake) -> None:
    one = EPISODES[f"quiet, {make.name}"]
    start = one.cluster.start + 10 * MINUTE
    async with rule_loop(
        recordings.url, partial(objects_at, one.cluster), start=start, rules=NO_LOGS
    ) as loop:
        await loop.run(start + 20 * MINUTE, every=2 * MINUTE)
        assert not await loop.shown()
