"""A person on call handles an incident in a real browser: reads the card, cordons, and sees it resolve."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, ViewportSize, expect

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.scenario import load_scenarios
from tests.real.servers.browser import be, chromium
from tests.support.demo_stage import ENDS, RULES_EVERY

pytestmark = pytest.mark.real
PHONE = ViewportSize(width=400, height=860)
TIMEOUT = 120_000  # milliseconds, for the world and the rules; the machine may be busy
# The lines of text as laid out in the window, not as sent: words whose boxes share a row.
LINES = """
body => {
  const rows = [];
  const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    for (const word of node.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      for (const box of range.getClientRects()) {
        const middle = (box.top + box.bottom) / 2;
        const row = rows.find(one => Math.abs(one.middle - middle) < 8);
        if (row) row.words.push(word[0]); else rows.push({middle, words: [word[0]], right: 0});
        const found = rows.find(one => Math.abs(one.middle - middle) < 8);
        found.right = Math.max(found.right, box.right);
      }
    }
  }
  return rows.sort((a, b) => a.middle - b.middle).map(one => [one.words.join(" "), one.right]);
}
"""


@pytest.fixture
async def stage(tmp_path: Path, chromium_path: Path) -> AsyncIterator[Environment]:
    options = EnvironmentOptions(folder=tmp_path, ends=ENDS, rules_every=RULES_EVERY)
    async with start_environment(options) as stage:
        yield stage


@pytest.fixture
async def page(stage: Environment, chromium_path: Path) -> AsyncIterator[Page]:
    """Open the look-alike's page as dana, at a phone's size. An error on the page fails the test."""
    errors: list[str] = []
    async with chromium(chromium_path) as browser:
        page = await browser.new_page(viewport=PHONE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        await be(page, stage.slack.page, "dana")
        yield page
    assert errors == []


def message(page: Page, words: str) -> Locator:
    """Return the newest message of the channel with these words."""
    return page.get_by_role("main").get_by_test_id("message").filter(has_text=words).last


async def first_lines(card: Locator, count: int) -> list[str]:
    """Return the first lines under the author's name; no line may be wider than the window."""
    lines = await card.evaluate(LINES)
    assert all(right <= PHONE["width"] for _, right in lines)
    texts = [words for words, _ in lines]
    author = next(number for number, words in enumerate(texts) if "yardmaster" in words)
    return texts[author + 1 : author + 1 + count]


async def test_a_person_cordons_from_a_card_and_sees_it_resolve(stage: Environment, page: Page) -> None:
    scenario = load_scenarios()["hot-gpu"]
    for fault in scenario.faults:
        stage.start_fault(fault)
    first = message(page, "is hot")
    await expect(first).to_be_visible(timeout=TIMEOUT)
    name = await first.get_attribute("data-ts")
    card = page.get_by_role("main").locator(f"article[data-ts='{name}']")
    await expect(card).to_contain_text("gpu-b03 is too hot: ", timeout=TIMEOUT)

    summary, users, next_step = await first_lines(card, 3)
    assert "gpu-b03 is too hot" in summary
    assert users.startswith("Affects: vision-detr/detr 32 GPUs, @ana")
    assert next_step.startswith("Next: Cordon gpu-b03")

    await card.get_by_role("button", name="Cordon gpu-b03").click()
    preview = message(page, "Cordon gpu-b03?")
    await expect(preview).to_contain_text("It will", timeout=TIMEOUT)
    await expect(preview).to_contain_text("no new pods are scheduled there")
    await expect(preview).to_contain_text("Nothing is done yet")
    assert stage.kubernetes is not None
    assert not unschedulable(stage)

    await preview.get_by_role("button", name="Confirm").click()
    await expect(card).to_contain_text("Done: node cordon gpu-b03", timeout=TIMEOUT)
    await expect(card.get_by_role("button", name="Cordon gpu-b03")).to_have_count(0)
    assert unschedulable(stage)

    await card.get_by_role("button", name="repl").first.click()
    thread = page.get_by_role("complementary", name="Thread")
    await expect(thread).to_contain_text("Cordon gpu-b03: done", timeout=TIMEOUT)
    await expect(thread.get_by_role("button", name="Undo")).to_be_visible()
    await page.get_by_role("button", name="Close thread").click()

    for fault_name in scenario.end_faults:
        stage.end_fault(fault_name)
    await expect(card).to_contain_text("Resolved after", timeout=TIMEOUT)
    await expect(card).to_contain_text("gpu-b03 was too hot")
    await expect(card).to_contain_text("Meanwhile: node cordon gpu-b03")
    await expect(card).to_contain_text("by @dana")
    await expect(card.get_by_role("button", name="Uncordon gpu-b03")).to_be_visible()
    await expect(card.get_by_role("button", name="Why?")).to_have_count(0)


def unschedulable(stage: Environment) -> bool:
    """Return whether the node is unschedulable in the API."""
    assert stage.kubernetes is not None
    node = stage.kubernetes.get("nodes", "", "gpu-b03")
    assert node is not None
    return bool(node["spec"].get("unschedulable"))
