"""Screenshots for the docs, taken from the running demo: `python -m docs.screenshots`.

They show a node whose cooling fails, the engineer on call who cordons it, lists, the home tab and `help`, as the Slack
look-alike renders them in Chromium. They go into docs/images, or the folder given with `--into`.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Error, Locator, Page, async_playwright, expect

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.parts.processes import find_program
from demo.scenario import Fault, load_scenarios

IMAGES = Path(__file__).parent / "images"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-lcd-text",
    "--disable-font-subpixel-positioning",  # equal letters get equal pixels, which compress better
)
TIMEOUT = 90_000  # milliseconds: the simulated world needs time to get there
ATTEMPTS = 3  # for a picture
WIDE, MIDDLE, NARROW = 760, 520, 400  # pixels
HIGH = 1300
LARGEST = 250_000  # bytes
Take = Callable[[Path], Coroutine[Any, Any, list[Path]]]


async def take_pictures(into: Path) -> list[Path]:
    """Start the demo, play the scenario, and take the screenshots. Return their files."""
    scenarios = load_scenarios()
    idle = {fault.fault: fault.parameters for fault in scenarios["idle-gpus"].initial_faults}
    with TemporaryDirectory(prefix="yardmaster-pictures-") as folder:
        async with (
            start_environment(EnvironmentOptions(folder=Path(folder), initial_faults=idle)) as environment,
            chromium_page(environment) as page,
        ):
            for fault in scenarios["hot-gpu"].faults:
                environment.start_fault(fault)
            first = newest_message(page, "is hot")
            await expect(first).to_be_visible(timeout=TIMEOUT)
            timestamp = await first.get_attribute("data-ts")
            card = page.get_by_role("main").locator(f"article[data-ts='{timestamp}']")
            await expect(card).to_contain_text("8 of 8 GPUs", timeout=TIMEOUT)
            await expect(card).to_contain_text("gpu-b03 is too hot: ", timeout=TIMEOUT)
            await expect(card.get_by_role("img", name="Chart from")).to_be_visible(timeout=TIMEOUT)
            files = [
                await take_picture(card, into / "card.png"),
                await take_picture(card, into / "card-narrow.png", width=NARROW),
            ]
            await card.get_by_role("button", name="Cordon gpu-b03").click()
            preview = newest_message(page, "Cordon gpu-b03?")
            files.append(await take_picture(preview, into / "preview.png", width=MIDDLE))
            await preview.get_by_role("button", name="Confirm").click()
            await expect(card).to_contain_text("Done:", timeout=TIMEOUT)
            await card.get_by_role("button", name="repl").first.click()
            thread = page.get_by_role("complementary", name="Thread")
            await expect(thread).to_contain_text("Undo", timeout=TIMEOUT)
            await page.set_viewport_size({"width": MIDDLE, "height": 860})
            await thread.get_by_text("Undo").last.scroll_into_view_if_needed()  # a chart is above it
            files.append(await take_picture(thread, into / "thread.png", width=MIDDLE, height=860))
            await page.get_by_role("button", name="Close thread").click()
            await type_line(page, "/yard node list")
            files.append(
                await take_picture(newest_message(page, "nodes fine"), into / "node-list.png", width=MIDDLE)
            )
            await type_line(page, "/yard help")
            usage = newest_message(page, "Available commands")
            files.append(await take_picture(usage, into / "help.png", width=MIDDLE))
            await type_line(page, "/yard nobody schedules anything on gpu-c02 please")
            suggested = newest_message(page, "node cordon gpu-c02")
            files.append(await take_picture(suggested, into / "own-words.png", width=MIDDLE))
            files.append(await take_picture(await _home(page), into / "home.png", width=WIDE, height=740))
            files.append(await _launch(page, environment, into / "launch.png"))
            files.append(await _request(page, environment, into / "request.png"))
            for fault in scenarios["volume-format"].faults:
                environment.start_fault(fault)
            await open_channel(page, environment, "dana", "gpu-alerts")
            lost = page.get_by_role("main").get_by_test_id("message").filter(has_text="DATA LOSS").first
            await expect(lost).to_contain_text(
                "Almost everything on vision-detr/coco-images", timeout=TIMEOUT
            )
            files.append(await take_picture(lost, into / "data-loss.png"))
            for fault in scenarios["rack-power"].faults:
                environment.start_fault(fault)
            many = (
                page.get_by_role("main").get_by_test_id("message").filter(has_text="4 nodes of rack-d").first
            )
            await expect(many).to_contain_text("KubeNodeNotReady on 4", timeout=TIMEOUT)
            await expect(many).to_contain_text("The whole list is attached", timeout=TIMEOUT)
            files.append(await take_picture(many, into / "storm.png"))
            files.append(await _blind(page, environment, into / "blind.png"))
            return files


async def _launch(page: Page, environment: Environment, file: Path) -> Path:
    await open_channel(page, environment, "ana", "vision")
    line = "training launch vision-mnist --image registry.local/train:1 --workers 1 --gpus 8 -- --epochs 3"
    await type_line(page, f"/yard {line}")
    await newest_message(page, "Launch vision-mnist").get_by_role("button", name="Confirm").click()
    running = newest_message(page, "vision-mnist: running")
    await expect(running).to_contain_text("1 of 1 run", timeout=TIMEOUT)
    return await take_picture(running, file)  # two facts a line


async def _request(page: Page, environment: Environment, file: Path) -> Path:
    await open_channel(page, environment, "dana", "speech")
    await newest_message(page, "speech-tts/tts").get_by_role("button", name="Free speech-tts/tts").click()
    await newest_message(page, "Request 8 idle GPUs").get_by_role("button", name="Confirm").click()
    await open_channel(page, environment, "bo", "speech")
    return await take_picture(newest_message(page, "still needed?"), file, width=MIDDLE)


async def _blind(page: Page, environment: Environment, file: Path) -> Path:
    """The card about a Prometheus that does not answer."""
    environment.start_fault(Fault(fault="prometheus"))
    card = newest_message(page, "Yardmaster cannot see").filter(has_not_text="Reopened")
    await expect(card).to_contain_text("Until it is back", timeout=TIMEOUT)
    await take_picture(card, file)
    environment.end_fault("prometheus")
    return file


async def open_channel(page: Page, environment: Environment, person: str, channel: str) -> None:
    await page.set_viewport_size({"width": 1200, "height": HIGH})
    await page.goto(f"{environment.slack.page}?as={person}")
    await page.wait_for_selector("body[data-ready]")
    await page.get_by_role("button", name=channel).first.click()


async def type_line(page: Page, line: str) -> None:
    await page.get_by_role("textbox", name="Message").first.fill(line)
    await page.keyboard.press("Enter")


async def _home(page: Page) -> Locator:
    """Open the home tab, and return it once it is published."""
    await page.set_viewport_size({"width": 1200, "height": HIGH})
    await page.get_by_role("button", name="yardmaster").first.click()
    await page.get_by_role("tab", name="Home").click()
    home = page.get_by_label("App home")
    await expect(home).to_contain_text("Your cordons", timeout=TIMEOUT)
    return home


@asynccontextmanager
async def chromium_page(environment: Environment) -> AsyncIterator[Page]:
    """The look-alike's page, seen by dana, who is on call."""
    program = find_program("chromium", "chromium-browser", "google-chrome", get_it="apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(program), args=list(FLAGS))
        page = await browser.new_page(device_scale_factor=2, reduced_motion="reduce")
        await page.goto(f"{environment.slack.page}?as=dana")
        await page.wait_for_selector("body[data-ready]")
        await page.get_by_label("Close the welcome").click()
        yield page
        await browser.close()


def newest_message(page: Page, text: str) -> Locator:
    """The newest message of the channel with this text."""
    return page.get_by_role("main").get_by_test_id("message").filter(has_text=text).last


async def take_picture(
    element: Locator,
    file: Path,
    *,
    width: int = WIDE,
    height: int = HIGH,
) -> Path:
    """Take a screenshot in a window of that size."""
    await expect(element).to_be_visible(timeout=TIMEOUT)
    await element.page.set_viewport_size({"width": width, "height": height})
    await element.page.mouse.move(0, 0)  # hover over nothing
    for number in range(1, ATTEMPTS + 1):
        try:
            await element.screenshot(path=str(file), animations="disabled")
            break
        except Error:  # the page redraws a message when it is edited
            if number == ATTEMPTS:
                raise
    return file


def run(take: Take, arguments: Sequence[str] | None, *, program: str, of: str) -> int:
    """Take the pictures into the folder that the arguments name, and print the size of each."""
    parser = argparse.ArgumentParser(
        prog=f"python -m docs.{program}", description=f"Take the screenshots of {of}."
    )
    parser.add_argument("--into", type=Path, default=IMAGES, metavar="FOLDER")
    into = parser.parse_args(arguments).into
    into.mkdir(parents=True, exist_ok=True)
    sizes = {file.name: file.stat().st_size for file in asyncio.run(take(into))}
    for name, size in sizes.items():
        sys.stdout.write(f"{name}: {size // 1000} kB{', too large for a page' if size > LARGEST else ''}\n")
    return 1 if max(sizes.values()) > LARGEST else 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run(take_pictures, arguments, program="screenshots", of="the docs")


if __name__ == "__main__":
    sys.exit(main())
