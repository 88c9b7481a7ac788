"""Fixtures: a Slack look-alike per test, the SDK's client for it, and a Bolt app."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import Options, Person, SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from tests.real.servers.browser import chromium

PEOPLE = (
    "ana",
    Person(name="bo", title="sre, on call"),
    Person(name="gus", guest=True),
    Person(name="eve", team="T0ELSEWHERE"),
)
CHANNELS = ("#gpu-alerts", "#random", "#quiet")
Open = Callable[..., Awaitable[Page]]
Listening = Callable[[AsyncApp], Awaitable[None]]
Refused = Callable[[Awaitable[Any]], Awaitable[SlackApiError]]


@pytest.fixture
def options() -> Options:
    """Options without rate limits; override this fixture for others."""
    return Options(strict_rates=False, welcome=("You are *{me}*: type `/yard help`.",))


@pytest.fixture
async def slack(options: Options) -> AsyncIterator[SlackLookalike]:
    async with SlackLookalike.running(
        Members(
            people=PEOPLE,
            channels=CHANNELS,
            usergroups={"sre": ["ana", "bo"]},
            without_bot=["#quiet"],
            topics={"#gpu-alerts": "One card per incident"},
        ),
        options=options,
    ) as running:
        yield running


@pytest.fixture
def channel(slack: SlackLookalike) -> str:
    return slack.id("#gpu-alerts")


@pytest.fixture
def client(slack: SlackLookalike) -> AsyncWebClient:
    return AsyncWebClient(token=slack.bot_token, base_url=slack.url, retry_handlers=[], timeout=5)


@pytest.fixture
async def listening(slack: SlackLookalike, client: AsyncWebClient) -> AsyncIterator[Listening]:
    """Return a function that connects a Bolt app by Socket Mode."""
    handlers: list[AsyncSocketModeHandler] = []

    async def connect(app: AsyncApp) -> None:
        handler = AsyncSocketModeHandler(app, slack.app_token, web_client=client)
        handlers.append(handler)
        await handler.connect_async()  # type: ignore[no-untyped-call]
        await slack.connected()

    yield connect
    for handler in handlers:
        await handler.close_async()  # type: ignore[no-untyped-call]


@pytest.fixture
def app(slack: SlackLookalike, client: AsyncWebClient) -> AsyncApp:
    """Return a Bolt app; add listeners, then connect it with `listening`."""
    return AsyncApp(client=client, signing_secret=slack.signing_secret)


@pytest.fixture
def refused() -> Refused:
    """Return a function that awaits a call that Slack must refuse, and returns the error."""

    async def expect(call: Awaitable[Any]) -> SlackApiError:
        with pytest.raises(SlackApiError) as caught:
            await call
        return caught.value

    return expect


@pytest.fixture
async def opened(slack: SlackLookalike, chromium_path: Path) -> AsyncIterator[Open]:
    """Return a function that opens the page as a person; an error on the page fails the test."""
    errors: list[str] = []
    async with chromium(chromium_path) as browser:

        async def open_as(who: str, *, width: int = 1400, address: str | None = None) -> Page:
            page = await browser.new_page(viewport={"width": width, "height": 900})
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
            await page.goto(address or f"{slack.page}?as={who}")
            await page.wait_for_selector("body[data-ready]")
            return page

        yield open_as
    assert errors == []


async def send(page: Page, text: str) -> None:
    """Write into the box of the channel."""
    box = page.get_by_role("textbox", name="Message").first
    await box.fill(text)
    await box.press("Enter")
