"""Tokens of Slack in the settings: each type begins with letters of its own."""

from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, SecretStr


def token_error(token: str, *, is_app: bool) -> str:
    """Return why Slack's token is of the wrong type, without the token; empty if it may be right."""
    kind = token[:5]
    if is_app and kind in ("xoxb-", "xoxp-"):
        return f"is a token that begins with {kind}, but app_token begins with xapp-: are the two tokens swapped?"
    if not is_app and kind == "xapp-":
        return (
            "is a token that begins with xapp-, but bot_token begins with xoxb-: are the two tokens swapped?"
        )
    if not is_app and kind == "xoxp-":
        return "is a person's token (xoxp-): use the bot's token, which begins with xoxb-"
    return ""


def _token(*, is_app: bool) -> Callable[[SecretStr], SecretStr]:
    def check(value: SecretStr) -> SecretStr:
        if error := token_error(value.get_secret_value(), is_app=is_app):
            raise ValueError(error)
        return value

    return check


BotToken = Annotated[SecretStr, AfterValidator(_token(is_app=False))]
AppToken = Annotated[SecretStr, AfterValidator(_token(is_app=True))]
