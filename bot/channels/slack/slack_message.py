"""A message as Slack's Web API takes it, and the plainer forms of it for when Slack refuses it."""

from dataclasses import dataclass, replace
from hashlib import blake2b

import msgspec

from alerts.cards.message import Attachment
from bot.channels.slack import block_limits
from bot.channels.slack.elements import SlackJson
from bot.channels.slack.markup import escaped_within


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """The arguments of chat.postMessage and similar calls; `files` are uploaded to the message's thread.

    `whole`: all that it says, as text, for where its blocks are not shown.
    """

    text: str
    blocks: tuple[SlackJson, ...] = ()
    attachments: tuple[SlackJson, ...] = ()
    files: tuple[Attachment, ...] = ()
    whole: Attachment | None = None

    @property
    def without_images(self) -> "SlackMessage":
        """The same without its pictures."""
        attachments = (
            {**one, "blocks": [block for block in one["blocks"] if block["type"] != "image"]}
            for one in self.attachments
        )
        return replace(self, attachments=tuple(attachments))

    @property
    def forms(self) -> tuple["SlackMessage", ...]:
        """The same from the richest form to the plainest: without pictures, as text alone, in one line with a file."""
        forms = [self, self.without_images]
        if self.whole is not None:
            files = (*self.files, *(() if self.whole in self.files else (self.whole,)))
            bare = replace(self, blocks=(), attachments=(), files=files)
            lengths = (block_limits.TEXT, block_limits.LINE)
            words = (escaped_within(self.whole.content, most) or self.text for most in lengths)
            forms += [replace(bare, text=text) for text in words]
        return tuple(one for number, one in enumerate(forms) if one not in forms[:number])

    @property
    def digest(self) -> bytes:
        """What tells messages apart that Slack may refuse for their content."""
        return blake2b(msgspec.json.encode(self.arguments()), digest_size=8).digest()

    def arguments(self) -> SlackJson:
        """Return the Web API arguments. Empty parts are sent too: an edit without them would leave the old ones."""
        return {"text": self.text, "blocks": list(self.blocks), "attachments": list(self.attachments)}
