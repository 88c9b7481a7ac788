"""The shipped rules and public rule files, in a live Prometheus and in our rule loop: the same alerts at each moment.

It takes 20 minutes: 10 together, 3 without connection while Prometheus runs on, and 2 after a restart of Prometheus.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bot.evaluation.beside_prometheus.followed import DifferenceCause
from tests.bot.evaluation.beside_prometheus.rule_set import SHARED
from tests.bot.evaluation.beside_prometheus.three_phases import PhaseTimes, three_phases

pytestmark = [
    pytest.mark.soak(only=True),  # it takes 20 minutes
    pytest.mark.real,
    pytest.mark.skipif(not SHARED.exists(), reason="the shared data set is not next to the checkout"),
]


async def test_alerts_equal_those_of_prometheus(
    tmp_path: Path, promtool_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """After the restart only what Prometheus forgets may differ: the time of short waits, and what keeps firing."""

    async for result in three_phases(tmp_path, PhaseTimes()):
        record_property(result.phase, result.summary())
        assert result.alerts > 100
        forgotten = DifferenceCause.FORGOTTEN if result.is_restarted else None
        assert [one for one in result.differences if one.cause is not forgotten] == []
