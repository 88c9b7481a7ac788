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

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "http://127.0.0.1:9"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {token: x}}]
current-context: a
"""
SLACK = "slack: {bot_token: xoxb-1, app_token: xapp-1, channel: C0123456}\n"


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


# Each with the line of the mistake and words of its error.
MISTAKES: dict[str, tuple[str, int, str]] = {
    "an address without its scheme": (
        "clusters:\n  - name: a\n    kubernetes: null\n    prometheus:\n      url: prometheus:9090\n",
        5,
        "`prometheus:9090` has no scheme: write http://prometheus:9090 or https://prometheus:9090",
    ),
    "an address of Elasticsearch without its scheme": (
        "clusters:\n  - name: a\n    kubernetes: null\n    elasticsearch: {url: [http://es-0:9200, es-1:9200]}\n",
        4,
        "clusters.0.elasticsearch.url.1: `es-1:9200` has no scheme",
    ),
    "a login in the address of Elasticsearch": (
        'clusters: [{name: a, kubernetes: null, elasticsearch: {url: "http://u:pass-word@es:9200"}}]\n',
        1,
        "the address of es has a user or password: use basic_auth or api_key_file",
    ),
    "an unknown command of a team": (
        'teams:\n  sre:\n    commands:\n      - "node corden"\n',
        4,
        "`node corden` is not a command; did you mean `node cordon`?",
    ),
    "commands of a noun in the plural": (
        'teams: {sre: {commands: ["nodes *"]}}\n',
        1,
        "`nodes *` is not a command; did you mean `node *`?",
    ),
    "an unknown command of automation": (
        "automation:\n  reclaim:\n    commands: [gpu setle]\n",
        3,
        "`gpu setle` is not a command; did you mean `gpu settle`?",
    ),
    "an unknown automation": (
        "automation:\n  reclaims: {commands: [gpu settle]}\n",
        2,
        "`reclaims` is not an automation; did you mean `reclaim`?",
    ),
    "a user group by its name": (
        'teams:\n  sre: {slack_groups: ["@sre"]}\n',
        2,
        "`@sre` is not the id of a Slack user group: write an id like S0123456",
    ),
    "a person by their name": ('teams: {sre: {members: ["@dana"]}}\n', 1, "not the id of a person"),
    "a channel by its name": (
        'slack:\n  bot_token: xoxb-1\n  app_token: xapp-1\n  channel: "#gpu"\n',
        4,
        "`#gpu` is not the id of a Slack channel: write an id like C0123456",
    ),
    "a route to a channel by its name": (
        SLACK + 'routes:\n  - channels: ["slack:#gpu"]\n',
        3,
        "`slack:#gpu` is not `slack:` and a channel's id",
    ),
    "a time zone": ("timezone: Asia/Shangai\n", 1, "did you mean `Asia/Shanghai`?"),
    "a redact pattern": (
        "redact:\n  - 'employee-\\d+'\n  - '('\n",
        3,
        "`(` is not a regular expression",
    ),
    "a redact pattern that matches everything": ("redact: ['x*']\n", 1, "it would match everywhere"),
    "a store without its driver": (
        "store:\n  url: postgres://x\n",
        2,
        "names postgres: use sqlite+aiosqlite or postgresql+asyncpg",
    ),
    "a store of another kind": ("store: {url: mysql://x/y}\n", 1, "names mysql: use sqlite+aiosqlite"),
    "a store without a file": ('store: {url: "sqlite+aiosqlite://"}\n', 1, "names no file"),
    "a store whose folder is missing": (
        'store: {url: "sqlite+aiosqlite:////nowhere/at/all/yard.db"}\n',
        1,
        "the folder /nowhere/at/all does not exist",
    ),
    "an unknown word for a field": (
        "clusters:\n  - name: a\n    kubernetes: null\n    elasticsearch:\n      url: http://es\n"
        "      fields:\n        nodes: host.name\n",
        7,
        "`nodes` is not a word for a field of log lines; did you mean `node`?",
    ),
    "an unknown word in a link": (
        'clusters: [{name: a, kubernetes: null, links: {grafana: "http://g/?n={nodee}"}}]\n',
        1,
        "`{nodee}` is not a word of a subject; did you mean `node`?",
    ),
    "swapped tokens": (
        "slack:\n  bot_token: xapp-1\n  app_token: xoxb-1\n  channel: C0123\n",
        2,
        "bot_token begins with xoxb-: are the two tokens swapped?",
    ),
    "a person's token": (
        "slack: {bot_token: xoxp-1, app_token: xapp-1, channel: C0123}\n",
        1,
        "is a person's token",
    ),
    "a kubeconfig that is not there": (
        "clusters:\n  - name: a\n    kubernetes: {kubeconfig: /nowhere/config}\n",
        3,
        "the kubeconfig /nowhere/config does not exist",
    ),
    "a context that the kubeconfig lacks": (
        "clusters:\n  - name: a\n    kubernetes:\n      kubeconfig: KUBECONFIG\n      context: b\n",
        4,
        "check the file and the context's name",
    ),
    "no clusters in their list": ("timezone: UTC\nclusters: []\n", 2, "lists no cluster"),
    "an empty file": ("", 0, "has no settings"),
    "only comments": ("# clusters:\n", 0, "has no settings"),
    "a repeated key": (
        "timezone: UTC\nredact: []\ntimezone: Asia/Shanghai\n",
        3,
        'key "timezone" already defined at line 1',
    ),
    "an unknown section": ("clusters:\n  - {name: a}\nslak: {}\n", 3, "did you mean `slack`?"),
    "an unknown key of an item": (
        "clusters:\n  - name: a\n    prometheus:\n      utl: http://x\n",
        4,
        "clusters.0.prometheus.utl: unknown setting; did you mean `url`?",
    ),
    "an unknown pack": (
        "rules:\n  packs: [gpu, nodes]\n",
        2,
        "there is no pack `nodes`; did you mean `node`?",
    ),
    "an override of no rule": (
        "rules:\n  overrides:\n    GPUMising: {for: 5m}\n",
        3,
        "no rule is named `GPUMising`; did you mean `GPUMissing`?",
    ),
    "an override that no rule takes": (
        "rules:\n  overrides:\n    GPUMissing:\n      for: soon\n",
        4,
        "`soon` is not a duration",
    ),
    "a rule file that is not there": (
        "rules:\n  files: [/nowhere/rules.yaml]\n",
        2,
        "rules.files.0: /nowhere/rules.yaml cannot be read: No such file or directory",
    ),
    "an address to listen on without its port": (
        "http: {listen: localhost}\n",
        1,
        "write it like 127.0.0.1:9099",
    ),
    "a token without its secret": ("http: {auth: {tokens: [{actor: ci}]}}\n", 1, "set token or token_file"),
    "a pull secret without its namespace": (
        "commands: {pull_secret: foo}\n",
        1,
        "write it like ops/registry",
    ),
    "a cluster that no pattern finds": (
        "clusters:\n  - {name: prod-a, kubernetes: null}\nteams:\n  sre: {clusters: [prod-b]}\n",
        4,
        "`prod-b` is none of the clusters; did you mean `prod-a`?",
    ),
    "a duration that is too short": (
        "clusters: [{name: a, kubernetes: {stale_after: 1s, kubeconfig: KUBECONFIG}}]\n",
        1,
        "must be at least 2 seconds",
    ),
    "a word of a few": (
        "rules:\n  overrides:\n    GPUMissing: {severity: page}\n",
        3,
        "must be one of `critical`, `warning` or `info`",
    ),
}


@pytest.mark.parametrize(("text", "line", "expected"), list(MISTAKES.values()), ids=list(MISTAKES))
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
