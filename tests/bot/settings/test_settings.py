"""Valid and invalid settings: every error has its file and line, and no secret is printed."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from bot.settings.loading import SettingsError, read_settings
from bot.settings.mapping import allowance_of, breaker_of, routing_of, windows_of
from bot.settings.schema import Settings
from bot.settings.secrets import Secret, SecretError
from bot.settings.section import secret
from commands.gates.breaker import BreakerLimits, BreakerScope
from commands.gates.remediation import Allowance
from commands.gates.window import InWindow
from tests.support.settings_mistakes import each_mistake

SECRET = "xoxb-very-secret-1234567890"
APP_TOKEN = "xapp-very-secret-1234567890"
COMPLETE = f"""
clusters:
  - name: prod-a
    prometheus:
      url: http://prometheus:9090
      basic_auth: {{username: yard, password: {SECRET}}}
      http_headers: {{X-Scope-OrgID: {SECRET}}}
    elasticsearch: {{url: "http://es:9200", api_key: {SECRET}}}
slack: {{bot_token: {SECRET}, app_token: {APP_TOKEN}, channel: C0123}}
http: {{listen: "127.0.0.1:0", auth: {{tokens: [{{actor: ci, token: {SECRET}}}]}}}}
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "yardmaster.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def diagnostics(folder: Path, text: str) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        read_settings(write(folder, text))
    for token in (SECRET, APP_TOKEN):
        assert token not in str(caught.value)
        assert token not in repr(caught.value)
    return [str(diagnostic) for diagnostic in caught.value.diagnostics]


@each_mistake(Path(__file__).with_name("mistakes_of_reading.yaml"))
def test_an_error_has_its_file_and_line(tmp_path: Path, text: str, line: int, expected: str) -> None:
    (error,) = diagnostics(tmp_path, text)
    assert expected in error
    assert error.startswith(f"{tmp_path / 'yardmaster.yaml'}:{line}" if line else str(tmp_path))


def test_all_errors_are_reported_at_once(tmp_path: Path) -> None:
    errors = diagnostics(
        tmp_path, f"clusterz: []\nrules: {{interval: soon}}\nslack: {{channel: x, bot_token: {SECRET}}}\n"
    )
    assert len(errors) >= 3


def test_an_invalid_secret_is_not_printed(tmp_path: Path) -> None:
    errors = diagnostics(
        tmp_path, f"slack: {{bot_token: [{SECRET}], app_token: {APP_TOKEN}, channel: C0123}}\n"
    )
    assert "bot_token" in errors[0]


def test_settings_print_no_secret(tmp_path: Path) -> None:
    settings = read_settings(write(tmp_path, COMPLETE))
    assert SECRET not in repr(settings)
    assert SECRET not in str(settings)
    assert SECRET not in settings.model_dump_json()
    assert settings.slack is not None
    assert settings.slack.bot_token is not None
    assert settings.slack.bot_token.get_secret_value() == SECRET


def test_settings_are_frozen(tmp_path: Path) -> None:
    settings = read_settings(write(tmp_path, COMPLETE))
    with pytest.raises(ValueError, match="frozen"):
        settings.timezone = "Asia/Shanghai"


def test_the_environment_overrides_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YARDMASTER_SLACK__CHANNEL", "C0999")
    monkeypatch.setenv("YARDMASTER_RULES__INTERVAL", "5s")
    settings = read_settings(write(tmp_path, COMPLETE))
    assert settings.slack is not None
    assert settings.slack.channel == "C0999"
    assert settings.slack.bot_token is not None  # the section's other keys come from the file
    assert settings.rules.interval == timedelta(seconds=5)


def test_an_error_does_not_print_a_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("YARDMASTER_SLACK__BOT_TOKEN", SECRET)
    errors = diagnostics(tmp_path, "slack: {channel: wrong}\n")
    assert any("channel" in error for error in errors)


def test_loopback_needs_no_token_and_other_addresses_need_one(tmp_path: Path) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert read_settings(write(tmp_path, f'http: {{listen: "{host}:9099"}}')).http.is_loopback
    with_token = f'http: {{listen: "0.0.0.0:9099", auth: {{tokens: [{{actor: ci, token: {SECRET}}}]}}}}'
    assert not read_settings(write(tmp_path, with_token)).http.is_loopback


