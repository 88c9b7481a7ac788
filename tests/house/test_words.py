"""Words that the project does not use: docs/glossary.md has the ones that its readers know."""

import re

import pytest

from tests.house.conftest import ROOT, tracked

# Each with the word to use instead. Banned in names, texts, comments and docs.
BANNED = {
    "deed": "action",
    "deeds": "actions",
    "desk": "context",
    "doer": "plan runner",
    "gesture": "interaction",
    "gestures": "interactions",
    "heard": "received",
    "hurt": "affected",
    "hurts": "affects",
    "keeper": "recorder",
    "mangling": "unescaping",
    "patience": "timing, timeout",
    "performer": "executor",
    "remedies": "actions",
    "remedy": "action",
    "robot": "automation",
    "robots": "automation",
    "spoken": "markup",
    "surroundings": "context",
    "telling": "delivery",
    "told": "delivered, reported, shown",
    "twins": "duplicates",
    "this file": "say what the module is for, without these words",
}
# Files that need a banned word: the list itself, the reader's glossary, a refused annotation, what others wrote.
EXEMPT = {
    "tests/house/test_words.py": set(BANNED),
    "docs/glossary.md": set(BANNED),
    "alerts/loading/own_annotations.py": {"remedy"},
    "tests/commands/core/matching/strangers_lines.yaml": set(BANNED),  # in the words of people
    "tests/alerts/loading/test_yard_rules.py": {"remedy"},
    "demo/lookalikes/slack/page/emoji.js": {"robot"},
    "tests/collectors/facts/secrets/forms.yaml": {"robot"},  # in addresses of vendors
}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BANNED = re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, BANNED))})(?![a-z])")


def banned_in(text: str) -> list[str]:
    """Return the banned words in a text, each as `line: word`; also those that are part of a name."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = _CAMEL.sub(" ", line).replace("_", " ").lower()
        found += [f"{number}: {match[0]}" for match in _BANNED.finditer(words)]
    return found


def test_no_banned_word_is_used() -> None:
    paths = tracked("*.py", "*.md", "*.yaml", "*.yml", "*.js", "*.html", "*.toml")
    assert len(paths) > 1_000
    found = [
        f"{path}:{one}"
        for path in paths
        for one in banned_in((ROOT / path).read_text(encoding="utf-8"))
        if one.partition(": ")[2] not in EXEMPT.get(str(path), set())
    ]
    assert found == [], "docs/glossary.md has the words"


@pytest.mark.parametrize(
    "text",
    [
        "a deed",
        "class DeedState:",
        "def was_told(): ...",
        "This file has the deck.",
        "`robots` in the settings",
    ],
)
def test_a_banned_word_is_found(text: str) -> None:
    assert banned_in(text)


@pytest.mark.parametrize("text", ["indeed", "profile", "the twinstick", "a heardsman"])
def test_a_word_that_only_holds_one_is_not(text: str) -> None:
    assert banned_in(text) == []
