"""A browser for the pages of our own servers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

from tests.real.servers.chromium import CHROMIUM_FLAGS


@asynccontextmanager
async def chromium(program: Path) -> AsyncIterator[Browser]:
    """Run Chromium without a window."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=list(CHROMIUM_FLAGS))
        yield browser
        await browser.close()


async def be(page: Page, address: str, person: str) -> None:
    """Open the page of the look-alike of Slack as this person."""
    await page.goto(f"{address}?as={person}")
    await page.wait_for_selector("body[data-ready]")
