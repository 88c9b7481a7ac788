"""This file takes the pictures of the docs from the running demo. Run it as `python -m docs.screenshots`.

A node's cooling fails, somebody on call cordons it and asks what else there is to type: the pictures are of that,
as the Slack look-alike shows it in Chromium. `--into` says where they go, when not into docs/images.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Locator, Page, async_playwright, expect

from demo.parts.processes import find_program
from demo.scenario import load_scenarios
from demo.stage import Plan, Stage, set_up

IMAGES = Path(__file__).parent / "images"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--force-color-profile=srgb")
PATIENCE = 90_000  # milliseconds, for what the world has to do first
WIDE, NARROW, HIGH = 1000, 400, 1300  # pixels
LARGEST = 200_000  # bytes


async def take_pictures(into: Path) -> list[Path]:
    """Set the stage, play, and take the pictures. Returns their files."""
    into.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="yardmaster-pictures-") as folder:
        async with set_up(Plan(folder=Path(folder))) as stage, _pages(stage) as (wide, narrow):
            for fault in load_scenarios()["hot-gpu"].happens:
                stage.break_it(fault)
            card = _message(wide, "Cordon gpu-b03")
            await expect(card).to_contain_text("Also:", timeout=PATIENCE)
            await expect(card).to_contain_text("throttle", timeout=PATIENCE)
            made = [
                await _picture(card, into / "card.png"),
                await _picture(_message(narrow, "Cordon gpu-b03"), into / "card-narrow.png"),
            ]
            await card.get_by_role("button", name="Cordon gpu-b03").click()
            preview = _message(wide, "Confirm")
            made.append(await _picture(preview, into / "preview.png"))
            await preview.get_by_role("button", name="Confirm").click()
            await expect(_message(wide, "Done:")).to_be_visible(timeout=PATIENCE)
            await _message(wide, "Done:").get_by_role("button", name="repl").first.click()
            thread = wide.get_by_role("complementary", name="Thread")
            await expect(thread).to_contain_text("Undo", timeout=PATIENCE)
            made.append(await _picture(thread, into / "thread.png"))
            await narrow.get_by_role("textbox", name="Message").fill("/yard help")
            await narrow.keyboard.press("Enter")
            made.append(await _picture(_message(narrow, "What I can do"), into / "help.png"))
            return made


@asynccontextmanager
async def _pages(stage: Stage) -> AsyncIterator[tuple[Page, Page]]:
    """The look-alike's page as dana, in a window of a desk and in one of a telephone."""
    program = find_program("chromium", "chromium-browser", "google-chrome", get_it="apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(program), args=list(FLAGS))
        pages = []
        for width, high in ((WIDE, HIGH), (NARROW, 2 * HIGH)):
            page = await browser.new_page(
                viewport={"width": width, "height": high}, device_scale_factor=2, reduced_motion="reduce"
            )
            await page.goto(f"{stage.slack.page}?as=dana")
            await page.wait_for_selector("body[data-ready]")
            pages.append(page)
        yield pages[0], pages[1]
        await browser.close()


def _message(page: Page, words: str) -> Locator:
    """The newest message of the channel with these words."""
    return page.get_by_role("main").get_by_test_id("message").filter(has_text=words).last


async def _picture(of: Locator, file: Path) -> Path:
    """Raises ValueError when it is too large for a page of the docs."""
    await expect(of).to_be_visible(timeout=PATIENCE)
    await of.page.mouse.move(0, 0)  # nothing is hovered over
    await of.screenshot(path=str(file), animations="disabled")
    if file.stat().st_size > LARGEST:
        raise ValueError(f"{file.name} has {file.stat().st_size} bytes, more than {LARGEST}")
    return file


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.screenshots", description="Take the docs' pictures.")
    parser.add_argument("--into", type=Path, default=IMAGES, metavar="FOLDER")
    for file in asyncio.run(take_pictures(parser.parse_args(arguments).into)):
        sys.stdout.write(f"{file.name}: {file.stat().st_size // 1000} kB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
