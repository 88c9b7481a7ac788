"""The parts of a notifier that can only post: what it refuses, and how it says so."""

from typing import ClassVar, NoReturn

from alerts.cards.incident_facts import IncidentFacts
from alerts.cards.message import Message
from bot.delivery.notifier_protocol import NewMessage, Permanent, Picture, Refuses, SearchWindow
from collectors.facts.sentences import Sentence, listed, said_by


class PostOnly:
    """What a Notifier does that can neither edit nor find what it posted. `only_posts` is said to who asks for it."""

    only_posts: ClassVar[Sentence]

    async def edit(self, channel: str, message_id: str, message: Message) -> None:
        self._refuse()

    async def find(
        self, channel: str, nonce: str, window: SearchWindow, thread: str | None = None
    ) -> tuple[str, ...]:
        self._refuse()

    async def delete(self, channel: str, message_id: str) -> None:
        self._refuse()

    async def upload(self, channel: str, picture: Picture, *, thread: str) -> str:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise Permanent(self.only_posts)


def facts_in(new: NewMessage, refusal: Sentence) -> IncidentFacts:
    """Return the facts of an incident; what has none is refused."""
    if not isinstance(new.content, Message) or new.content.facts is None:
        raise Permanent(refusal)
    return new.content.facts


def misconfigured(name: str, error: Exception) -> Permanent:
    """Return the refusal of a channel whose settings cannot be used, such as the file of a secret."""
    return Permanent(listed((name, said_by(error)), ":"), refuses=Refuses.CHANNEL)
