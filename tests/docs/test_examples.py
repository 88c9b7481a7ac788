"""The examples in the docs work: settings load, rules are valid, command lines parse, values render."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from alerts.loading import load
from bot.evaluation.rulebook import read_rulebook, symbols
from bot.settings.loading import read_settings
from commands.command_catalogue import CATALOGUE
from commands.core.parsing import parse_line
from helm.generate import CHART
from tests.docs.conftest import ROOT, all_pages
from tests.packaging_run import RESULT, WAYS
from tests.real.parts.layout import KUBERNETES


def _blocks(language: str, begins: str) -> list[object]:
    return [
        pytest.param(block, id=f"{page.name}, {number}")
        for page in all_pages()
        for number, block in enumerate(page.blocks(language), start=1)
        if block.startswith(begins)
    ]


def test_there_are_examples_of_each_kind() -> None:
    kinds = ("# settings", "# rules: ", "# values")
    assert [kind for kind in kinds if not _blocks("yaml", kind)] == []


@pytest.mark.parametrize("block", _blocks("yaml", "# settings"))
def test_settings_load_and_name_rules_that_exist(block: str, tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(block)
    settings = read_settings(file)
    assert read_rulebook(settings.rules).diagnostics == ()


@pytest.mark.parametrize("block", _blocks("yaml", "# rules: "))
def test_rules_are_valid(block: str) -> None:
    name = block.splitlines()[0].removeprefix("# rules: ")
    loaded = load(block, file=name, symbols=symbols(), own=True)
    assert loaded.diagnostics == ()
    assert loaded.groups


@pytest.mark.parametrize("block", _blocks("yaml", "# values"))
def test_values_render(block: str, tmp_path: Path, helm_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(block)
    argv = (helm_path, "template", "yard", CHART, "--kube-version", KUBERNETES, "--values", file)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_the_ways_to_install_name_what_there_is_and_each_was_tried() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(re.findall(r"'\.\[(\w+)\]'", readme))
    locks = set(re.findall(r"requirements[\w-]*\.lock", readme))
    assert (extras <= set(project["optional-dependencies"]), bool(extras)) == (True, True)
    assert [lock for lock in sorted(locks) if not (ROOT / lock).is_file()] == []
    assert len(locks) == 2
    tried = json.loads(RESULT.read_text(encoding="utf-8"))["ways"]
    assert {way for way, found in tried.items() if "done" in found} == set(WAYS)


def _chat_lines() -> list[str]:
    return [
        line.removeprefix("/yard ").strip()
        for page in all_pages()
        for block in page.blocks("text")
        for line in block.splitlines()
        if line.startswith("/yard ")
    ]


@pytest.mark.parametrize("line", _chat_lines())
def test_chat_lines_parse(line: str) -> None:
    parse_line(line, CATALOGUE)


@pytest.mark.parametrize("command", CATALOGUE, ids=lambda command: command.name)
def test_every_example_is_a_line_of_its_command(command: object) -> None:
    known = next(candidate for candidate in CATALOGUE if candidate is command)
    parsed, _action = parse_line(known.example, CATALOGUE)
    assert parsed is known
