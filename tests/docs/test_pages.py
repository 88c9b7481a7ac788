"""References of the pages, all of which exist: links, images, files, subcommands, decisions."""

import re
from pathlib import Path

import pytest

from bot.cli import main
from tests.docs.conftest import ROOT, Page

_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
_IMAGE = re.compile(r"!\[(?P<alt>[^\]\n]*)\]\((?P<target>[^)\s]+)\)")
_CODE = re.compile(r"`(?P<code>[^`\n]+)`")
_FOLDERS = (
    "alerts",
    "bot",
    "changes",
    "collectors",
    "commands",
    "demo",
    "docs",
    "go_templates",
    "helm",
    "tests",
)


def _anchors(text: str) -> set[str]:
    """The anchors of the headings."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_link_leads_somewhere(pages: list[Page]) -> None:
    broken = []
    for page in pages:
        for link in _LINK.finditer(page.prose):
            target, _, anchor = link["target"].partition("#")
            if target.startswith(("http://", "https://", "mailto:")):
                continue
            file = (page.path.parent / target).resolve() if target else page.path
            if not file.exists() or (anchor and anchor not in _anchors(file.read_text())):
                broken.append((page.name, link["target"]))
    assert broken == []


def test_every_image_exists(pages: list[Page]) -> None:
    images = {
        (page.path.parent / image["target"]).resolve()
        for page in pages
        for image in _IMAGE.finditer(page.prose)
    }
    assert [image.name for image in sorted(images) if not image.is_file()] == []


def test_every_image_has_an_alternative_text(pages: list[Page]) -> None:
    texts = [image["alt"] for page in pages for image in _IMAGE.finditer(page.prose)]
    assert texts
    assert all(len(text) > 10 for text in texts)


def test_every_file_that_is_named_exists(pages: list[Page]) -> None:
    named = [
        (page.name, code["code"].partition(":")[0]) for page in pages for code in _CODE.finditer(page.prose)
    ]
    is_path = re.compile(rf"(?:{'|'.join(_FOLDERS)})/[\w./-]+")
    paths = [(page, name) for page, name in named if is_path.fullmatch(name)]
    assert len(paths) > 50
    assert [(page, path) for page, path in paths if not (ROOT / path).exists()] == []


def test_every_subcommand_that_is_named_exists(pages: list[Page]) -> None:
    calls = {
        (page.name, call[1])
        for page in pages
        for call in re.finditer(r"(?:^|`)yardmaster ([a-z]+)\b", page.text, re.MULTILINE)
    }
    known = {*main.commands, "demo"}  # the demo adds itself by an entry point, where it is installed
    assert len(calls) > 3
    assert [call for call in sorted(calls) if call[1] not in known] == []


def test_no_page_names_a_path_of_one_machine(pages: list[Page]) -> None:
    paths = re.compile(r"(?<![\w.])/(?:work|root|home)/|/tmp/")
    assert [page.name for page in pages if paths.search(page.text)] == []


def _decisions() -> list[Path]:
    return sorted((ROOT / "docs" / "adr").glob("*.md"))


@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in _decisions()])
def test_a_decision_has_its_situation_choice_and_price(file: Path) -> None:
    text = file.read_text()
    assert text.startswith(f"# {file.name[:4]}: ")
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == ["Situation", "Choice", "Price"]


def test_decisions_are_numbered_without_gaps() -> None:
    assert [int(file.name[:4]) for file in _decisions()] == list(range(1, len(_decisions()) + 1))
