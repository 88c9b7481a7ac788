"""The runbooks: their commands exist, their queries parse, and their links lead to existing pages."""

import re
from pathlib import Path

import pytest

from alerts.loading.promql import find_error
from bot.evaluation.rulebook import check_action
from tests.alerts.packs.shipped import RUNBOOKS, shipped_rules

PAGES = sorted(path for path in RUNBOOKS.glob("*.md") if path.name != "README.md")
EVERY = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
SECTIONS = [
    "Meaning",
    "Impact",
    "Diagnosis",
    "Mitigation",
    "What not to do",
    "Resolved when",
    "Sources",
]
WHY_NO_BUTTON = "Why no button"  # of a page with a rule that suggests no command that plans


def test_each_page_is_named_by_a_rule() -> None:
    assert {page.stem for page in PAGES} == {rule.template.runbook for rule in shipped_rules().values()}


@EVERY
def test_a_page_has_the_same_sections_in_the_same_order(page: Path) -> None:
    found = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    where = SECTIONS.index("Resolved when")
    assert found in (SECTIONS, [*SECTIONS[:where], WHY_NO_BUTTON, *SECTIONS[where:]])


@EVERY
def test_a_page_names_the_alerts_that_lead_to_it(page: Path) -> None:
    alerts = page.read_text(encoding="utf-8").partition("Alerts: ")[2].partition("\n")[0]

    assert set(re.findall(r"`(\w+)`", alerts)) == {
        rule.name for rule in shipped_rules().values() if rule.template.runbook == page.stem
    }


@EVERY
def test_a_page_has_commands_that_exist(page: Path) -> None:
    lines = re.findall(r"/yard ([^`\n]+)", page.read_text(encoding="utf-8"))

    assert lines
    assert {line: error for line in lines if (error := check_action(line))} == {}


@EVERY
def test_a_page_has_queries_that_parse(page: Path) -> None:
    blocks = re.findall(r"```promql\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)

    for query in "".join(blocks).splitlines():
        assert find_error(query) is None, query


@EVERY
def test_a_page_links_to_existing_pages(page: Path) -> None:
    for target in re.findall(r"\]\(([\w-]+\.md)\)", page.read_text(encoding="utf-8")):
        assert (RUNBOOKS / target).is_file()


@EVERY
def test_a_page_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 90
