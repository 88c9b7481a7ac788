"""The Slack app requests the scopes of the methods and events in use, and no others."""

import re

import yaml

from bot.channels.slack.form_view import SHORTCUT
from bot.channels.slack.interactions import ABOUT
from bot.channels.slack.slack_diagnosis import BOT_SCOPES
from tests.docs.conftest import ROOT

_HISTORY = {"channels:history", "groups:history"}
SCOPES: dict[str, set[str]] = {  # by method: docs.slack.dev/reference/methods
    "auth_test": set(),
    "chat_postMessage": {"chat:write"},
    "chat_postEphemeral": {"chat:write"},
    "chat_update": {"chat:write"},
    "chat_delete": {"chat:write"},
    "conversations_history": _HISTORY,
    "conversations_replies": _HISTORY,
    "conversations_open": {"im:write"},
    "users_info": {"users:read"},
    "usergroups_list": {"usergroups:read"},
    "files_info": {"files:read"},
    "views_open": set(),
    "views_publish": set(),
    "files_getUploadURLExternal": {"files:write"},
    "files_completeUploadExternal": {"files:write"},
}
NO_METHODS = {
    "is_connected",
    "connect_to_new_endpoint",
}  # of the Socket Mode client, which has a token of its own
LISTENERS = {  # docs.slack.dev/reference/events, and slash commands
    'app.event("app_mention")': {"app_mentions:read"},
    'app.event("message")': {"im:history"},
    "app.command(": {"commands"},
    "url_private": {"files:read"},
}


def _source() -> str:
    return "\n".join(file.read_text() for file in sorted((ROOT / "bot" / "channels" / "slack").glob("*.py")))


def _manifest() -> dict[str, dict[str, dict[str, object]]]:
    manifest: dict[str, dict[str, dict[str, object]]] = yaml.safe_load(
        (ROOT / "docs" / "slack-manifest.yaml").read_text()
    )
    return manifest


def test_its_scopes_are_exactly_those_in_use() -> None:
    called = set(re.findall(r"\bweb\.([a-z]+_[A-Za-z_]+)\(", _source())) - NO_METHODS
    assert called >= {"chat_postMessage", "users_info"}
    assert called - set(SCOPES) == set(), "add the scopes of the new method to SCOPES"
    wanted = {scope for method in called for scope in SCOPES[method]}
    wanted |= {scope for code, scopes in LISTENERS.items() if code in _source() for scope in scopes}
    assert sorted(wanted) == _manifest()["oauth_config"]["scopes"]["bot"]


def test_the_doctor_asks_for_the_same_scopes() -> None:
    assert list(BOT_SCOPES) == _manifest()["oauth_config"]["scopes"]["bot"]


def test_every_scope_is_explained(docs: dict[str, str]) -> None:
    scopes = _manifest()["oauth_config"]["scopes"]["bot"]
    assert isinstance(scopes, list)
    assert [scope for scope in scopes if f"`{scope}`" not in docs["docs/slack.md"]] == []


def test_it_receives_the_events_that_have_listeners() -> None:
    settings = _manifest()["settings"]
    assert settings["event_subscriptions"]["bot_events"] == ["app_home_opened", "app_mention", "message.im"]
    assert settings["interactivity"]["is_enabled"] is True
    assert _manifest()["features"]["app_home"]["home_tab_enabled"] is True
    shortcuts = _manifest()["features"]["shortcuts"]
    known = {(one["type"], one["callback_id"]) for one in shortcuts}  # type: ignore[index]
    assert known == {("message", ABOUT), ("global", SHORTCUT)}
    commands = _manifest()["features"]["slash_commands"]
    assert [command["command"] for command in commands] == ["/yard"]  # type: ignore[index]