def test_a_secret_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first\n", encoding="utf-8")
    token = secret(None, file)
    assert token is not None
    assert token() == "first"
    file.write_text("second, and longer\n", encoding="utf-8")
    assert token() == "second, and longer"
    file.write_text("SECOND, and longer\n", encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert token() == "SECOND, and longer"


def test_a_secret_shows_its_path_and_not_its_value(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with pytest.raises(SecretError, match="token"):
        Secret(file=file)()
    file.write_text("\n", encoding="utf-8")
    with pytest.raises(SecretError, match="is empty"):
        Secret(file=file)()
    file.write_bytes(b"\xff\xfes3cret")
    with pytest.raises(SecretError, match=r"is not UTF-8 text$"):
        Secret(file=file)()
    file.write_text("first\nsecond", encoding="utf-8")
    with pytest.raises(SecretError, match=r"is not a single line of plain text$"):
        Secret(file=file)()
    assert Secret(file=file, has_lines=True)() == "first\nsecond"
    file.write_text(SECRET, encoding="utf-8")
    from_file = Secret(file=file)
    assert from_file() == SECRET
    assert SECRET not in repr(from_file)
    assert SECRET not in repr(Secret(value=SECRET))
    assert SECRET not in str(Secret(value=SECRET))


def test_every_section_is_optional() -> None:
    assert Settings() == Settings()


def test_windows_remediations_and_breakers_are_read(tmp_path: Path) -> None:
    text = """
clusters: [{name: prod-a}]
time_intervals: {nights: [{times: [{start_time: "00:00", end_time: "06:00"}]}]}
windows:
  quiet: {time_intervals: [nights], automation: waits, mutes: severity=info}
  busy: {time_intervals: [nights], automation: more, out_of_service: 4}
breaker: {scope: command, actions: 2}
automation: {remediation: {commands: ["node cordon"], rules: [NodeMemoryHot], pools: [a100]}}
"""
    settings = read_settings(write(tmp_path, text))
    quiet, busy = windows_of(settings)
    assert (quiet.name, quiet.automation, quiet.mutes) == ("quiet", InWindow.WAITS, "severity=info")
    assert (busy.automation, busy.nodes) == (InWindow.MORE, 4)
    assert [one.interval.name for one in routing_of(settings, default="C").windows] == ["quiet"]
    assert breaker_of(settings) == BreakerLimits(scope=BreakerScope.COMMAND, actions=2)
    assert allowance_of(settings) == Allowance(rules=("NodeMemoryHot",), pools=("a100",))


@pytest.mark.parametrize(
    ("window", "error"),
    [
        ("{time_intervals: [night]}", "`night` is none of the time_intervals; did you mean `nights`?"),
        ("{time_intervals: [nights], automation: more}", "`more` needs its limit"),
        ("{time_intervals: [nights], per_hour: 3}", "are the limit of automation: `more`"),
    ],
    ids=["no such interval", "more without a limit", "a limit without more"],
)
def test_a_window_that_says_nothing_useful_is_refused(tmp_path: Path, window: str, error: str) -> None:
    text = f"""
time_intervals: {{nights: [{{times: [{{start_time: "00:00", end_time: "06:00"}}]}}]}}
windows: {{quiet: {window}}}
"""
    assert any(error in one for one in diagnostics(tmp_path, text)), diagnostics(tmp_path, text)


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        pytest.param("{scope: pool, of: b100, out_of_service: 2}", "`b100` is none of the pools", id="pool"),
        pytest.param("{of: prod-c, out_of_service: 2}", "`prod-c` is none of the clusters", id="cluster"),
        pytest.param(
            "{scope: rack, clusters: [stage], out_of_service: 2}",
            "`stage` is none of the clusters",
            id="clusters",
        ),
    ],
)
def test_a_budget_that_fits_nothing_is_refused(tmp_path: Path, budget: str, said: str) -> None:
    text = f"clusters: [{{name: prod-a}}]\npools: {{a100: {{}}}}\nbudgets: [{budget}]\n"
    assert any(said in one for one in diagnostics(tmp_path, text)), diagnostics(tmp_path, text)
