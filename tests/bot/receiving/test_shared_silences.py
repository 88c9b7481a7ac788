"""Silences shared with an Alertmanager: what is there holds here, ours hold there, and neither is doubled or lost."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from alerts.matching import Matcher, Operator
from alerts.silences import Silence
from bot.receiving.alertmanager_client import AlertmanagerError, AlertmanagerRefusedError
from bot.receiving.shared_silences import SharedSilences
from bot.receiving.silence_wire import WireMatcher, WireSilence, WireState
from collectors.facts.labels import Labels
from tests.support.alerting import CLUSTER, NOON, minutes
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_silence
from tests.support.yard import Hands


@dataclass
class Alertmanager:
    """What an Alertmanager has, and does with silences."""

    kept: dict[str, WireSilence] = field(default_factory=dict)
    forgets_answers: bool = False
    refuses: str = ""  # in the comment
    puts: int = 0

    async def silences(self) -> list[WireSilence]:
        return list(self.kept.values())

    async def put(self, silence: Silence, comment: str) -> str:
        self.puts += 1
        if self.refuses and self.refuses in comment:
            raise AlertmanagerRefusedError("it answered 400: no")
        id = silence.there or f"u{len(self.kept)}"
        self.kept[id] = WireSilence(
            matchers=[WireMatcher.of(one) for one in silence.matchers],
            starts_at=silence.starts_at,
            ends_at=silence.ends_at,
            comment=comment,
            created_by=silence.by_name,
            id=id,
            status=WireState(state="active"),
        )
        if self.forgets_answers:
            raise AlertmanagerError("it cannot be reached")
        return id

    async def expire(self, id: str) -> None:
        self.kept[id].status.state = "expired"

    def active(self) -> list[str]:
        return [one.comment for one in self.kept.values() if one.status.state == "active"]


@dataclass
class Stage:
    writes: bool = True
    there: Any = field(default_factory=Alertmanager)
    store: MemoryStore = field(default_factory=MemoryStore)
    clock: Hands = field(default_factory=partial(Hands, NOON))

    async def compare(self) -> None:
        shared = SharedSilences(
            client=self.there, cluster=CLUSTER, store=self.store, clock=self.clock, writes=self.writes
        )
        await shared.compare()

    async def rows(self) -> list[Silence]:
        async with self.store.read() as snapshot:
            return list(await snapshot.rows(Silence).find())

    async def put(self, silence: Silence) -> None:
        async with self.store.unit() as unit:
            await unit.rows(Silence).put(silence)

    def add_there(self, id: str = "u9") -> None:
        self.there.kept[id] = WireSilence(
            matchers=[WireMatcher(name="node", value="gpu-.*", is_regex=True)],
            starts_at=NOON,
            ends_at=NOON + minutes(60),
            comment="fans",
            created_by="eve",
            id=id,
            status=WireState(state="active"),
        )


OURS = a_silence(NOON, "node=gpu-a01", id="s7", cluster=CLUSTER, by="dana", comment="reboot")


async def test_a_silence_of_there_holds_here_until_it_ends_there() -> None:
    stage = Stage()
    stage.add_there()
    for _ in range(2):
        await stage.compare()
    (row,) = await stage.rows()
    assert (row.is_from_there, row.by_name, row.comment, [str(one) for one in row.matchers]) == (
        True,
        "eve",
        "fans",
        ['node=~"gpu-.*"'],
    )
    assert row.is_active(NOON)
    stage.there.kept["u9"].ends_at = NOON + minutes(90)
    await stage.compare()
    assert [one.ends_at for one in await stage.rows()] == [NOON + minutes(90)]
    await stage.there.expire("u9")
    await stage.compare()
    assert [one.expired_at for one in await stage.rows()] == [NOON]


async def test_one_of_ours_is_added_there_once_changed_and_ended_there() -> None:
    stage = Stage()
    await stage.put(OURS)
    for _ in range(3):
        await stage.compare()
    assert stage.there.active() == ["reboot (Yardmaster silence s7)"]
    (row,) = await stage.rows()
    assert not row.is_from_there
    await stage.put(replace(row, ends_at=NOON + minutes(45)))
    await stage.compare()
    assert [one.ends_at for one in stage.there.kept.values()] == [NOON + minutes(45)]
    (row,) = await stage.rows()
    await stage.put(replace(row, expired_at=NOON))
    await stage.compare()
    assert stage.there.active() == []


async def test_a_lost_answer_adds_none_twice() -> None:
    stage = Stage(there=Alertmanager(forgets_answers=True))
    await stage.put(OURS)
    with pytest.raises(AlertmanagerError):
        await stage.compare()
    stage.there.forgets_answers = False
    await stage.compare()
    assert len(stage.there.kept) == len(await stage.rows()) == 1


async def test_what_may_only_be_read_is_not_written_to() -> None:
    stage = Stage(writes=False)
    stage.add_there()
    await stage.put(OURS)
    await stage.compare()
    assert len(stage.there.kept) == 1
    row = next(one for one in await stage.rows() if one.is_from_there)
    await stage.put(replace(row, expired_at=NOON))
    await stage.compare()
    assert stage.there.active() == ["fans"]
    assert [one.expired_at for one in await stage.rows() if one.is_from_there] == [NOON]


async def test_one_of_there_that_is_ended_here_ends_there() -> None:
    stage = Stage()
    stage.add_there()
    await stage.compare()
    (row,) = await stage.rows()
    await stage.put(replace(row, expired_at=NOON))
    await stage.compare()
    assert stage.there.active() == []


async def test_a_silence_of_an_incident_stays_here() -> None:
    stage = Stage()
    await stage.put(replace(OURS, matchers=(), incident="i1"))
    await stage.compare()
    assert stage.there.kept == {}


async def test_one_that_ends_by_itself_is_not_ended_there() -> None:
    stage = Stage()
    await stage.put(OURS)
    await stage.compare()
    stage.clock.at = NOON + minutes(31)
    stage.there.kept["u0"].status.state = "expired"
    await stage.compare()
    assert [one.expired_at for one in await stage.rows()] == [None]


def _as_shown(at: datetime) -> datetime:
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


async def test_what_alertmanager_shows_less_exactly_and_began_there_later_is_written_once() -> None:
    stage = Stage()
    ends_at = OURS.ends_at + timedelta(microseconds=123_456)
    await stage.put(replace(OURS, ends_at=ends_at))
    await stage.compare()
    (there,) = stage.there.kept.values()
    there.starts_at, there.ends_at = NOON + timedelta(seconds=7), _as_shown(ends_at)
    stage.clock.at = NOON + minutes(1)
    await stage.compare()
    assert stage.there.puts == 1
    (row,) = await stage.rows()
    await stage.put(replace(row, ends_at=NOON + minutes(40)))
    await stage.compare()
    assert [one.starts_at for one in stage.there.kept.values()] == [NOON + timedelta(seconds=7)]


async def test_only_a_change_by_others_wakes_the_comparison() -> None:
    stage = Stage()
    shared = SharedSilences(
        client=stage.there, cluster=CLUSTER, store=stage.store, clock=stage.clock, writes=True
    )
    await stage.put(OURS)
    stage.add_there()
    stage.store.listen(shared.wake)
    await shared.compare()
    assert len(await stage.rows()) == 2
    assert not shared._changed.is_set()
    await stage.put(replace(OURS, comment="other"))
    assert shared._changed.is_set()


async def test_an_expression_that_cannot_be_read_keeps_one_silence_out_and_no_other() -> None:
    stage = Stage()
    stage.add_there("u1")
    stage.add_there("u2")
    stage.there.kept["u1"].matchers[0].value = "gpu|" * 1_000
    await stage.compare()
    assert [one.there for one in await stage.rows()] == ["u2"]
    matcher = Matcher(name="node", operator=Operator.NOT_MATCHES, value="(")
    broken = replace(OURS, matchers=(matcher,))
    assert not broken.covers(Labels({"node": "gpu-a01"}), NOON)


async def test_ours_are_added_again_where_alertmanager_lost_its_data() -> None:
    stage = Stage()
    await stage.put(OURS)
    await stage.compare()
    stage.there.kept.clear()
    await stage.compare()
    assert stage.there.active() == ["reboot (Yardmaster silence s7)"]
    assert [one.expired_at for one in await stage.rows()] == [None]
    await stage.there.expire("u0")
    await stage.compare()
    assert [one.expired_at for one in await stage.rows()] == [NOON]


async def test_one_that_has_another_id_there_now_is_not_ended() -> None:
    stage = Stage()
    await stage.put(OURS)
    await stage.compare()
    stage.add_there("u8")
    stage.there.kept["u8"].comment = stage.there.kept["u0"].comment
    await stage.there.expire("u0")
    await stage.compare()
    assert [(one.there, one.expired_at) for one in await stage.rows()] == [("u8", None)]


async def test_one_that_is_refused_does_not_keep_the_others_out() -> None:
    stage = Stage(there=Alertmanager(refuses="s7"))
    await stage.put(OURS)
    await stage.put(replace(OURS, id="s8"))
    await stage.compare()
    assert stage.there.active() == ["reboot (Yardmaster silence s8)"]
