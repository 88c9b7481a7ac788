"""The English of comments, docstrings, test names and pages: wording that no native writes, with what to write instead.

Strings of the program are not looked at: what people read in the product is written and translated elsewhere.
"""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.house.conftest import ROOT, tracked

# Each pattern with what to write instead. Patterns match in lower case; names are read as words.
INSTEAD = {
    r"mend(?:s|ed|ing)?": "fix",
    r"clocks? (?:that|which) nobody (?:can set|sets)": "the monotonic clock",
    r"clocks? that (?:is|was) set": "a clock step",
    r"(?:is|are|be) no help": "does not help",
    r"of no use": "unusable",
    r"for who": "for people who, for programs that",
    r"(?:it|that|what) is so(?![ -][a-z])": "it holds",
    r"already so": "already done, already in this state",
    r"anew": "again",
    r"well again": "recovered, healthy again",
    r"nothing of us": "we were down",
    r"what is left of": "the rest of, what remains of",
    r"ha(?:s|ve) the last word": "manages it",
    r"(?<!plugin\s)offer(?:s|ed|ing)?": "suggest",  # but of GPUs of a device plugin
    r"(?:is|are) no (?:training|error|fault|incident|file|number|name|node|pod|workload)s?": "is not a",
    r"(?<=[.,;:]\s)nor (?:do|does|did|is|are|was|were|has|have|can|may|must|will)": "and … not",
}
_KEPT_IN_TEST_NAMES = re.compile(r"\boffer(?:s|ed)?\b")  # promises and reports name tests by their ids
NOT_A_NOUN = ("What ", "How ", "Which ", "Whether ", "When ", "Where ", "Why ", "Who ", "Whom ", "Whose ")
_FOUND = re.compile(
    "|".join(
        rf"(?<![\w`-])(?P<p{number}>{one.replace(' ', ' +')})(?![\w`])" for number, one in enumerate(INSTEAD)
    )
)
_OPENINGS = tuple(f'"""{word}' for word in NOT_A_NOUN)
_THERE = re.compile(r"there (?:is|are) no\b")
_CODE = re.compile(r"``.*?``|`[^`]*`|\"[^\"]*\"|“[^”]*”")
_LEFT_OUT = re.compile(
    r"<!-- generated.*?<!-- /generated -->|<!-- results: begin.*?<!-- results: end -->|^ *```.*?^ *```",
    re.DOTALL | re.MULTILINE,
)
PAGES = ("*.md", ":!changes")


def _as_words(text: str) -> str:
    """Return a text as it is searched: in lower case, on one line, names as words."""
    return re.sub(r"[\n_]", " ", text.lower())


def wordings(text: str) -> Iterator[tuple[int, str]]:
    """Yield each such wording in a text, with the number of its line. Code and quotations are left out."""
    plain = _CODE.sub(lambda match: re.sub(r"[^\n]", "`", match[0]), text.lower())
    plain = _THERE.sub(lambda match: "`" * len(match[0]), plain)
    for match in _FOUND.finditer(_as_words(plain)):
        instead = list(INSTEAD.values())[int(str(match.lastgroup)[1:])]
        yield plain.count("\n", 0, match.start()) + 1, f"{match[0]!r}: write {instead!r}"


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments, docstrings and test names of a module, each with its line."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if docstring := ast.get_docstring(node, clean=False):
                yield node.body[0].lineno, docstring
            if not isinstance(node, ast.Module) and node.name.lower().startswith("test"):
                yield node.lineno, _KEPT_IN_TEST_NAMES.sub("", node.name.replace("_", " "))


def found_in(source: str) -> list[str]:
    """Return what is wrong in a module's prose, as `line: wording`."""
    if not _FOUND.search(_as_words(source)) and not source.startswith(_OPENINGS):
        return []
    found = [
        f"{line + offset - 1}: {wording}"
        for line, text in prose(source)
        for offset, wording in wordings(text)
    ]
    docstring = ast.get_docstring(ast.parse(source))
    if docstring and docstring.startswith(NOT_A_NOUN):
        found.append(f"1: {docstring.split()[0]!r}: begin with the thing that the module is or holds")
    return found


def found_on(page: str) -> list[str]:
    """Return what is wrong on a page, as `line: wording`. Generated tables and code are left out."""
    text = _LEFT_OUT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), page)
    return [f"{line}: {wording}" for line, wording in wordings(text)]


def read(patterns: Sequence[str], reader: Callable[[str], list[str]]) -> str:
    """Return what a reader finds in the files, each on a line with its place."""
    return "\n".join(
        f"{path}:{one}"
        for path in tracked(*patterns)
        for one in reader((ROOT / path).read_text(encoding="utf-8"))
    )


def test_comments_docstrings_and_test_names_are_plain_english() -> None:
    assert read(["*.py"], found_in) == ""


def test_pages_are_plain_english() -> None:
    assert read(PAGES, found_on) == ""


@pytest.mark.parametrize(
    "source",
    [
        '"""What a card shows."""',
        '"""Whether it is due."""',
        "x = 1  # by the clock that nobody can set",
        "# a node that was\n# mended",
        'def f() -> None:\n    """Return a workload that is no training."""',
        "def test_a_card_is_posted_anew() -> None: ...",
        '"""A card, and what it offers."""',
        '"""A module.\n\nIt is read, nor is it\nwritten. Repairing it is no help for who reads it."""',
    ],
)
def test_wording_that_no_native_writes_is_found(source: str) -> None:
    assert found_in(source)


@pytest.mark.parametrize(
    "source",
    [
        'x = "it mends nothing"  # recommend, amended, renewed',
        "def test_what_is_done_is_not_offered() -> None: ...",
        '"""A finding: `fix` says how to fix it, neither more nor less. There is no node, and it is so large."""',
        'def f() -> None:\n    """Whether it is due. It is no longer there."""',
    ],
)
def test_plain_english_is_not(source: str) -> None:
    assert found_in(source) == []


def test_a_page_is_read_without_its_code_and_generated_tables() -> None:
    page = (
        'It mends.\n```\nmend\n```\n<!-- generated: x -->\nmend\n<!-- /generated -->\nAn `anew`.\nA "mend".'
    )
    assert [one.partition(":")[0] for one in found_on(page)] == ["1"]


def test_what_stands_beside_code_on_a_page_is_read() -> None:
    page = "```\nmend it\n```\n\nMend the cause of `it`.\n"
    assert found_on(page) == ["5: 'mend': write 'fix'"]
