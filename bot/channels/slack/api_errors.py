"""Slack's error codes and what each means for delivery."""

from datetime import timedelta
from enum import Enum

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.delivery.notifier_protocol import Gone, Permanent, Recoverable, Refuses, SendError, UnknownOutcome
from collectors.facts.sentences import sentence
from collectors.transport_words import why_no_answer


class ErrorMeaning(Enum):
    RETRY = "not done; try again later"
    UNKNOWN_OUTCOME = "it is unknown whether it was done"
    GONE = "the message cannot be changed"
    CHANNEL_REFUSED = "the channel refuses every message until somebody fixes it"
    CHAT_REFUSED = "every call is refused until somebody fixes our access"
    MESSAGE_REFUSED = "this message is refused, whatever its content"
    CONTENT_REFUSED = "this message is refused for its content"


class RefusedContent(Permanent):
    """Slack refuses the message for what is in it: a plainer one may be taken."""


# https://docs.slack.dev/reference/methods/chat.postMessage, chat.update, chat.delete, conversations.history
MEANINGS: dict[str, ErrorMeaning] = {
    **dict.fromkeys(
        ("ratelimited", "rate_limited", "accesslimited", "message_limit_exceeded"), ErrorMeaning.RETRY
    ),
    **dict.fromkeys(
        ("internal_error", "fatal_error", "request_timeout", "service_unavailable", "team_added_to_org"),
        ErrorMeaning.UNKNOWN_OUTCOME,
    ),
    **dict.fromkeys(
        (
            "message_not_found",
            "cant_update_message",
            "edit_window_closed",
            "thread_not_found",
            "cannot_reply_to_message",
        ),
        ErrorMeaning.GONE,
    ),
    **dict.fromkeys(
        (
            "channel_not_found",
            "not_in_channel",
            "is_archived",
            "is_inactive",
            "restricted_action",
            "restricted_action_non_threadable_channel",
            "restricted_action_read_only_channel",
            "restricted_action_thread_only_channel",
            "messages_tab_disabled",
            "no_permission",
            "missing_scope",
            "ekm_access_denied",
            "not_allowed_token_type",
            "external_channel_migrating",
            "method_deprecated",
        ),
        ErrorMeaning.CHANNEL_REFUSED,
    ),
    **dict.fromkeys(
        (
            "team_access_not_granted",
            "access_denied",
            "not_authed",
            "invalid_auth",
            "account_inactive",
            "token_revoked",
            "token_expired",
            "org_login_required",
            "two_factor_setup_required",
        ),
        ErrorMeaning.CHAT_REFUSED,
    ),
    **dict.fromkeys(
        (
            "restricted_action_thread_locked",
            "user_not_found",
            "user_not_visible",
            "cant_delete_message",
            "invalid_ts_latest",
            "invalid_ts_oldest",
            "unknown_method",
        ),
        ErrorMeaning.MESSAGE_REFUSED,
    ),
}


def meaning_of(error: str, status: int = 200) -> ErrorMeaning:
    """Return the meaning of an error code. An unknown code is taken for one about the content, such as
    `invalid_blocks` and `msg_too_long`: then a plainer message is tried at once.
    """
    if status == 429:
        return ErrorMeaning.RETRY
    if status >= 500:
        return ErrorMeaning.UNKNOWN_OUTCOME
    return MEANINGS.get(error, ErrorMeaning.CONTENT_REFUSED)


def send_error(error: BaseException, method: str) -> SendError:
    """Return the SendError for a failed call. It never includes the body, which may hold text that others wrote."""
    if isinstance(error, SlackApiError):
        return _refusal(error, method)
    if isinstance(error, aiohttp.ClientConnectorError):
        return Recoverable(sentence("{method}: Slack cannot be reached", method=method))
    if isinstance(error, TimeoutError | aiohttp.ClientError | SlackClientError | OSError):
        return UnknownOutcome(
            sentence("{method}: no answer: {reason}", method=method, reason=why_no_answer(error))
        )
    return UnknownOutcome(f"{method}: {type(error).__name__}")


def _refusal(error: SlackApiError, method: str) -> SendError:
    response = error.response
    status: int = getattr(response, "status_code", 0) or getattr(response, "status", 200)
    body = getattr(response, "data", None)
    code = str(body.get("error", "")) if isinstance(body, dict) else ""
    reason = f"{method}: {code or status}"
    match meaning_of(code, status):
        case ErrorMeaning.RETRY:
            return Recoverable(reason, retry_after=_retry_after(response))
        case ErrorMeaning.UNKNOWN_OUTCOME:
            return UnknownOutcome(reason)
        case ErrorMeaning.GONE:
            return Gone(reason)
        case ErrorMeaning.CHANNEL_REFUSED:
            return Permanent(reason, refuses=Refuses.CHANNEL)
        case ErrorMeaning.CHAT_REFUSED:
            return Permanent(reason, refuses=Refuses.CHAT)
        case ErrorMeaning.MESSAGE_REFUSED:
            return Permanent(reason)
        case ErrorMeaning.CONTENT_REFUSED:
            return RefusedContent(reason)


def _retry_after(response: object) -> timedelta | None:
    headers = getattr(response, "headers", None) or {}
    for name, value in headers.items():
        if name.lower() == "retry-after":
            try:
                return timedelta(seconds=float(value))
            except ValueError:
                return None
    return None
