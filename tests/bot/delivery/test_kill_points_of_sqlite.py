"""A process whose store is an SQLite file is killed before and after whatever changes in a file or in Slack."""

from pathlib import Path
from typing import Any

import pytest

from bot.store.inbox_file import InboxFile
from bot.store.sql_store import SqlStore
from tests.bot.delivery.test_kill_points import refuses_and_loses
from tests.support.crash_scenario import AnyBodies, AnyStore, CrashScenario, Verdict
from tests.support.examples import by_profile
from tests.support.new_store import new_store
from tests.support.slack_in_process import SlackInProcess
from tests.support.sqlite_in_loop import SqliteInLoop

PARTS = 4  # that run beside each other
LEAST = 60  # so many changes there are at the least


class Played:
    """One play of the scenario in a folder of its own. `changes`: the await after which each change came."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.mkdir()
        url = new_store(folder)
        self.changes: list[int] = []
        self.sqlite = sqlite = SqliteInLoop.used_by(monkeypatch, self._note)

        async def open_store() -> AnyStore:
            sqlite.revive()
            return await SqlStore.open(url)

        async def close_store(store: AnyStore) -> None:
            await store.close()

        async def open_bodies() -> AnyBodies:
            bodies = await InboxFile.open(url)
            assert bodies is not None
            return bodies

        self.scenario = CrashScenario(
            open_store=open_store,
            close_store=close_store,
            open_bodies=open_bodies,
            killed=sqlite.kill,
            disturb=self._disturb,
        )

    def _note(self) -> None:
        if (killer := self.scenario.killer) is not None and not killer.has_struck:
            self.changes.append(killer.count)

    def _disturb(self, slack: SlackInProcess) -> None:
        refuses_and_loses(slack)
        execute = slack._execute

        def noted(*given: Any, **more: Any) -> Any:
            self._note()
            return execute(*given, **more)

        slack._execute = noted  # type: ignore[method-assign]

    async def run(self, kill_at: int = 0) -> Verdict:
        return await self.scenario.run(kill_at)


@pytest.mark.soak
@pytest.mark.looptime(noop_cycles=2)
@pytest.mark.parametrize("part", range(PARTS))
async def test_a_kill_on_either_side_of_any_change_loses_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    whole = Played(tmp_path / "whole", monkeypatch)
    verdict = await whole.run()
    assert (verdict.faults, verdict.was_killed) == ((), False)
    changes = {count for count in whole.changes if count}
    assert len(changes) >= LEAST
    points = sorted(changes | {count + 1 for count in changes})
    for at in points[part::PARTS][:: by_profile(3, 1)]:
        verdict = await Played(tmp_path / str(at), monkeypatch).run(kill_at=at)
        assert verdict.was_killed
        assert verdict.faults == (), f"killed at await {at}"
