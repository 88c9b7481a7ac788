"""The documentation pages, for the tests of this folder."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^ *```(?P<language>\w*)\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A Markdown file. `prose` is its text without code blocks and comments."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def prose(self) -> str:
        return _COMMENT.sub("", _FENCE.sub("", self.text))

    def blocks(self, language: str) -> list[str]:
        """The code blocks of a language, without the indentation of the list that contains them."""
        return [
            _dedent(fence["text"]) for fence in _FENCE.finditer(self.text) if fence["language"] == language
        ]


def _dedent(text: str) -> str:
    lines = text.splitlines()
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines) + "\n"


def all_pages() -> list[Page]:
    """Every Markdown page of the root, docs/, changes/, helm/ and go_templates/."""
    files = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "changes").glob("*.md"),
        *(ROOT / "helm").rglob("*.md"),
        *(ROOT / "go_templates").glob("*.md"),
    ]
    return [Page(path=file, text=file.read_text(encoding="utf-8")) for file in sorted(files)]


@pytest.fixture(scope="session")
def pages() -> list[Page]:
    return all_pages()


@pytest.fixture(scope="session")
def docs(pages: list[Page]) -> dict[str, str]:
    """The text of each page, by its path from the root."""
    return {page.name: page.text for page in pages}
