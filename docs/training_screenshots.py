"""Screenshots of a training, taken from the running demo: `python -m docs.training_screenshots`.

They show the form of a launch, `training show`, the thread of a training's card after somebody else suspended it, and
`training why` for one that waits. They go into docs/images, or the folder given with `--into`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import Page, expect

from demo.environment import Environment, EnvironmentOptions, start_environment
from docs.screenshots import (
    TIMEOUT,
    chromium_page,
    newest_message,
    open_channel,
    run,
    take_picture,
    type_line,
)

WIDE, MIDDLE, HIGH, LOW = 760, 620, 1000, 660  # pixels
NAME, WAITING = "vision-mnist", "vision-large"
IMAGE = "--image registry.local/train:1"


async def take_pictures(into: Path) -> list[Path]:
    """Start the demo, and take the screenshots. Return their files."""
    with TemporaryDirectory(prefix="yardmaster-pictures-") as folder:
        async with (
            start_environment(EnvironmentOptions(folder=Path(folder))) as environment,
            chromium_page(environment) as page,
        ):
            await open_channel(page, environment, "ana", "vision")
            return [
                await _form(page, into / "training-form.png"),
                await _show(page, into / "training-show.png"),
                await _thread(page, environment, into / "training-thread.png"),
                await _why(page, into / "training-why.png"),
            ]


async def _form(page: Page, file: Path) -> Path:
    """The form that a launch without an image opens: what the line says is filled in."""
    await type_line(page, f"/yard training launch {NAME} --kind job --workers 1 --gpus 8")
    form = page.get_by_role("dialog")
    await take_picture(form, file, width=MIDDLE, height=HIGH)
    await form.get_by_role("button", name="Cancel").click()
    return file


async def _show(page: Page, file: Path) -> Path:
    await _launch(page, f"{NAME} {IMAGE} --workers 1 --gpus 8 -- --epochs 3", NAME)
    running = newest_message(page, f"{NAME}: running")
    await expect(running).to_contain_text("1 of 1 run", timeout=TIMEOUT)
    await type_line(page, f"/yard training show {NAME}")
    return await take_picture(newest_message(page, "GPU-hours"), file, width=WIDE)


async def _thread(page: Page, environment: Environment, file: Path) -> Path:
    """The owner's thread: what somebody else does with the training is a reply, the rest an edit of the card."""
    for verb, by, state in (("suspend", "eli", "suspended"), ("resume", "dana", "running")):
        await open_channel(page, environment, "dana", "vision")
        await type_line(page, f"/yard training {verb} {NAME}")
        preview = newest_message(page, f"{verb.capitalize()} {NAME}")
        await expect(preview).to_be_visible(timeout=TIMEOUT)
        if by != "dana":  # it ends work of ana: a second person confirms it
            await open_channel(page, environment, by, "vision")
        await preview.get_by_role("button", name="Confirm").click(timeout=TIMEOUT)
        await expect(newest_message(page, f"{NAME}: {state}")).to_be_visible(timeout=TIMEOUT)
    await open_channel(page, environment, "ana", "vision")
    card = newest_message(page, f"{NAME}: running")
    await card.get_by_role("button", name="repl").first.click(timeout=TIMEOUT)
    thread = page.get_by_role("complementary", name="Thread")
    await expect(thread).to_contain_text("suspended", timeout=TIMEOUT)
    await take_picture(thread, file, width=MIDDLE, height=LOW)
    await page.get_by_role("button", name="Close thread").click()
    return file


async def _why(page: Page, file: Path) -> Path:
    await page.set_viewport_size({"width": 1200, "height": HIGH})
    await _launch(page, f"{WAITING} {IMAGE} --workers 6 --gpus 8 --wait -- --epochs 9", WAITING)
    await expect(newest_message(page, f"{WAITING}: queued")).to_be_visible(timeout=TIMEOUT)
    await type_line(page, f"/yard training why {WAITING}")
    return await take_picture(newest_message(page, f"{WAITING} waits"), file, width=MIDDLE)


async def _launch(page: Page, line: str, name: str) -> None:
    await type_line(page, f"/yard training launch {line}")
    await newest_message(page, f"Launch {name}").get_by_role("button", name="Confirm").click()


def main(arguments: Sequence[str] | None = None) -> int:
    return run(take_pictures, arguments, program="training_screenshots", of="a training")


if __name__ == "__main__":
    sys.exit(main())
