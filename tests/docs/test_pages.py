"""This file proves that what the pages point at is there: links, files, recipes of the command line, decisions."""

import re
from pathlib import Path

import pytest

from bot.cli import main
from tests.docs.conftest import ROOT, Page, all_pages

_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
_PICTURE = re.compile(r"!\[(?P<words>[^\]\n]*)\]\((?P<target>[^)\s]+)\)")
_CODE = re.compile(r"`(?P<code>[^`\n]+)`")
_FOLDERS = ("alerts", "bot", "changes", "collectors", "commands", "demo", "docs", "helm", "tests")
_PAGES = [pytest.param(page, id=page.name) for page in all_pages()]


def _anchors(text: str) -> set[str]:
    """The names that headings are known by."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", _PAGES)
def test_every_link_leads_somewhere(page: Page) -> None:
    lost = []
    for found in _LINK.finditer(page.prose):
        target, _, anchor = found["target"].partition("#")
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file = (page.path.parent / target).resolve() if target else page.path
        if not file.exists() or (anchor and anchor not in _anchors(file.read_text())):
            lost.append(found["target"])
    assert lost == []


def test_every_picture_is_there(pages: list[Page]) -> None:
    pictures = {
        (page.path.parent / found["target"]).resolve()
        for page in pages
        for found in _PICTURE.finditer(page.prose)
    }
    assert [picture.name for picture in sorted(pictures) if not picture.is_file()] == []


def test_every_picture_has_words_for_those_who_cannot_see_it(pages: list[Page]) -> None:
    found = [found["words"] for page in pages for found in _PICTURE.finditer(page.prose)]
    assert found
    assert all(len(words) > 10 for words in found)


@pytest.mark.parametrize("page", _PAGES)
def test_every_file_that_is_named_is_there(page: Page) -> None:
    named = [found["code"].partition(":")[0] for found in _CODE.finditer(page.prose)]
    paths = [name for name in named if re.fullmatch(rf"(?:{'|'.join(_FOLDERS)})/[\w./-]+", name)]
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_program_call_that_is_named_exists(pages: list[Page]) -> None:
    calls = {
        (page.name, found[1])
        for page in pages
        for found in re.finditer(r"(?:^|`)yardmaster ([a-z]+)\b", page.text, re.MULTILINE)
    }
    known = {*main.commands, "demo"}  # the demo joins by its entry point, once it is installed
    assert len(calls) > 3
    assert [call for call in sorted(calls) if call[1] not in known] == []


def test_no_page_names_a_place_of_one_machine(pages: list[Page]) -> None:
    places = re.compile(r"(?<![\w.])/(?:work|root|home)/|/tmp/")
    assert [page.name for page in pages if places.search(page.text)] == []


def _decisions() -> list[Path]:
    return sorted((ROOT / "docs" / "adr").glob("*.md"))


@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in _decisions()])
def test_a_decision_has_its_situation_choice_and_price(file: Path) -> None:
    text = file.read_text()
    assert text.startswith(f"# {file.name[:4]}: ")
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == ["Situation", "Choice", "Price"]


def test_decisions_are_numbered_without_gaps() -> None:
    assert [int(file.name[:4]) for file in _decisions()] == list(range(1, len(_decisions()) + 1))
