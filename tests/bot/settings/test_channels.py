"""Channels in the settings: each route names one that they have, and no secret is printed."""

from pathlib import Path

import pytest

from bot.settings.channels import address_error
from bot.settings.loading import SettingsError, read_settings
from bot.settings.named_files import unreadable_files

SLACK = "slack: {bot_token: xoxb-1, app_token: xapp-1, channel: C0123}\n"
NIGHT = "channels: {night: {webhook: {url: 'https://example.com/hook-secret'}}}\n"
MORE = (
    "channels:\n"
    "  gpus: {pagerduty: {routing_key: hook-secret}}\n"
    "  mail: {apprise: {url: 'mailto://u:hook-secret@example.com'}}\n"
    "  night: {webhook: {url: 'https://example.com', signing_secret: hook-secret}}\n"
)


def errors(folder: Path, text: str) -> list[str]:
    file = folder / "yardmaster.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        read_settings(file)
    assert "hook-secret" not in str(caught.value)
    return [str(one).removeprefix(f"{file}:") for one in caught.value.diagnostics]


def routes_to(*channels: str) -> str:
    return "routes:\n  - match: ''\n    channels:\n" + "".join(f"      - '{one}'\n" for one in channels)


def test_routes_to_channels_of_several_kinds(tmp_path: Path) -> None:
    file = tmp_path / "yardmaster.yaml"
    file.write_text(SLACK + NIGHT + routes_to("slack:C0456", "webhook:night", "console:log"))
    assert read_settings(file).routes[0].channels == ("slack:C0456", "webhook:night", "console:log")


@pytest.mark.parametrize(
    ("channel", "expected"),
    [
        ("C0456", "write `slack:C0456`"),
        ("slack:#gpu", "is not `slack:` and a channel's id"),
        ("webhook:day", "needs `channels.day.webhook`; there is `webhook:night`, `console:log`"),
        ("pager:duty", "is not the id of a channel"),
        ("console:other", "is not the id of a channel"),
        ("slack:C0456 ", "is not `slack:` and a channel's id"),
        ("", "is not the id of a channel"),
    ],
)
def test_a_channel_that_the_settings_do_not_have(tmp_path: Path, channel: str, expected: str) -> None:
    (error,) = errors(tmp_path, SLACK + NIGHT + routes_to("slack:C0456", channel))
    assert error.startswith("7:")
    assert "routes.0.channels.1" in error
    assert expected in error


def test_an_id_with_a_line_break(tmp_path: Path) -> None:
    text = SLACK + 'routes:\n  - channels: ["slack:C0456\\n"]\n'
    (error,) = errors(tmp_path, text)
    assert "is not `slack:` and a channel's id" in error


def test_a_slack_channel_needs_slack(tmp_path: Path) -> None:
    (error,) = errors(tmp_path, NIGHT + routes_to("slack:C0456"))
    assert "needs the section `slack`" in error


def test_a_channel_of_an_inner_route(tmp_path: Path) -> None:
    text = NIGHT + "routes:\n  - routes:\n      - {channels: [webhook:day]}\n"
    (error,) = errors(tmp_path, text)
    assert error.startswith("4:")
    assert "routes.0.routes.0.channels.0" in error


@pytest.mark.parametrize(
    ("channels", "expected"),
    [
        ("{night: {}}", "set exactly one of webhook, pagerduty, apprise"),
        ("{night: {pagerduty: {}}}", "set routing_key or routing_key_file"),
        ("{night: {pagerduty: {routing_key: hook-secret, routing_key_file: b}}}", "set routing_key or"),
        ("{night: {pagerduty: {routing_key: hook-secret, url: 'ftp://a'}}}", "not a scheme"),
        ("{night: {apprise: {}}}", "set url or url_file"),
        ("{night: {apprise: {url: 'mailto://hook-secret', url_file: b}}}", "set url or url_file"),
        ("{night: {webhook: {url: 'https://a', signing_secret: ''}}}", "signing_secret is empty"),
        ("{night: {webhook: {}}}", "set url or url_file"),
        ("{night: {webhook: {url: 'http://a', url_file: b}}}", "set url or url_file"),
        ("{night: {webhook: {url: 'ftp://hook-secret'}}}", "must begin with http://"),
        ("{night: {webhook: {url: 'hook-secret'}}}", "must begin with http://"),
        ("{night: {webhook: {url: 'https://u:hook-secret@a/'}}}", "use basic_auth"),
        ("{Night: {webhook: {url: 'https://a'}}}", "Night"),
        (
            "{night: {webhook: {url: 'https://a', authorization: {credentials: x}, basic_auth: {username: x}}}}",
            "set authorization or basic_auth",
        ),
        ("{night: {webhook: {url: 'https://a', timeout: 1m}}}", "timeout"),
        ("{night: {webhook: {url: 'https://a', timeout: 0s}}}", "timeout"),
        ("{night: {webhook: {url: 'https://a', authorization: {}}}}", "set credentials or credentials_file"),
        (
            "{night: {webhook: {url: 'https://a', authorization: {credentials: \"hook-secret\\n\"}}}}",
            "must be one line",
        ),
        (
            "{night: {webhook: {url: 'https://a', http_headers: {X-A: \"hook-secret\\n\"}}}}",
            "must be one line",
        ),
        ("{night: {webhook: {url: 'https://a', http_headers: {'X A': b}}}}", "`X A` is not a header's name"),
        ("{night: {webhook: {url: 'https://a', http_headers: {content-length: '5'}}}}", "cannot be set"),
    ],
)
def test_a_channel_that_is_not_valid(tmp_path: Path, channels: str, expected: str) -> None:
    (error,) = errors(tmp_path, f"channels: {channels}\n")
    assert expected in error


def test_an_unreadable_secret_of_a_channel_is_named(tmp_path: Path) -> None:
    file = tmp_path / "yardmaster.yaml"
    file.write_text(f"channels: {{night: {{webhook: {{url_file: {tmp_path / 'absent'}}}}}}}\n")
    ((path, error),) = unreadable_files(read_settings(file))
    assert path == ("channels", "night", "webhook", "url_file")
    assert error.startswith("cannot read the secret")


def test_a_channel_of_the_fallback_that_the_settings_do_not_have(tmp_path: Path) -> None:
    text = NIGHT + "fallback:\n  channels: [webhook:night, 'apprise:mail']\n"
    (error,) = errors(tmp_path, text)
    assert "fallback.channels.1" in error
    assert "needs `channels.mail.apprise`" in error


@pytest.mark.parametrize("channels", [NIGHT, MORE])
def test_settings_print_no_address(tmp_path: Path, channels: str) -> None:
    file = tmp_path / "yardmaster.yaml"
    file.write_text(channels)
    assert "hook-secret" not in repr(read_settings(file))


def test_an_address() -> None:
    assert address_error("https://example.com/a?b=c") == ""
