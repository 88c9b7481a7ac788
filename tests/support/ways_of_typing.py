"""The ways in which people type a line in Slack: each must be treated as the others are."""

from collections.abc import Awaitable, Callable

import pytest

from demo.lookalikes.slack.interactions.interaction import Interaction
from tests.support.light import CHANNEL, Light

Typing = Callable[[Light, str, str], Awaitable[Interaction]]


async def by_slash(stage: Light, person: str, line: str) -> Interaction:
    return await stage.slack.types(person, CHANNEL, f"/yard {line}")


async def by_mention(stage: Light, person: str, line: str) -> Interaction:
    return await stage.slack.types(person, CHANNEL, f"@yardmaster {line}")


async def by_direct_message(stage: Light, person: str, line: str) -> Interaction:
    return await stage.slack.types(person, "@yardmaster", line)


EACH_WAY = pytest.mark.parametrize(
    "typed",
    [by_slash, by_mention, by_direct_message],
    ids=["a slash command", "a mention", "a direct message"],
)
