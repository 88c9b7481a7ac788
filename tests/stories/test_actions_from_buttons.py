"""Each action on nodes, GPUs, pods and volumes, from the real button of its card or answer in the look-alike of Slack.

All stories are played side by side on one stage: who may not is refused, what is impossible is refused with the reason,
another actor is faster, the bot is stopped while the plan runs, which is done after the restart and then undone.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from commands.command_catalogue import CATALOGUE
from tests.support.actions.action_rows import ELSEWHERE, ROWS
from tests.support.actions.action_story import played_stories

TREE = Path(__file__).parents[2]
NOUNS = ("node", "gpu", "pod", "volume", "dns")  # trainings have a table of their own


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def faults(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[str]]:
    found = await played_stories(tmp_path_factory.mktemp("stage"))
    print("\n".join(f"== {k}\n" + "\n".join(v) for k, v in found.items()))
    return found


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("command", [row.command for row in ROWS])
async def test_an_action_from_its_button_is_refused_done_after_a_restart_and_undone(
    faults: Mapping[str, Sequence[str]], command: str
) -> None:
    assert faults[command] == []


def test_each_command_that_plans_has_a_story() -> None:
    planned = {one.name for one in CATALOGUE if one.plan is not None and one.noun in NOUNS}
    assert planned == {row.command for row in ROWS} | set(ELSEWHERE)
    assert not {row.command for row in ROWS} & set(ELSEWHERE)
    assert [file for file in ELSEWHERE.values() if not (TREE / file).is_file()] == []
