"""Refusals of `check` and `run`: each mistake by its line, in words that say what to write."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from pydantic import BaseModel

from bot.cli import main
from bot.settings.loading import SettingsError, load_settings, read_settings
from bot.settings.schema import Settings
from docs.settings_table import settings as all_settings
from tests.support.settings_mistakes import each_mistake

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:9"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {token: x}}]
current-context: a
"""


def write(folder: Path, text: str) -> Path:
    """Write settings with a cluster, unless they have their own, and a store in the folder."""
    (folder / "kubeconfig").write_text(KUBECONFIG, encoding="utf-8")
    file = folder / "settings.yaml"
    file.write_text(text.replace("KUBECONFIG", str(folder / "kubeconfig")), encoding="utf-8")
    return file


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, file: Path) -> Result:
    return CliRunner().invoke(main, [command, "--config", str(file)])


@each_mistake(Path(__file__).parent / "settings/mistakes_of_checking.yaml")
def test_a_mistake_is_refused_by_check_and_by_run_with_its_line(
    in_folder: Path, text: str, line: int, expected: str
) -> None:
    file = write(in_folder, text)
    checked, ran = run("check", file), run("run", file)
    assert (checked.exit_code, ran.exit_code) == (1, 1)
    found = [one for one in checked.stderr.splitlines() if expected in one]
    assert found, checked.stderr
    assert found[0].startswith(f"{file}:{line}:" if line else f"{file}: ")
    assert found[0] in ran.stderr.splitlines()
    assert "pass-word" not in checked.stderr
    assert not list(in_folder.glob("*.db"))


def test_every_mistake_is_found_in_one_run(in_folder: Path) -> None:
    text = """clusters:
  - name: Prod
  - name: a
    kubernetes: {kubeconfig: /nowhere/config}
    prometheus: {url: "prometheus:9090", timeout: soon}
  - name: a
    kubernetes: null
teams: {sre: {commands: ["node corden", "nodes *"]}}
slack: {bot_token: xapp-1, channel: C0123456}
routes: [{channels: ["slack:C0456", "webhook:night"]}]
rules: {packs: [nodes], overrides: {GPUMissing: {severity: page}}}
timezone: Asia/Shangai
redact: ["("]
clusterz: []
"""
    result = run("check", write(in_folder, text))
    lines = [int(found[1]) for found in re.finditer(r"settings\.yaml:(\d+): ", result.stderr)]
    assert lines == [2, 4, 5, 5, 6, 8, 8, 9, 10, 11, 11, 12, 13, 14]
    assert result.exit_code == 1


def test_a_section_with_an_error_is_not_missed_by_those_that_name_it(in_folder: Path) -> None:
    text = (
        "slack: {bot_token: xapp-1, app_token: xapp-1, channel: C0123}\nroutes: [{channels: [slack:C0456]}]\n"
    )
    (error,) = load_settings(write(in_folder, text)).diagnostics
    assert "bot_token" in str(error)


@pytest.mark.parametrize("command", ["check", "run"])
def test_without_any_settings(in_folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    for name in ("YARDMASTER_CONFIG", "YARDMASTER_TIMEZONE"):
        monkeypatch.delenv(name, raising=False)
    result = CliRunner().invoke(main, [command])
    assert result.exit_code == 1
    assert "name a file with --config or YARDMASTER_CONFIG" in result.stderr


def test_settings_of_the_environment_alone_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YARDMASTER_HTTP__LISTEN", "127.0.0.1:0")
    assert read_settings(None).http.listen == "127.0.0.1:0"


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("YARDMASTER_TIMEZONE", "Asia/Shangai", "timezone: `Asia/Shangai` is not a time zone"),
        ("YARDMASTER_HTTP__LISTEN", "here", "http.listen: `here` is not an address and a port"),
        ("YARDMASTER_CLUSTERS", "secret", "must be JSON"),
        ("YARDMASTER_TEAMS", '{"sre": {"commands": ["nodes *"]}}', "`nodes *` is not a command"),
    ],
)
def test_an_error_of_the_environment_names_its_variable(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, expected: str
) -> None:
    monkeypatch.setenv(variable, value)
    result = run("check", write(in_folder, "runbooks: ''\n"))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{variable}: ")
    assert expected in result.stderr
    assert "secret" not in result.stderr


def test_a_secret_file_has_its_line_and_its_token_is_checked(in_folder: Path) -> None:
    (in_folder / "app").write_text("xoxb-1\n")
    text = (
        f"slack:\n  bot_token_file: /nowhere/bot\n  app_token_file: {in_folder / 'app'}\n  channel: C0123\n"
    )
    file = write(in_folder, text)
    first, second = run("check", file).stderr.splitlines()
    assert (
        first
        == f"{file}:2: slack.bot_token_file: cannot read the secret in /nowhere/bot: No such file or directory"
    )
    assert second.startswith(f"{file}:3: slack.app_token_file: is a token that begins with xoxb-")
    assert "xoxb-1" not in second


def test_check_counts_the_rules_of_good_settings_and_says_what_it_checked(in_folder: Path) -> None:
    prometheus = "prometheus: {url: 'http://prometheus.example:9090'}"
    text = f"clusters: [{{name: a, kubernetes: {{kubeconfig: KUBECONFIG}}, {prometheus}}}]\nrules: {{packs: [dns]}}\n"
    result = run("check", write(in_folder, text))
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "fine: cluster a: kubernetes, prometheus",
        "fine: channels: none, so cards are printed",
        "fine: rules: dns, 0 files of rules",
        "No server was asked: `yardmaster check --connect` does.",
    ]
    assert re.fullmatch(r"The settings are valid; \d+ rules are in force\.\n", result.stdout)


LIBRARY = re.compile(
    r"Input should|Field required|valid (string|dictionary|integer|list|tuple|boolean)|Value error|instance of"
    r"|pydantic|Assertion|Extra inputs|unable to|String should"
)
VALUES = (7, "x y", "", [7], {"a": 7}, None, True, -1, "#x", "http://", "2026-01-01")


def nested(path: str, value: Any) -> dict[str, Any]:
    """Return settings with this value at a path of the documented form: `clusters[].name`, `teams.<name>.members`."""
    document: Any = value
    for part in reversed(path.split(".")):
        if part == "<name>":
            document = {"some": document}
        elif part.endswith("[]"):
            document = {part.removesuffix("[]"): [document]}
        else:
            document = {part: document}
    assert isinstance(document, dict)
    return document


def paths() -> Iterator[str]:
    yield from dict.fromkeys(setting.path for setting in all_settings())


@pytest.mark.parametrize("path", list(paths()))
def test_no_error_has_a_librarys_words(tmp_path: Path, path: str) -> None:
    for value in VALUES:
        file = tmp_path / "settings.yaml"
        file.write_text(yaml.safe_dump(nested(path, value)), encoding="utf-8")
        try:
            settings: BaseModel = read_settings(file)
        except SettingsError as error:
            for diagnostic in error.diagnostics:
                assert not LIBRARY.search(str(diagnostic)), diagnostic
                assert diagnostic.message.partition(": ")[2] or not diagnostic.location.line, diagnostic
                assert "is not a value that this setting can have" not in diagnostic.message, diagnostic
        else:
            assert isinstance(settings, Settings)
