"""The reference pages are up to date, and nothing of the program is missing from them."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from bot.evaluation.rulebook import pack_names, read_rulebook
from bot.metrics import Metrics
from bot.settings.schema import RulesSettings, Settings
from collectors.check_catalogue import CHECKS
from commands.command_catalogue import CATALOGUE
from docs import settings_table
from docs.generate import DOCS, PARTS, fresh, pages
from docs.stale_files import stale


def test_no_page_is_stale() -> None:
    names = [page.name for page in stale(pages())]
    assert not names, f"run `python -m docs.generate`: {', '.join(names)}"


def test_every_generated_part_is_on_a_page() -> None:
    text = "".join(page.read_text() for page in pages())
    assert [name for name in PARTS if f"<!-- generated: {name} -->" not in text] == []


def test_text_around_a_generated_part_stays() -> None:
    text = fresh("before\n<!-- generated: checks -->\nlast year's part\n<!-- /generated -->\nafter\n")
    assert text.startswith("before\n<!-- generated: checks -->\n")
    assert text.endswith("<!-- /generated -->\nafter\n")
    assert "last year" not in text
    assert fresh(text) == text


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(KeyError, match="nosuch"):
        fresh("<!-- generated: nosuch -->\n<!-- /generated -->\n")


def test_every_setting_is_documented(docs: dict[str, str]) -> None:
    def keys(model: type[BaseModel]) -> set[str]:
        return {field.alias or name for name, field in model.model_fields.items()}

    paths = {setting.path for setting in settings_table.settings()}
    assert keys(Settings) <= paths
    assert "clusters[].prometheus.url" in paths
    assert [path for path in paths if f"`{path}`" not in docs["docs/settings.md"]] == []


def test_a_setting_without_a_meaning_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = settings_table.MEANINGS.read_text().replace("\ntimezone:", "\ntimezones:")
    (tmp_path / "meanings.yaml").write_text(text)
    monkeypatch.setattr(settings_table, "MEANINGS", tmp_path / "meanings.yaml")
    with pytest.raises(settings_table.UnexplainedError, match=r"has no meaning for: timezone"):
        settings_table.settings()


def test_a_meaning_without_a_setting_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meanings.yaml").write_text(settings_table.MEANINGS.read_text() + "gone: long ago\n")
    monkeypatch.setattr(settings_table, "MEANINGS", tmp_path / "meanings.yaml")
    with pytest.raises(settings_table.UnexplainedError, match="unknown settings: gone"):
        settings_table.settings()


def test_every_command_is_documented_with_its_usage(docs: dict[str, str]) -> None:
    page = docs["docs/commands.md"]
    missing = [
        command.name
        for command in CATALOGUE
        if f"### {command.name}\n" not in page or command.usage not in page or command.example not in page
    ]
    assert missing == []


def test_every_rule_and_pack_is_documented(docs: dict[str, str]) -> None:
    page = docs["docs/rules.md"]
    assert [name for name in pack_names() if f"### {name}\n" not in page] == []
    assert [
        rule.name for rule in read_rulebook(RulesSettings()).rules if f"| {rule.name} |" not in page
    ] == []


def test_every_check_is_documented(docs: dict[str, str]) -> None:
    assert [name for name in CHECKS if f"`{name}`" not in docs["docs/checks.md"]] == []


def test_every_metric_is_documented(docs: dict[str, str]) -> None:
    families = [family.name for family in Metrics().registry.collect()]
    assert [name for name in families if name not in docs["docs/metrics.md"]] == []


def test_every_page_is_listed_in_the_index(docs: dict[str, str]) -> None:
    names = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert [name for name in sorted(names) if f"({name})" not in docs["docs/index.md"]] == []
