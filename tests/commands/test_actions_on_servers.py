"""Each action on nodes, GPUs, pods and volumes on a real control plane: refused, crashed midway, done, undone."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import pytest_asyncio

from tests.support.actions.action_lines import RUNS_IN_CONTAINERS, played_lines
from tests.support.actions.action_rows import ROWS

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("real_kubernetes")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def faults(real_kubernetes: Any) -> Mapping[str, Sequence[str]]:
    return await played_lines(real_kubernetes.kubeconfig)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("command", [row.command for row in ROWS if row.command not in RUNS_IN_CONTAINERS])
async def test_an_action_is_refused_done_after_a_crash_and_undone(
    faults: Mapping[str, Sequence[str]], command: str
) -> None:
    assert faults[command] == []
