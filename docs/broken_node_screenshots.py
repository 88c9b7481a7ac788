"""Screenshots of a broken node, from its card to its acceptance: `python -m docs.broken_node_screenshots`.

In the running demo a GPU falls off the bus. The engineer on call looks at the node, keeps the evidence, drains it with
a second person, repairs it, and tests it. They go into docs/images, or the folder given with `--into`.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Locator, Page, expect

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.scenario import load_scenarios
from demo.world.logs.line import Line
from demo.world.shared_services import PodKey
from docs.screenshots import IMAGES, LARGEST, TIMEOUT, chromium_page, newest_message, take_picture, type_line

MIDDLE, NARROW = 620, 400  # pixels
NODE = "gpu-a02"
JOBS = "yardmaster-jobs"
# What the pods of a repair and of a suite write, by the name of the script.
PRINTED: Mapping[str, str] = {
    "repair/nvidia-uvm": "loaded nvidia-uvm, major number 511\nmade /dev/nvidia-uvm and /dev/nvidia-uvm-tools\n",
    "accept/gpus": "".join(
        f"yardmaster/1 memory-copy pass 2{number}41.6 GB/s gpu={number}\n" for number in range(8)
    )
    + "yardmaster/1 version driver 570.133.20\nyardmaster/1 end\n",
    "accept/scratch": "yardmaster/1 scratch-write pass 1.9 GB/s\nyardmaster/1 end\n",
}
SUITE = {
    "tests": [
        {"name": name, "gpus": False, "within": "5m", "script": f"/opt/tests/{name}.sh"}
        for name in ("gpus", "scratch")
    ]
}
MORE: dict[str, Any] = {
    "node_jobs": {"namespace": JOBS, "image": "registry.example/gpu-tests:1"},
    "acceptance": {"suite": "short", "suites": {"short": SUITE}},
}


async def take_pictures(into: Path) -> list[Path]:
    """Start the demo, break a GPU, and take the screenshots. Return their files."""
    with TemporaryDirectory(prefix="yardmaster-pictures-") as folder:
        async with (
            start_environment(EnvironmentOptions(folder=Path(folder), more=MORE)) as environment,
            _scripts_print(environment),
            chromium_page(environment) as page,
        ):
            assert environment.kubernetes is not None
            environment.kubernetes.create(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": JOBS}}
            )
            pictures = _Pictures(page=page, environment=environment, into=into)
            await pictures.broken()
            await pictures.drained()
            await pictures.repaired()
            environment.end_fault("xid")
            await pictures.accepted()
            return pictures.files


class _Pictures:
    def __init__(self, *, page: Page, environment: Environment, into: Path) -> None:
        self._page, self._environment, self._into = page, environment, into
        self.files: list[Path] = []

    async def _take(self, element: Locator, name: str) -> None:
        for width, end in ((MIDDLE, ""), (NARROW, "-narrow")):
            self.files.append(await take_picture(element, self._into / f"{name}{end}.png", width=width))

    async def broken(self) -> None:
        for fault in load_scenarios()["xid-79"].faults:
            self._environment.start_fault(fault)
        card = newest_message(self._page, f"Cordon {NODE}")
        await expect(card).to_contain_text("Chart", timeout=TIMEOUT)
        await self._take(card, "broken-card")
        await type_line(self._page, f"/yard node show {NODE}")
        shown = newest_message(self._page, f"Node {NODE}")
        await self._take(shown, "broken-node")
        await shown.get_by_role("button", name="Evidence").click()
        await self._take(newest_message(self._page, "Evidence of"), "broken-evidence")

    async def drained(self) -> None:
        await type_line(self._page, f'/yard node drain {NODE} --reason "GPU 3 fell off the bus"')
        preview = newest_message(self._page, f"Drain {NODE}")
        await expect(preview).to_contain_text("Confirm", timeout=TIMEOUT)
        await self._take(preview, "broken-drain")
        if "second person" in (await preview.inner_text()):
            await self._be("eli")
            preview = newest_message(self._page, f"Drain {NODE}")
        await preview.get_by_role("button", name="Confirm").click()
        await expect(newest_message(self._page, f"Drain {NODE}")).to_contain_text("done", timeout=TIMEOUT)
        await self._be("dana")

    async def repaired(self) -> None:
        await type_line(self._page, f"/yard node repair {NODE} --with nvidia-uvm")
        preview = newest_message(self._page, f"Repair {NODE}")
        await self._take(preview, "broken-repair-preview")
        await preview.get_by_role("button", name="Confirm").click()
        card = newest_message(self._page, f"Repair {NODE}")
        await expect(card).to_contain_text("loaded nvidia-uvm", timeout=TIMEOUT)
        await self._take(card, "broken-repair")
        await expect(card).to_contain_text("done", timeout=TIMEOUT)

    async def accepted(self) -> None:
        await type_line(self._page, f"/yard node accept {NODE}")
        preview = newest_message(self._page, "suite short")
        await self._take(preview, "broken-accept-preview")
        await preview.get_by_role("button", name="Confirm").click()
        card = newest_message(self._page, "suite short")
        await expect(card).to_contain_text(f"{NODE} is accepted", timeout=TIMEOUT, ignore_case=True)
        await self._take(card, "broken-accepted")
        await type_line(self._page, "/yard node list")
        await self._take(newest_message(self._page, "nodes fine"), "broken-list")

    async def _be(self, person: str) -> None:
        await self._page.goto(f"{self._environment.slack.page}?as={person}")
        await self._page.wait_for_selector("body[data-ready]")


@asynccontextmanager
async def _scripts_print(environment: Environment) -> AsyncIterator[None]:
    """Let the pods of scripts write what PRINTED has; the world ends each after half a minute."""
    kube, journal = environment.kubernetes, environment.world.journal
    assert kube is not None

    async def run() -> None:
        said: set[str] = set()
        while True:
            for pod in kube.list("pods"):
                meta = pod["metadata"]
                if meta["namespace"] != JOBS or meta["uid"] in said or not pod["status"].get("startTime"):
                    continue
                said.add(meta["uid"])
                job = kube.get("jobs", JOBS, meta["labels"]["batch.kubernetes.io/job-name"])
                script = job["metadata"]["annotations"]["yardmaster.io/script"] if job is not None else ""
                for text in PRINTED.get(script, "").splitlines():
                    key = PodKey(JOBS, meta["name"])
                    journal.add(Line(at=environment.world.state.now, text=text, pod=key, container="script"))
            await asyncio.sleep(0.3)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(run())
        try:
            yield
        finally:
            task.cancel()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docs.broken_node_screenshots", description="Take the screenshots of a broken node."
    )
    parser.add_argument("--into", type=Path, default=IMAGES, metavar="FOLDER")
    into = parser.parse_args(arguments).into
    into.mkdir(parents=True, exist_ok=True)
    sizes = {file.name: file.stat().st_size for file in asyncio.run(take_pictures(into))}
    for name, size in sizes.items():
        sys.stdout.write(f"{name}: {size // 1000} kB\n")
    return 1 if max(sizes.values()) > LARGEST else 0


if __name__ == "__main__":
    sys.exit(main())
