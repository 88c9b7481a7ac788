"""The fixture of the suite: one site for each kind of channel, with what its readers see."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from bot.channels.apprise.notifier import AppriseNotifier
from bot.channels.console.notifier import LOG, ConsoleNotifier
from bot.channels.pagerduty.notifier import PagerDutyNotifier, PagerDutyService
from bot.channels.slack.notifier import SlackNotifier
from bot.channels.slack.web_client import SlackClient
from bot.channels.webhook.notifier import WebhookNotifier
from bot.channels.webhook.opening import endpoint_of
from bot.delivery.notifier_protocol import Notifier
from bot.settings.channels import WebhookSettings
from bot.settings.secrets import Secret
from collectors.facts.clock import SystemClock
from demo.lookalikes.slack import Options, SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from tests.support.pagerduty import ROUTING_KEY, PagerDutyLookalike
from tests.support.webhook_receiver import WebhookReceiver


@dataclass(slots=True, kw_only=True)
class Site:
    """A notifier and what is behind it. `shown`: the titles that readers see, the last of a repeated post only.

    `break_down` makes what is behind unreachable; None where nothing is behind. `fail` makes that many next posts
    fail; None where outages are tested elsewhere. `secrets` must be in no error. `keeps_all`: also what was changed
    stays readable. `has_any_channel`: it refuses no channel's name.
    """

    kind: str
    notifier: Notifier
    channel: str
    shown: Callable[[], list[str]]
    break_down: Callable[[], None] | None = None
    fail: Callable[[int], None] | None = None
    secrets: tuple[str, ...] = ()
    keeps_all: bool = False
    pictures: Callable[[], list[bytes]] = list  # on the cards
    has_any_channel: bool = False
    notified: Callable[[], int | None] = lambda: (
        None
    )  # how often people were called, where the other side says so


def _site_of_server(answer: Callable[[int], None], **parts: Any) -> Site:
    """Return the site of a server whose next answers can be refusals."""

    def fail(times: int) -> None:
        for _ in range(times):
            answer(500)

    return Site(break_down=lambda: fail(1), fail=fail, **parts)


@asynccontextmanager
async def slack_site() -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(
            SlackLookalike.running(
                Members(people=["ana"], channels=["#gpu-alerts"]), options=Options(strict_rates=False)
            )
        )
        client = await stack.enter_async_context(
            SlackClient(slack.bot_token, api_url=slack.url, timeout=timedelta(seconds=5))
        )

        def shown() -> list[str]:
            return [one.text for one in slack.everything("#gpu-alerts") if one.by_bot and not one.deleted]

        def pictures() -> list[bytes]:
            cards = [one for one in slack.messages("#gpu-alerts") if one.by_bot]
            parts = [block for card in cards for one in card.attachments for block in one["blocks"]]
            files = [block["slack_file"]["id"] for block in parts if block["type"] == "image"]
            return [slack.content(file) for file in files]

        yield Site(
            kind="slack",
            pictures=pictures,
            notifier=SlackNotifier(client),
            channel=slack.id("#gpu-alerts"),
            shown=shown,
            break_down=slack.down,
            secrets=(slack.bot_token,),
        )


@asynccontextmanager
async def console_site() -> AsyncIterator[Site]:
    with capture_logs() as logs:

        def shown() -> list[str]:
            return [str(line["text"]).partition("\n")[0] for line in logs if "text" in line]

        yield Site(
            kind="console",
            notifier=ConsoleNotifier(),
            channel=LOG,
            shown=shown,
            keeps_all=True,
            has_any_channel=True,
        )


@asynccontextmanager
async def webhook_site() -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(WebhookReceiver.running())
        settings = WebhookSettings.model_validate(
            {"url": receiver.url, "authorization": {"credentials": "bearer-secret"}, "timeout": "5s"}
        )
        session = await stack.enter_async_context(aiohttp.ClientSession())
        notifier = WebhookNotifier(session, {"night": endpoint_of("night", settings)}, clock=SystemClock())

        def shown() -> list[str]:
            return [body["incident"]["title"] for body in receiver.latest().values()]

        yield _site_of_server(
            receiver.answer,
            kind="webhook",
            notifier=notifier,
            channel="night",
            shown=shown,
            secrets=("bearer-secret", "secret-in-the-path"),
        )


@asynccontextmanager
async def pagerduty_site() -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        pagerduty = await stack.enter_async_context(PagerDutyLookalike.running())
        session = await stack.enter_async_context(aiohttp.ClientSession())
        service = PagerDutyService(url=pagerduty.url, routing_key=Secret(value=ROUTING_KEY))
        notifier = PagerDutyNotifier(session, {"gpus": service}, clock=SystemClock())

        def shown() -> list[str]:
            latest = {one["dedup_key"]: one["payload"]["summary"] for one in pagerduty.events}
            return [summary.partition("] ")[2] for summary in latest.values()]

        yield _site_of_server(
            pagerduty.answer,
            kind="pagerduty",
            notifier=notifier,
            channel="gpus",
            shown=shown,
            secrets=(ROUTING_KEY,),
            notified=lambda: sum(one.notified for one in pagerduty.alerts.values()),
        )


@asynccontextmanager
async def apprise_site() -> AsyncIterator[Site]:
    """A server that takes JSON as apprise sends it. No mark in a message says which card it is of."""
    pytest.importorskip("apprise")
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(WebhookReceiver.running())
        address = receiver.url.replace("http://", "json://user:p4ssw0rd@")
        notifier = AppriseNotifier({"mail": lambda: address})

        def shown() -> list[str]:
            return [body["title"] for body in receiver.bodies]

        yield _site_of_server(
            receiver.answer,
            kind="apprise",
            notifier=notifier,
            channel="mail",
            shown=shown,
            secrets=("p4ssw0rd", "secret-in-the-path"),
            keeps_all=True,
        )


SITES: Mapping[str, Callable[[], AbstractAsyncContextManager[Site]]] = {
    "slack": slack_site,
    "console": console_site,
    "webhook": webhook_site,
    "pagerduty": pagerduty_site,
    "apprise": apprise_site,
}


@pytest.fixture(params=SITES)
async def site(request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    async with SITES[request.param]() as one:
        yield one
