"""Screenshots of a broken node, from its card to its acceptance: `python -m docs.broken_node_screenshots`.

In the running demo a GPU falls off the bus. The engineer on call looks at the node, keeps the evidence, drains it with
a second person, has it rebooted, and tests it; on another node a device file is missing, and is made by a repair. They
go into docs/images, or the folder given with `--into`.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Locator, Page, expect

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.scenario import Fault, load_scenarios
from demo.side_tasks import beside
from demo.world.logs.line import Line
from demo.world.shared_services import PodKey
from docs.screenshots import TIMEOUT, chromium_page, newest_message, run, take_picture, type_line

MIDDLE = 620  # pixels
NODE, OTHER = "gpu-a02", "gpu-b04"
JOBS = "yardmaster-jobs"
ASKED = "reboot.example/asked"
# What the pods of a repair and of a suite write, by the name of the script.
PRINTED: Mapping[str, str] = {
    "repair/nvidia-uvm": "loaded nvidia-uvm\nmade /dev/nvidia-uvm (511, 0)\nmade /dev/nvidia-uvm-tools (511, 1)\n"
    "nvidia-uvm works: new GPU pods can start\n",
    "accept/memory": "".join(
        f"yardmaster/1 memory-copy pass {2741 + 3 * gpu}.6 GB/s gpu={gpu}\n" for gpu in range(8)
    )
    + "yardmaster/1 end\n",
    "accept/scratch": "yardmaster/1 scratch-write pass 1.9 GB/s\nyardmaster/1 end\n",
}
SUITE = {
    "tests": [
        {"name": name, "gpus": False, "within": "5m", "script": f"/opt/tests/{name}.sh"}
        for name in ("memory", "scratch")
    ]
}
MORE: dict[str, Any] = {
    "node_jobs": {"namespace": JOBS, "image": "registry.example/gpu-tests:1"},
    "acceptance": {"suite": "short", "suites": {"short": SUITE}},
    "reboot": {"annotation": {ASKED: "true"}},
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
            await pictures.rebooted()
            await pictures.accepted()
            await pictures.repaired()
            return pictures.files


class _Pictures:
    def __init__(self, *, page: Page, environment: Environment, into: Path) -> None:
        self._page, self._environment, self._into = page, environment, into
        self.files: list[Path] = []

    async def _take(self, element: Locator, name: str) -> None:
        self.files.append(await take_picture(element, self._into / f"{name}.png", width=MIDDLE))

    async def broken(self) -> None:
        for fault in load_scenarios()["xid-79"].faults:
            self._environment.start_fault(fault)
        card = newest_message(self._page, f"Drain {NODE}")
        await expect(card).to_contain_text("has fallen off the bus", timeout=TIMEOUT)
        await expect(card).to_contain_text("Stays open until", timeout=TIMEOUT)
        await self._take(card, "broken-card")
        await type_line(self._page, f"/yard node show {NODE}")
        shown = newest_message(self._page, f"Node {NODE}")
        await self._take(shown, "broken-node")
        await shown.get_by_role("button", name="Evidence").click()
        await self._take(newest_message(self._page, "Evidence of"), "broken-evidence")

    async def drained(self) -> None:
        """The drain ends somebody's training, so a second person confirms it."""
        await self._incident().get_by_role("button", name=f"Drain {NODE}").click()
        preview = newest_message(self._page, "A second person has to confirm it")
        await self._take(preview, "broken-drain")
        await self._be("eli")
        preview = newest_message(self._page, "A second person has to confirm it")
        await preview.get_by_role("button", name="Confirm").click()
        await self._be("dana")
        await expect(self._incident()).to_contain_text("Done: ", timeout=TIMEOUT)

    async def rebooted(self) -> None:
        await type_line(self._page, f"/yard node reboot {NODE}")
        await newest_message(self._page, "Ask for a reboot").get_by_role("button", name="Confirm").click()
        card = newest_message(self._page, f"Ask for a reboot of {NODE}")
        await expect(card).to_contain_text("✓ ask for it", timeout=TIMEOUT)
        await self._take(card, "broken-reboot")
        await self._reboot()

    async def accepted(self) -> None:
        over = newest_message(self._page, f"Test {NODE}")
        await expect(over).to_be_visible(timeout=TIMEOUT)
        await self._take(over, "broken-over")
        await over.get_by_role("button", name=f"Test {NODE}").click()
        preview = newest_message(self._page, "with suite short")
        await self._take(preview, "broken-accept")
        await preview.get_by_role("button", name="Confirm").click()
        await self._in_thread(f"{NODE} is accepted", "broken-accepted", button=f"Uncordon {NODE}")
        await type_line(self._page, "/yard node list --cordoned")
        await self._take(newest_message(self._page, ", accepted"), "broken-list")

    async def repaired(self) -> None:
        self._environment.start_fault(Fault(fault="uvm_missing", parameters={"node": OTHER}))
        card = newest_message(self._page, f"Repair {OTHER}")
        await expect(card).to_be_visible(timeout=TIMEOUT)
        await self._take(card, "broken-uvm")
        await card.get_by_role("button", name=f"Repair {OTHER}").click()
        await newest_message(self._page, "nvidia-uvm").get_by_role("button", name="Confirm").click()
        await self._in_thread("made /dev/nvidia-uvm", "broken-repair", of=f"Repair {OTHER}")
        self._environment.end_fault("uvm_missing")
        card = newest_message(self._page, f"{OTHER} was repaired")
        await expect(card).to_be_visible(timeout=TIMEOUT)
        await self._take(card, "broken-repaired")

    def _incident(self) -> Locator:
        return newest_message(self._page, "Stays open until")

    async def _in_thread(self, words: str, name: str, *, of: str = NODE, button: str = "") -> None:
        """Take the picture of a plan's card in the thread of its incident, once it has these words and this button."""
        incident = self._page.get_by_role("main").get_by_test_id("message").filter(has_text=of)
        await incident.get_by_role("button", name="repl").last.click(timeout=TIMEOUT)
        thread = self._page.get_by_role("complementary", name="Thread")
        found = thread.get_by_test_id("message").filter(has_text=words)
        card = (found.filter(has=self._page.get_by_role("button", name=button)) if button else found).last
        await expect(card).to_be_visible(timeout=3 * TIMEOUT)  # each test takes half a minute
        await self._take(card, name)
        await self._page.get_by_role("button", name="Close thread").click()

    async def _reboot(self) -> None:
        """Do what reboots nodes on this site: the simulated host boots again, with its GPU."""
        kube, state = self._environment.kubernetes, self._environment.world.state
        assert kube is not None
        async with asyncio.timeout(TIMEOUT / 1000):
            while not _is_asked(kube):  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(0.2)
        state.hosts[NODE].booted = state.now
        self._environment.end_fault("xid")

    async def _be(self, person: str) -> None:
        await self._page.set_viewport_size({"width": 1200, "height": 1300})
        await self._page.goto(f"{self._environment.slack.page}?as={person}")
        await self._page.wait_for_selector("body[data-ready]")
        await self._page.get_by_role("button", name="gpu-alerts").first.click()


def _is_asked(kube: KubernetesLookalike) -> bool:
    node = kube.get("nodes", "", NODE)
    return node is not None and ASKED in (node["metadata"].get("annotations") or {})


@asynccontextmanager
async def _scripts_print(environment: Environment) -> AsyncIterator[None]:
    """Let the pods of scripts write what PRINTED has; the world ends each after half a minute."""
    kube, journal = environment.kubernetes, environment.world.journal
    assert kube is not None

    async def write() -> None:
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

    async with beside(write()):
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    return run(take_pictures, arguments, program="broken_node_screenshots", of="a broken node")


if __name__ == "__main__":
    sys.exit(main())
