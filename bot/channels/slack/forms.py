"""Forms in Slack: opened by a line that lacks arguments, by a button or by the shortcut, and read when submitted."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog

from bot.channels.form_names import Suggest
from bot.channels.interaction import Interaction
from bot.channels.slack.directory import SlackDirectory
from bot.channels.slack.form_view import (
    chooser_view,
    chosen_command,
    form_view,
    kinds_in,
    metadata_of,
    options_of,
    values_of,
    without_marks,
)
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import SendError
from bot.language.message_catalogue import ENGLISH, Catalogue
from collectors.facts.results import SourceError
from collectors.facts.sentences import sentence
from commands.command_catalogue import CATALOGUE
from commands.core.command import AnyCommand, FormRequest
from commands.core.form import line_words, mistakes
from commands.core.guidance import line_from_words
from commands.core.parameter_types import NameKind

ANSWER_WITHIN = 2.0  # seconds; Slack waits three
_LATE = sentence(
    "The form could not be opened: Slack allows three seconds, and they had run out. Use the shortcut again."
)
_NOT_OFFERED = ("help", "ask", "home")  # they take a line of their own, or nothing

Ack = Callable[..., Awaitable[Any]]

log = structlog.get_logger(__name__)


async def nothing(_user: str, _kinds: tuple[NameKind, ...], _typed: str, _cluster: str) -> Sequence[str]:
    return ()


class SlackForms:
    """Opens forms, fills their menus, and turns a submitted one into a command line."""

    def __init__(
        self, client: SlackClient, directory: SlackDirectory, catalogue: Catalogue = ENGLISH
    ) -> None:
        self._suggest: Suggest = nothing
        self._client = client
        self._directory = directory
        self._catalogue = catalogue
        self._commands = {command.name: command for command in CATALOGUE}

    def suggest_from(self, suggest: Suggest) -> None:
        """Fill menus from `suggest`: names for a person, by kinds, the typed text and the cluster."""
        self._suggest = suggest

    async def opened(self, interaction: Interaction, form: FormRequest) -> bool:
        """Open the form for the person who interacted, and return whether Slack showed it."""
        if not interaction.trigger:
            return False
        view = form_view(
            form, channel=interaction.channel, thread=interaction.thread, catalogue=self._catalogue
        )
        return await self._open(interaction.trigger, view)

    async def choose(self, ack: Ack, body: dict[str, Any]) -> None:
        """Answer the global shortcut: ask which command, except an outsider."""
        await ack()
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                if (await self._directory.account(body["user"]["id"])).is_outsider:
                    return
        except (TimeoutError, SourceError) as error:
            log.warning("shortcut not answered", reason=str(error))
            return
        if not await self._open(body["trigger_id"], chooser_view(self._offered, self._catalogue)):
            await self._tell(body["user"]["id"], _LATE)

    async def chosen(self, ack: Ack, body: dict[str, Any]) -> None:
        """Replace the question which command by that command's form."""
        command = self._commands.get(chosen_command(body["view"]))
        if command is None:
            await ack()
            return
        form = FormRequest(command=command, words=(), cluster="")
        await ack(response_action="update", view=form_view(form, catalogue=self._catalogue))

    async def suggested(self, ack: Ack, body: dict[str, Any]) -> None:
        """Answer what a person typed into a menu with names that exist."""
        names: Sequence[str] = ()
        cluster = metadata_of(body.get("view") or {}).get("cluster", "")
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                kinds = kinds_in(body.get("action_id", ""))
                names = await self._suggest(body["user"]["id"], kinds, body.get("value") or "", cluster)
        except TimeoutError:
            log.warning("no suggestions in time")
        await ack(options=options_of(names))

    def errors_in(self, view: dict[str, Any]) -> dict[str, str]:
        """Return what is wrong with a submitted form, by its block, as Slack shows it: plain text, without marks."""
        command = self._command_of(view)
        if command is None:
            return {}
        found = mistakes(command, values_of(view))
        return {name: without_marks(self._catalogue.say(text)) for name, text in found.items()}

    def line_in(self, view: dict[str, Any]) -> str:
        """Return the command line that a submitted form stands for; empty if it is none of ours."""
        command = self._command_of(view)
        if command is None:
            return ""
        return line_from_words(line_words(command, values_of(view)), metadata_of(view).get("cluster", ""))

    def _command_of(self, view: dict[str, Any]) -> AnyCommand | None:
        return self._commands.get(metadata_of(view).get("command", ""))

    @property
    def _offered(self) -> list[AnyCommand]:
        return [command for command in self._commands.values() if command.name not in _NOT_OFFERED]

    async def _tell(self, user: str, words: str) -> None:
        """Notify a person directly of the result of the shortcut: it belongs to no channel."""
        web = self._client.web
        try:
            opened = await self._client.call("conversations.open", web.conversations_open(users=user))
            call = web.chat_postMessage(channel=str(opened["channel"]["id"]), text=self._catalogue.say(words))
            await self._client.call("chat.postMessage", call)
        except SendError as error:
            log.warning("shortcut not answered", reason=str(error))

    async def _open(self, trigger: str, view: dict[str, Any]) -> bool:
        try:
            await self._client.call("views.open", self._client.web.views_open(trigger_id=trigger, view=view))
        except SendError as error:  # a trigger is good for three seconds
            log.info("form not opened", reason=str(error))
            return False
        return True
