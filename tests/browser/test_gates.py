"""The gates in a real browser: a trial's card, a breaker, a second person, and a plan over its budget."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Locator, Page, expect

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.scenario import Fault
from docs.gate_screenshots import GATES, HOT
from docs.screenshots import newest_message, type_line
from tests.real.servers.browser import be, chromium
from tests.support.demo_stage import ENDS, RULES_EVERY

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]
TIMEOUT = 120_000  # milliseconds, for the world and the rules; the machine may be busy


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory, chromium_path: Path) -> AsyncIterator[Environment]:
    """One demo for all: the trial comes first, as what is cordoned counts in its breaker."""
    options = EnvironmentOptions(
        folder=tmp_path_factory.mktemp("gates"), ends=ENDS, rules_every=RULES_EVERY, more=GATES
    )
    async with start_environment(options) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="module")
async def page(stage: Environment, chromium_path: Path) -> AsyncIterator[Page]:
    """Open the look-alike's page as dana. An error on the page fails the test."""
    errors: list[str] = []
    async with chromium(chromium_path) as browser:
        page = await browser.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        await be(page, stage.slack.page, "dana")
        yield page
    assert errors == []


async def opened(page: Page, button: Locator) -> Locator:
    """Return the form that a button opens; press again where Slack's three seconds were over on a busy machine."""
    form = page.get_by_role("dialog")
    async with asyncio.timeout(TIMEOUT / 1000):
        while True:
            await button.click()
            try:
                await expect(form).to_be_visible()
            except AssertionError:
                continue
            return form


def is_cordoned(stage: Environment, name: str) -> bool:
    assert stage.kubernetes is not None
    node = stage.kubernetes.get("nodes", "", name)
    assert node is not None
    return bool(node["spec"].get("unschedulable"))


async def test_a_trial_says_what_it_would_have_done_and_a_person_closes_the_breaker_it_opens(
    stage: Environment, page: Page
) -> None:
    for node in HOT:
        leak = {"node": node, "minutes": 0.5, "share": 0.95}
        stage.start_fault(Fault(fault="memory_leak", parameters=leak))
    for node in HOT:
        incident = newest_message(page, f"{node} is almost out of memory")
        await incident.get_by_role("button", name="repl").first.click(timeout=TIMEOUT)
        thread = page.get_by_role("complementary", name="Thread")
        trial = thread.get_by_test_id("message").filter(has_text="would have been done").last
        await expect(trial).to_contain_text(f"Cordon {node}", timeout=TIMEOUT)
        await expect(trial).to_contain_text("0 of 1 node out of service")
        await expect(trial.get_by_role("button", name="Undo")).to_have_count(0)
        await page.get_by_role("button", name="Close thread").click()
        assert not is_cordoned(stage, node), "nothing is done in trial"

    breaker = newest_message(page, "would be stopped (trial)")
    await expect(breaker).to_contain_text("2 actions within an hour", timeout=TIMEOUT)
    form = await opened(page, breaker.get_by_role("button", name="Close the breaker…"))
    await form.get_by_role("textbox", name="Reason").fill("the leak is known")
    await form.get_by_role("button", name="Do it").click()
    closed = newest_message(page, "Automation of cluster prod-a runs again")
    await expect(closed).to_contain_text("closed it: the leak is known", timeout=TIMEOUT)


async def test_a_drain_waits_for_a_second_person_and_the_one_who_asked_is_not_one(
    stage: Environment, page: Page
) -> None:
    await type_line(page, "/yard node drain gpu-b03 --reason fans")
    preview = newest_message(page, "A second person has to confirm it")
    await expect(preview).to_contain_text("it ends vision-detr/detr of ana", timeout=TIMEOUT)
    await expect(preview).to_contain_text("At stake")
    await preview.get_by_role("button", name="Confirm").click()
    refused = newest_message(page, "someone else has to confirm")
    await expect(refused).to_be_visible(timeout=TIMEOUT)
    assert not is_cordoned(stage, "gpu-b03")

    await be(page, stage.slack.page, "eli")
    preview = newest_message(page, "A second person has to confirm it")
    await preview.get_by_role("button", name="Confirm").click()
    card = newest_message(page, "Drain gpu-b03: evict 1 pod: done")
    await expect(card).to_contain_text("eli", timeout=TIMEOUT)
    assert is_cordoned(stage, "gpu-b03")


async def test_a_cordon_over_its_budget_says_who_holds_the_rest_and_begins_when_a_node_is_back(
    stage: Environment, page: Page
) -> None:
    for node in ("gpu-a01", "gpu-a02"):
        await type_line(page, f"/yard node cordon {node} --reason fans")
        await newest_message(page, f"Cordon {node}?").get_by_role("button", name="Confirm").click()
    card = newest_message(page, "Cordon gpu-a02: waits")
    await expect(card).to_contain_text("Budget of rack-a: 1 of 1 node out of service", timeout=TIMEOUT)
    await expect(card).to_contain_text("gpu-a01: cordoned by dana", timeout=TIMEOUT)
    assert not is_cordoned(stage, "gpu-a02")
    form = await opened(page, card.get_by_role("button", name="Go over the budget…"))
    await form.get_by_role("textbox", name="Reason").fill("it loses data")
    await form.get_by_role("button", name="Do it").click()
    over = newest_message(page, "It goes over its budget: it loses data")
    await expect(over).to_contain_text("A second person has to confirm it", timeout=TIMEOUT)

    await type_line(page, "/yard node uncordon gpu-a01")
    await newest_message(page, "Uncordon gpu-a01?").get_by_role("button", name="Confirm").click()
    await expect(newest_message(page, "Cordon gpu-a02: done")).to_be_visible(timeout=TIMEOUT)
    assert is_cordoned(stage, "gpu-a02")
