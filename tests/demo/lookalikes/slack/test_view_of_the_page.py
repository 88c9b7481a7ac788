"""The page in a real browser: what is in view, on wide and narrow screens."""

import struct
import zlib
from typing import Any

import pytest
from playwright.async_api import expect
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import SlackLookalike
from tests.demo.lookalikes.slack.conftest import Listening, Open, send

pytestmark = pytest.mark.real


async def test_a_narrow_screen_hides_the_channels(opened: Open) -> None:
    page = await opened("ana", width=400)
    await expect(page.get_by_role("button", name="random")).to_be_hidden()
    await page.get_by_role("button", name="Channels").click()
    await page.get_by_role("button", name="random").click()
    await expect(page.get_by_role("heading", name="#random")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("width", [1280, 400])
async def test_a_table_fits_the_window(client: AsyncWebClient, opened: Open, width: int) -> None:
    cells = ("gpu-a01", "Ready, cordoned by somebody with a long name", "8/8", "asr-large, detr, segment")
    rows = [[{"type": "raw_text", "text": cell} for cell in cells]] * 3
    settings = [{"is_wrapped": len(cell) > 13} for cell in cells]
    table = {"type": "table", "rows": rows, "column_settings": settings}
    await client.chat_postMessage(channel="#gpu-alerts", text="t", attachments=[{"blocks": [table]}])
    page = await opened("ana", width=width)
    drawn = page.get_by_role("table")
    await expect(drawn.get_by_role("columnheader")).to_have_count(4)
    await expect(drawn.get_by_role("row")).to_have_count(3)
    box = await drawn.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= width


def picture(width: int, height: int) -> bytes:
    """Return a grey PNG of that size."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    lines = zlib.compress((b"\0" + b"\x99" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")


async def posted_pictures(slack: SlackLookalike, client: AsyncWebClient) -> None:
    """Post cards with pictures, which a browser loads after it has drawn the list."""
    for number in range(8):
        await client.files_upload_v2(
            channel=slack.id("#gpu-alerts"),
            filename=f"{number}.png",
            content=picture(320, 240),
            initial_comment=f"card {number}",
        )


@pytest.mark.parametrize("width", [1280, 400])
async def test_the_newest_message_is_in_view_though_pictures_load_later(
    slack: SlackLookalike, client: AsyncWebClient, opened: Open, width: int
) -> None:
    await posted_pictures(slack, client)
    last = await client.chat_postMessage(channel="#gpu-alerts", text="the newest")

    page = await opened("ana", width=width)
    await expect(page.get_by_role("img", name="7.png")).to_have_js_property("complete", value=True)

    await expect(page.locator(f"article[data-ts='{last['ts']}']")).to_be_in_viewport()


async def test_an_answer_is_in_view_at_a_phone_though_the_reader_had_scrolled_up(
    slack: SlackLookalike,
    client: AsyncWebClient,
    app: AsyncApp,
    listening: Listening,
    opened: Open,
) -> None:
    @app.command("/yard")
    async def answer(ack: AsyncAck, command: dict[str, Any]) -> None:
        await ack("\n".join(f"line {number}" for number in range(10)))

    await listening(app)
    await posted_pictures(slack, client)
    page = await opened("ana", width=400)
    await page.get_by_role("log", name="Messages").first.evaluate("list => { list.scrollTop = 0; }")
    await client.chat_postMessage(channel="#gpu-alerts", text="unread below")
    await expect(page.get_by_text("unread below")).not_to_be_in_viewport()  # who reads on is left alone

    await send(page, "/yard help")

    await expect(page.get_by_text("line 9")).to_be_in_viewport()


async def test_a_narrower_window_still_shows_the_newest_message(
    slack: SlackLookalike, client: AsyncWebClient, opened: Open
) -> None:
    await posted_pictures(slack, client)
    words = "words that need more lines in a narrow window " * 5
    for _ in range(5):
        await client.chat_postMessage(channel="#gpu-alerts", text=words)
    await client.chat_postMessage(channel="#gpu-alerts", text="the newest")
    page = await opened("ana", width=1280)
    await expect(page.get_by_text("the newest")).to_be_in_viewport()

    await page.set_viewport_size({"width": 400, "height": 860})

    await expect(page.get_by_text("the newest")).to_be_in_viewport()
