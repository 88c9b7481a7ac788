"""The Chinese words of bot/language/README.md: one word for one thing in every catalogue."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from bot.language.message_catalogue import entries
from bot.language.po import Translation
from tests.house.conftest import ROOT

_ROW = re.compile(r"^\|(?P<english>[^|]+)\|(?P<chinese>[^|]+)\|(?P<banned>[^|]*)\|$", re.MULTILINE)
_NAMES = re.compile(r"`[^`]*`|\{[^}]*\}|\S*[./_=]\S+|--\S+")  # code, holes, paths and settings
# What the English has as a part of another thing, or as a field of its own.
EXEMPT = {
    "no node yet": {"node"},
    "names were not resolved (DNS)": {"resolved"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    english: tuple[str, ...]
    chinese: tuple[str, ...]
    banned: tuple[str, ...]

    def is_said_in(self, english: str) -> bool:
        words = "|".join(map(re.escape, self.english))
        return re.search(rf"(?<![\w-])(?:{words})(?:s|es|d|ed|ing|ion)?(?![\w-])", english, re.I) is not None


def rows() -> Sequence[Row]:
    page = (ROOT / "bot/language/README.md").read_text(encoding="utf-8")
    cells = [[_words(cell) for cell in match.groups()] for match in _ROW.finditer(page)]
    return [Row(english=one, chinese=two, banned=three) for one, two, three in cells[2:]]


def _words(cell: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in cell.split(",") if word.strip())


def wrong_words(entry: Translation, table: Sequence[Row]) -> Iterator[str]:
    """Yield what is said with another word than the table's."""
    english = _NAMES.sub(" ", f"{entry.id} {entry.plural}")
    said = [row for row in table if row.is_said_in(english)]
    allowed = [word for row in said for word in row.chinese]
    for chinese in entry.said:
        bare = _NAMES.sub(" ", chinese)
        for row in said:
            known = any(word in chinese for word in row.chinese)
            if not known and not EXEMPT.get(entry.id, set()) & set(row.english):
                yield f"{row.english[0]} is not {' or '.join(row.chinese)}"
        for word in {word for row in table for word in row.banned}:
            is_there = re.search(rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])", bare)
            if is_there and not any(word in one for one in allowed):
                yield f"{word} is not of the table"


def test_each_thing_has_its_word() -> None:
    table = rows()
    found = {entry.id: list(wrong_words(entry, table)) for entry in entries("zh").values()}
    assert {id: wrong for id, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("english", "chinese", "wrong"),
    [
        ("Incident {incident} is open.", "故障 {incident} 未恢复。", []),
        ("{incident} is an incident.", "{incident} 是事件。", ["incident is not 故障", "事件 is not of the table"]),
        ("{count} events", "{count} 个事件", []),
        ("{node} is cordoned", "{node} 被 cordon", ["cordon is not", "cordon is not of the table"]),
        ("the right `cordon` of {limit}", "权限 `cordon`，{limit}", []),
        ("look at /metrics and automation.reclaim", "请查看 /metrics 和 automation.reclaim", []),
    ],
)  # fmt: skip
def test_a_wrong_word_is_found(english: str, chinese: str, wrong: list[str]) -> None:
    found = list(wrong_words(Translation(id=english, said=(chinese,)), rows()))
    assert len(found) == len(wrong)
    assert all(one.startswith(begin) for one, begin in zip(found, wrong, strict=True))
