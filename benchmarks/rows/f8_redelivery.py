"""F8: each envelope of Slack is delivered four times, and each command must be executed once.

The deliveries are 0, 3, 60 and 300 s after the first; the bot's clock is moved on in between. What counts as an
execution is what a command leaves: a silence. The peer is an app as the guides of bolt show it, which counts how often
its listener runs, on the same deliveries of the same look-alike.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from alerts.silences import Silence
from alerts.store import Unit
from benchmarks.row import Benchmark, Goal, Outcome, Peer, Row
from demo.lookalikes.slack import SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from tests.support.light import CHANNEL, light

COMMANDS = 1_000
AT_ONCE = 10
LATER = (3, 57, 240)  # seconds after the delivery before
SOON = timedelta(seconds=3)
LONGEST = 240.0  # seconds until all commands were executed, at most
LINE = "/yard silence add deployment=app-{number} --for 24h --reason ordered"


async def run(_: Mapping[str, Outcome]) -> Outcome:
    ours, peers = await _executed(COMMANDS), await _executed_by_bolt(COMMANDS)
    return Outcome(
        rows=(
            Row(
                id="F8",
                measure=f"{COMMANDS:,} commands, each delivered {1 + len(LATER)} times: executions",
                value=ours,
                peer=Peer(name="a plain app of bolt", value=peers),
                goal=Goal(limit=COMMANDS, of_value=True),
            ),
            Row(
                id="F8",
                measure="… commands that were never executed",
                value=max(0, COMMANDS - ours),
                goal=Goal(limit=0, of_value=True),
            ),
        )
    )


async def _executed(commands: int) -> int:
    """Return how many silences the commands left."""
    with TemporaryDirectory(prefix="bench-") as name:
        async with light(Path(name), more={"rules": {"packs": []}}) as stage:

            async def all_done(unit: Unit) -> bool:
                return len(await unit.rows(Silence).find()) >= commands

            async def pass_by(by: timedelta) -> None:
                if by > SOON:  # a line that waits for minutes is not run at all
                    await stage.until_kept(all_done, LONGEST)
                stage.clock.forward(by)

            await _delivered(stage.slack, CHANNEL, commands, pass_by)
            await stage.asks("dana", "help")  # what came before it is done
            async with stage.yard.store.read() as snapshot:
                return len(await snapshot.rows(Silence).find())


async def _executed_by_bolt(commands: int) -> int:
    executed = 0
    members = Members(people=("dana",), channels=(CHANNEL,))
    async with SlackLookalike.running(members) as slack:
        client = AsyncWebClient(token=slack.bot_token, base_url=slack.url)
        app = AsyncApp(token=slack.bot_token, client=client)

        @app.command("/yard")
        async def _(ack: AsyncAck) -> None:
            nonlocal executed
            await ack()
            executed += 1

        handler = AsyncSocketModeHandler(app, slack.app_token, web_client=client)
        await handler.connect_async()  # type: ignore[no-untyped-call]
        try:
            await slack.connected(30)

            async def pass_by(_: timedelta) -> None:
                return

            await _delivered(slack, CHANNEL, commands, pass_by)
            await asyncio.sleep(1)
        finally:
            await handler.close_async()  # type: ignore[no-untyped-call]
    return executed


async def _delivered(
    slack: SlackLookalike, where: str, commands: int, pass_by: Callable[[timedelta], Awaitable[None]]
) -> None:
    """Type the commands, and deliver each envelope three more times."""

    async def typed(number: int) -> None:
        await slack.types("dana", where, LINE.format(number=number))

    await _some_at_once(typed, commands)
    envelopes = slack.envelopes[-commands:]

    async def again(number: int) -> None:
        await slack.post.deliver(envelopes[number], "timeout")

    for seconds in LATER:
        await pass_by(timedelta(seconds=seconds))
        await _some_at_once(again, commands)


async def _some_at_once(work: Callable[[int], Awaitable[None]], count: int) -> None:
    waiting = iter(range(count))

    async def worker() -> None:
        for number in waiting:
            await work(number)

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))


BENCHMARK = Benchmark(
    id="F8", title="commands that are delivered four times", run=run, limit=timedelta(minutes=8)
)
