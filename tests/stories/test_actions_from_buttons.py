"""Each action on nodes, GPUs, pods and volumes, from the real button of its card or answer in the look-alike of Slack.

All stories are played side by side on one stage. Who may not is refused; the bot is stopped while the plans run, which
are done after the restart and then undone. In soak all rows are played, and in each also what is impossible is refused,
and another actor is faster.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from commands.command_catalogue import CATALOGUE
from tests.support.actions.action_rows import ELSEWHERE, PLAYED, ROWS
from tests.support.actions.action_story import played_stories

TREE = Path(__file__).parents[2]
NOUNS = ("node", "gpu", "pod", "volume", "dns")  # trainings have a table of their own


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def faults(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[str]]:
    return await played_stories(tmp_path_factory.mktemp("stage"))


@pytest.mark.soak
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("command", [row.command for row in PLAYED])
async def test_an_action_from_its_button_is_done_after_a_restart_and_undone(
    faults: Mapping[str, Sequence[str]], command: str
) -> None:
    assert faults[command] == []


def test_each_command_that_changes_something_has_a_story() -> None:
    changing = {one.name for one in CATALOGUE if one.read is None and one.noun in NOUNS}
    assert changing == {row.command for row in ROWS} | set(ELSEWHERE)
    assert not {row.command for row in ROWS} & set(ELSEWHERE)
    assert [file for file in ELSEWHERE.values() if not (TREE / file).is_file()] == []
