"""Pictures of all that people see in a cycle of the demo, wide and narrow: `python -m docs.cycle_pictures FOLDER`.

They are for whoever looks for what is cut off, unclear or said twice, and not for the pages of the docs.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Page

from demo.environment import PEOPLE, TOPICS, Environment, EnvironmentOptions, start_environment
from demo.runner import ScenarioRunner
from demo.scenario import load_scenarios
from demo.scenario_people import Scene
from docs.screenshots import chromium_page, type_line

SIZES = ((1280, 1150), (400, 1500))  # pixels
SETTLES = 2.5  # seconds: a card is edited, and its chart is drawn
WITH_THREAD = ("done", "end")
LINES = (
    "help",
    "node list",
    "node show gpu-a02",
    "gpu list",
    "gpu idle",
    "training list",
    "training show vision-detr/detr",
    "volume show vision-detr/coco-images",
    "dns show",
    "alert list",
    "incident list",
    "silence list",
    "plan list",
    "audit",
    "rule doctor",
)


class Camera:
    """It sees the page of the look-alike as the people do, in each size."""

    def __init__(self, page: Page, environment: Environment, into: Path) -> None:
        self._page = page
        self._environment = environment
        self._into = into
        self.files: list[Path] = []

    async def look(self, scene: Scene) -> None:
        """Take the channel, and after an action the thread of the newest card."""
        await asyncio.sleep(SETTLES)
        await self.open(scene.person, scene.channel.removeprefix("#"))
        await self.take(f"{scene.scenario}-{scene.what}")
        if scene.what in WITH_THREAD:
            await self._thread(f"{scene.scenario}-{scene.what}-thread")

    async def lists(self) -> None:
        """Take what lists and questions are answered with."""
        for line in LINES:
            await self.open("dana", "gpu-alerts")
            await type_line(self._page, f"/yard {line}")
            await asyncio.sleep(SETTLES)
            await self.take(f"line-{line.replace(' ', '-').replace('/', '-')}")

    async def homes(self) -> None:
        """Take what the bot wrote to each person, and their Home."""
        for person in PEOPLE:
            await self.open(person.name, "")
            await self._page.get_by_role("button", name="yardmaster").first.click()
            await self.take(f"direct-{person.name}")
            await self._wide()
            await self._page.get_by_role("tab", name="Home").click()
            await asyncio.sleep(SETTLES)
            await self.take(f"home-{person.name}")

    async def channels(self) -> None:
        """Take the end of each channel."""
        for channel in TOPICS:
            await self.open("dana", channel.removeprefix("#"))
            await self.take(f"channel-{channel.removeprefix('#')}")

    async def open(self, person: str, channel: str) -> None:
        """Open the page again, as somebody who comes to it."""
        await self._wide()
        await self._page.goto("about:blank")
        await self._page.goto(f"{self._environment.slack.page}?as={person}#{channel}")
        await self._page.wait_for_selector("body[data-ready]")
        welcome = self._page.get_by_label("Close the welcome")
        if await welcome.is_visible():
            await welcome.click()

    async def take(self, name: str) -> None:
        for width, height in SIZES:
            await self._page.set_viewport_size({"width": width, "height": height})
            await self._page.mouse.move(0, 0)  # hover over nothing
            await asyncio.sleep(0.3)  # the lists follow their ends
            number = len(self.files) // len(SIZES) + 1
            file = self._into / f"{number:03}-{name}-{width}.png"
            await self._page.screenshot(path=str(file), animations="disabled", scale="css")
            self.files.append(file)

    async def _thread(self, name: str) -> None:
        await self._wide()
        replies = self._page.get_by_role("main").get_by_role("button", name="repl")
        if await replies.count():
            await replies.last.click()
            await self.take(name)

    async def _wide(self) -> None:
        width, height = SIZES[0]
        await self._page.set_viewport_size({"width": width, "height": height})


async def take_pictures(into: Path, names: Sequence[str]) -> list[str]:
    """Run the scenarios, all if none is named, and take the pictures. Return what failed."""
    scenarios = [one for name, one in load_scenarios().items() if not names or name in names]
    begins = {fault.fault: fault.parameters for one in scenarios for fault in one.initial_faults}
    with TemporaryDirectory(prefix="yardmaster-pictures-") as folder:
        options = EnvironmentOptions(folder=Path(folder), initial_faults=begins)
        async with start_environment(options) as environment, chromium_page(environment) as page:
            camera = Camera(page, environment, into)
            runner = ScenarioRunner(environment, look=camera.look)
            failures = [f for one in scenarios for f in (await runner.run(one)).failures]
            await camera.lists()
            await camera.channels()
            await camera.homes()
            return failures


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docs.cycle_pictures", description="Take pictures of a cycle of the demo."
    )
    parser.add_argument("into", type=Path, metavar="FOLDER")
    parser.add_argument("--scenario", action="append", default=[], metavar="NAME", help="repeatable")
    chosen = parser.parse_args(arguments)
    chosen.into.mkdir(parents=True, exist_ok=True)
    failures = asyncio.run(take_pictures(chosen.into, chosen.scenario))
    sys.stdout.writelines(f"{failure}\n" for failure in failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
