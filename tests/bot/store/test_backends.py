"""Completeness of the store back ends, which alone know their databases. Each test names a step that was forgotten."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import bot.store.backends
from bot.store.backends.backend import Backend
from bot.store.backends.backend_catalogue import BACKENDS, backend_of
from tests.bot.store.conftest import UNTESTED, URLS
from tests.support.quick_yaml import from_yaml

ROOT = Path(__file__).parents[3]


def backends_of_files() -> set[type[Backend]]:
    """Return the back ends that the files of the folder define, whether the catalogue has them or not."""
    package = bot.store.backends
    modules = [import_module(f"{package.__name__}.{one.name}") for one in iter_modules(package.__path__)]
    return {
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Backend) and one is not Backend
    }


FILES = backends_of_files()
SCHEMES = {one.scheme for one in FILES}


def comparisons(text: str) -> Iterator[str]:
    """Yield the places of a module where a text is compared with the name of a database."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare | ast.MatchValue):
            for one in ast.walk(node):
                if isinstance(one, ast.Constant) and one.value in SCHEMES:
                    yield f"line {node.lineno}: {one.value}"


def test_every_back_end_of_a_file_is_in_the_catalogue() -> None:
    forgotten = {one.__name__ for one in FILES - {*BACKENDS}}
    assert not forgotten, f"add to BACKENDS of bot/store/backends/backend_catalogue.py: {forgotten}"


def test_the_contract_is_tested_on_every_back_end() -> None:
    forgotten = SCHEMES - URLS.keys() - UNTESTED.keys()
    assert not forgotten, f"add to URLS of tests/bot/store/conftest.py: {forgotten}"
    assert URLS.keys().isdisjoint(UNTESTED)


def test_the_docs_say_how_its_url_is_written() -> None:
    meaning = from_yaml((ROOT / "docs/meanings.yaml").read_text(encoding="utf-8"))["store.url"]
    forgotten = [
        one.example for one in FILES if one.scheme not in UNTESTED and f"`{one.scheme}" not in meaning
    ]
    assert not forgotten, f"explain at store.url in docs/meanings.yaml: {forgotten}"


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda one: one.scheme)
def test_its_example_is_one_of_its_urls(backend: type[Backend]) -> None:
    found = backend_of(backend.example)
    assert isinstance(found, backend)
    found.check()


def test_nothing_else_asks_which_database_it_is() -> None:
    asked = {
        str(path.relative_to(ROOT)): found
        for path in sorted((ROOT / "bot").rglob("*.py"))
        if (found := list(comparisons(path.read_text(encoding="utf-8"))))
    }
    assert not asked, f"ask the back end (bot/store/backends/backend.py): {asked}"


def test_a_comparison_is_found() -> None:
    assert list(comparisons('if engine.dialect.name == "sqlite": pass')) == ["line 1: sqlite"]
    assert list(comparisons('match name:\n  case "postgresql": pass')) == ["line 2: postgresql"]
