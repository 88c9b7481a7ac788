"""A window's begin and end are said in the channel once, also over a restart."""

from datetime import timedelta

from alerts.cards.posted import CardKind, PostedCard
from alerts.time_intervals import TimeInterval, read_period
from bot.jobs.window_announcer import WindowAnnouncer
from commands.gates.window import InWindow, PlannedWindow, WindowNotice
from tests.support.memory_store import MemoryStore
from tests.support.yard import Hands

NOW = TimeInterval(name="freeze", periods=(read_period(times=[("11:00", "13:00")]),))


async def test_each_begin_and_end_has_a_card_of_its_own() -> None:
    store, clock = MemoryStore(), Hands()
    windows = [PlannedWindow(interval=NOW, automation=InWindow.WAITS)]
    for hours in (0, 0.5, 2, 0.1, 21):
        clock.move(timedelta(hours=hours))
        await WindowAnnouncer(store, clock, windows, channel="C").announce()  # a process after the other
    async with store.read() as snapshot:
        said = await snapshot.rows(WindowNotice).find(window="freeze")
        cards = await snapshot.rows(PostedCard).find(kind=CardKind.WINDOW)
    assert [one.has_begun for one in said] == [True, False, True]
    assert said[0].until == clock.at.replace(day=21, hour=13, minute=0)
    assert [card.row_id for card in cards] == [one.id for one in said]
