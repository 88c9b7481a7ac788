"""Screenshots of what holds plans back, taken from the running demo: `python -m docs.gate_screenshots`.

They show a plan that waits for a second person, one over its budget, what a rule in trial would have done, and a
breaker, for the pages on what people may press and on what may run by itself. They go into docs/images, or the folder
given with `--into`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Page, expect

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.scenario import Fault
from docs.screenshots import TIMEOUT, chromium_page, newest_message, run, take_picture, type_line

MIDDLE = 620  # pixels
GATES: dict[str, Any] = {
    "budgets": [{"scope": "rack", "of": "rack-a", "out_of_service": 1}],
    "breaker": {"scope": "cluster", "actions": 2},
    "pools": {"b": {"nodes": ["gpu-b*"]}, "c": {"nodes": ["gpu-c*"]}},  # automation has one node of each
}
HOT = ("gpu-b02", "gpu-c02")


async def take_pictures(into: Path) -> list[Path]:
    """Start the demo with gates, and take the screenshots. Return their files."""
    with TemporaryDirectory(prefix="yardmaster-pictures-") as folder:
        async with (
            start_environment(EnvironmentOptions(folder=Path(folder), more=GATES)) as environment,
            chromium_page(environment) as page,
        ):
            files = await _trial_and_breaker(page, environment, into)  # first: what is cordoned counts
            files.append(await _second_person(page, into / "second-person.png"))
            files.append(await _over_budget(page, into / "over-budget.png"))
            return files


async def _second_person(page: Page, file: Path) -> Path:
    await type_line(page, "/yard node drain gpu-b03 --reason fans")
    preview = newest_message(page, "A second person has to confirm it")
    await expect(preview).to_contain_text("of ana", timeout=TIMEOUT)
    return await take_picture(preview, file, width=MIDDLE)


async def _over_budget(page: Page, file: Path) -> Path:
    await type_line(page, "/yard node cordon gpu-a01 --reason fans")
    await newest_message(page, "Cordon gpu-a01?").get_by_role("button", name="Confirm").click()
    await expect(newest_message(page, "Cordon gpu-a01: done")).to_be_visible(timeout=TIMEOUT)
    await type_line(page, "/yard node cordon gpu-a02 --reason fans")
    await newest_message(page, "Cordon gpu-a02?").get_by_role("button", name="Confirm").click()
    card = newest_message(page, "Cordon gpu-a02: waits")
    await expect(card).to_contain_text("Go over the budget", timeout=TIMEOUT)
    return await take_picture(card, file, width=MIDDLE)


async def _trial_and_breaker(page: Page, environment: Environment, into: Path) -> list[Path]:
    """Two hot nodes: what would have been done about each is an action, and two are all that the breaker lets."""
    files: list[Path] = []
    for node in HOT:
        leak = {"node": node, "minutes": 0.5, "share": 0.95}
        environment.start_fault(Fault(fault="memory_leak", parameters=leak))
        incident = newest_message(page, f"{node} is almost out of memory")
        await incident.get_by_role("button", name="repl").first.click(timeout=TIMEOUT)
        thread = page.get_by_role("complementary", name="Thread")
        trial = thread.get_by_test_id("message").filter(has_text="would have been done").last
        await expect(trial).to_be_visible(timeout=TIMEOUT)
        if not files:
            files.append(await take_picture(trial, into / "trial.png", width=MIDDLE))
        await page.get_by_role("button", name="Close thread").click()
    breaker = newest_message(page, "would be stopped (trial)")
    await expect(breaker).to_contain_text("2 actions within an hour", timeout=TIMEOUT)
    files.append(await take_picture(breaker, into / "breaker.png", width=MIDDLE))
    return files


def main(arguments: Sequence[str] | None = None) -> int:
    return run(take_pictures, arguments, program="gate_screenshots", of="gates")


if __name__ == "__main__":
    sys.exit(main())
