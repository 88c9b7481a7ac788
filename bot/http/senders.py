"""Senders of the HTTP endpoints: the actor that each token of the settings authenticates."""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import structlog

from bot.person_book import PersonBook
from bot.settings.schema import Settings
from bot.settings.secrets import Secret, SecretError
from bot.settings.section import secret
from commands.core.persons import TOKEN
from commands.core.request import Actor, ActorKind

NO_TOKEN = "send a token of http.auth.tokens as `Authorization: Bearer …`"

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The actor that a token authenticates."""

    actor: Actor
    secret: Secret


def senders_of(settings: Settings, persons: PersonBook) -> tuple[Sender, ...]:
    """Return the senders of the HTTP tokens."""
    senders = []
    for one in settings.http.auth.tokens:
        token = secret(one.token, one.token_file)
        if token is not None:
            actor = Actor(id=one.actor, name=one.actor, kind=ActorKind.TOKEN, teams=frozenset(one.teams))
            senders.append(Sender(actor=persons.identified(actor, TOKEN), secret=token))
    return tuple(senders)


def sender_of(headers: Mapping[str, str], senders: Iterable[Sender]) -> Actor | None:
    """Return whom the headers of a request authenticate; None for nobody we know."""
    return actor_of(headers.get("Authorization", "").removeprefix("Bearer ").strip(), senders)


def actor_of(token: str, senders: Iterable[Sender]) -> Actor | None:
    """Return whom the token authenticates; None for a strange one, or none."""
    for sender in senders if token else ():
        try:
            expected = sender.secret()
        except SecretError as reason:  # the other senders can still log in
            _log.warning("token cannot be read", sender=sender.actor.name, reason=str(reason))
            continue
        if hmac.compare_digest(token.encode(), expected.encode()):
            return sender.actor
    return None
