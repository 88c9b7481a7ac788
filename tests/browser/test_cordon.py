"""A person on call reads a card in a real browser, presses what it offers, confirms, and sees it come to an end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, ViewportSize, async_playwright, expect

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.scenario import load_scenarios
from tests.real.servers.chromium import CHROMIUM_FLAGS

pytestmark = pytest.mark.real
TELEPHONE = ViewportSize(width=400, height=860)
PATIENCE = 120_000  # milliseconds, for what the world and the rules take; the machine may be busy
# The lines of text as they are laid out in the window, not as they were sent: words whose boxes share a row.
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
    async with start_environment(EnvironmentOptions(folder=tmp_path)) as stage:
        yield stage


@pytest.fixture
async def page(stage: Environment, chromium_path: Path) -> AsyncIterator[Page]:
    """The look-alike's page as dana, on a telephone; an error on the page fails the test."""
    errors: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(chromium_path), args=list(CHROMIUM_FLAGS)
        )
        page = await browser.new_page(viewport=TELEPHONE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        await page.goto(f"{stage.slack.page}?as=dana")
        await page.wait_for_selector("body[data-ready]")
        yield page
        await browser.close()
    assert errors == []


def message(page: Page, words: str) -> Locator:
    """The newest message of the channel with these words."""
    return page.get_by_role("main").get_by_test_id("message").filter(has_text=words).last


async def first_lines(card: Locator, count: int) -> list[str]:
    """What stands first under the author's name; nothing may stick out of the window."""
    lines = await card.evaluate(LINES)
    assert all(right <= TELEPHONE["width"] for _, right in lines)
    texts = [words for words, _ in lines]
    author = next(number for number, words in enumerate(texts) if "yardmaster" in words)
    return texts[author + 1 : author + 1 + count]


async def test_a_card_is_read_cordoned_from_and_seen_to_its_end(stage: Environment, page: Page) -> None:
    scenario = load_scenarios()["hot-gpu"]
    for fault in scenario.happens:
        stage.break_it(fault)
    first = message(page, "is hot")
    await expect(first).to_be_visible(timeout=PATIENCE)
    name = await first.get_attribute("data-ts")
    card = page.get_by_role("main").locator(f"article[data-ts='{name}']")
    await expect(card).to_contain_text("throttles", timeout=PATIENCE)

    what, hurt, do = await first_lines(card, 3)
    assert "gpu-b03 is hot" in what
    assert hurt.startswith("Hurts: vision-detr/detr (32 GPUs, @ana")
    assert do.startswith("Next: Cordon gpu-b03")

    await card.get_by_role("button", name="Cordon gpu-b03").click()
    preview = message(page, "Cordon gpu-b03?")
    await expect(preview).to_contain_text("It will", timeout=PATIENCE)
    await expect(preview).to_contain_text("nothing new is placed there")
    await expect(preview).to_contain_text("Nothing is done yet")
    assert stage.kubernetes is not None
    assert not unschedulable(stage)

    await preview.get_by_role("button", name="Confirm").click()
    await expect(card).to_contain_text("Done: node cordon gpu-b03", timeout=PATIENCE)
    await expect(card.get_by_role("button", name="Cordon gpu-b03")).to_have_count(0)
    assert unschedulable(stage)

    await card.get_by_role("button", name="repl").first.click()
    thread = page.get_by_role("complementary", name="Thread")
    await expect(thread).to_contain_text("Cordon gpu-b03: done", timeout=PATIENCE)
    await expect(thread.get_by_role("button", name="Undo")).to_be_visible()
    await page.get_by_role("button", name="Close thread").click()

    for fault_name in scenario.mends:
        stage.mend(fault_name)
    await expect(card).to_contain_text("Resolved after", timeout=PATIENCE)
    await expect(card).to_contain_text("Fixed by node cordon gpu-b03")
    await expect(card).to_contain_text("by @dana")
    await expect(card.get_by_role("button", name="Why?")).to_have_count(0)


def unschedulable(stage: Environment) -> bool:
    """What the API says of the node."""
    assert stage.kubernetes is not None
    node = stage.kubernetes.get("nodes", "", "gpu-b03")
    assert node is not None
    return bool(node["spec"].get("unschedulable"))
