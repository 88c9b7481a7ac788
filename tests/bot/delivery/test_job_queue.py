"""The job queue: the most urgent job that the limits let go, one at a time for an entry."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from alerts.cards.message import Color, Message
from alerts.cards.posted import CardId
from alerts.cards.text import text
from bot.cards.card_kind import Composed
from bot.delivery.card_entries import CardEntry, DeliveryJob, digest_of, pending_jobs
from bot.delivery.job_queue import DueJob, JobQueue, Lane
from tests.support.chat import CHAT
from tests.support.rows import a_card

pytestmark = pytest.mark.looptime


def an_entry(id: str, order: int, color: Color = Color.INFO, **card: Any) -> CardEntry:
    message = Message(title=text(id), color=color)
    return CardEntry(
        card=a_card(id, **card), order=order, desired=Composed(message=message), digest=digest_of(message)
    )


def jobs_of(entry: CardEntry) -> Iterable[DueJob]:
    for job in pending_jobs(entry, CHAT, is_parent_known=entry.card.parent is None):
        yield job.attempts.not_before, job


def at_once(_lane: Lane) -> float:
    return 0.0


def taken(queue: JobQueue) -> list[str]:
    """Take what is ready, and return the cards' rows in that order."""
    found: list[str] = []
    while True:
        job, ready = queue.next(at_once)
        if job is None or ready > asyncio.get_running_loop().time():
            return found
        queue.take(job)
        found.append(job.entry.card.row_id)


def first(queue: JobQueue) -> DeliveryJob:
    job, _ = queue.next(at_once)
    assert job is not None
    return job


async def test_the_most_urgent_goes_first_and_then_the_oldest() -> None:
    queue = JobQueue(jobs_of)
    for order, color in enumerate([Color.INFO, Color.CRITICAL, Color.INFO, Color.WARNING]):
        queue.put(an_entry(str(order), order, color))
    assert taken(queue) == ["1", "3", "0", "2"]
    assert queue.in_progress == 4


async def test_an_entry_in_progress_has_no_other_job_until_it_is_done() -> None:
    queue, entry = JobQueue(jobs_of), an_entry("a", 0)
    queue.put(entry)
    assert taken(queue) == ["a"]
    queue.put(entry)  # it changed meanwhile
    assert taken(queue) == []
    queue.done(entry)
    queue.put(entry)
    assert taken(queue) == ["a"]


async def test_a_job_that_waits_is_ready_at_its_time_and_lets_others_pass() -> None:
    queue, urgent = JobQueue(jobs_of), an_entry("urgent", 0, Color.CRITICAL)
    urgent.attempts.not_before = 30.0
    queue.put(urgent)
    queue.put(an_entry("other", 1))
    assert taken(queue) == ["other"]
    job, ready = queue.next(at_once)
    assert job is not None
    assert (job.entry.card.row_id, ready) == ("urgent", 30.0)
    await asyncio.sleep(30)
    assert taken(queue) == ["urgent"]


async def test_a_limit_holds_its_lane_only() -> None:
    queue = JobQueue(jobs_of)
    queue.put(an_entry("new", 0, Color.CRITICAL))
    edited = an_entry("edited", 1)
    edited.card = replace(edited.card, message_id="1")
    queue.put(edited)

    def posts_wait(lane: Lane) -> float:
        return 60.0 if (lane.method, lane.is_critical) == ("post", True) else 0.0

    job, ready = queue.next(posts_wait)
    assert job is not None
    assert (job.entry.card.row_id, ready) == ("edited", asyncio.get_running_loop().time())
    queue.take(job)
    job, ready = queue.next(posts_wait)
    assert job is not None
    assert (job.entry.card.row_id, ready) == ("new", 60.0)


async def test_an_outdated_job_is_not_done() -> None:
    queue, entry = JobQueue(jobs_of), an_entry("a", 0, Color.CRITICAL)
    queue.put(entry)
    entry.card = replace(entry.card, message_id="1", digest=entry.digest)  # nothing is left to do
    queue.put(entry)
    queue.put(an_entry("b", 1))
    assert taken(queue) == ["b"]


async def test_a_removed_entry_is_not_in_the_way() -> None:
    queue, entry = JobQueue(jobs_of), an_entry("a", 0)
    queue.put(entry)
    queue.remove(entry)
    assert len(queue) == 0
    assert queue.next(at_once) == (None, 0.0)


async def test_what_waits_for_a_card_is_queued_with_it() -> None:
    parent, known = an_entry("parent", 0), False

    def waiting(entry: CardEntry) -> Iterable[DueJob]:
        is_known = known or entry.card.parent is None
        return ((0.0, job) for job in pending_jobs(entry, CHAT, is_parent_known=is_known))

    queue = JobQueue(waiting)
    queue.put(parent)
    queue.put(an_entry("child", 1, parent=CardId(parent.card.id)))
    assert taken(queue) == ["parent"]
    known = True
    queue.done(parent)
    queue.put_children(parent)
    assert taken(queue) == ["child"]


async def test_changes_without_end_take_no_more_room() -> None:
    queue, entry = JobQueue(jobs_of), an_entry("a", 0)
    for _ in range(5_000):
        queue.put(entry)
    assert queue._size() < 200
    assert first(queue).entry is entry
