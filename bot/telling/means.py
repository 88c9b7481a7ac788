"""This file has what every channel's worker is given: patience, pacers, and the sources."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from bot.telling.journal import Journal
from bot.telling.pacing import Pacer, Paces
from bot.telling.speaking import Speaker
from collectors.facts.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long we wait for a chat.

    `answer`: for one call; the chat's own client should give up before. `doubt`: after an intent, until
    "not found" in the channel means "was never told"; longer than the client's own timeout and the chat's
    slowness together. `retry`, `retry_at_most`: the pauses after a failure. `refused`: until a refused message
    is tried again. `look_back`: how much earlier than the intent our message may stand, by the chat's clock.
    """

    answer: timedelta = timedelta(seconds=12)
    doubt: timedelta = timedelta(seconds=20)
    retry: timedelta = timedelta(seconds=1)
    retry_at_most: timedelta = timedelta(minutes=1)
    refused: timedelta = timedelta(minutes=10)
    look_back: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What every channel's worker needs."""

    speaker: Speaker
    journal: Journal
    clock: Clock
    paces: Paces
    methods: Mapping[str, Pacer]
    patience: Patience
    may_speak: Callable[[], bool]  # whether we are still the leader, with time to spare
    counts: Counter[str]
    random: Random
