"""Actions of people that tests trigger: write, press, choose, submit."""

from collections.abc import Mapping
from typing import Any

from demo.lookalikes.slack.delivery import events
from demo.lookalikes.slack.interactions import acting, modals, writing
from demo.lookalikes.slack.interactions.acting import FoundElement, Target
from demo.lookalikes.slack.interactions.interaction import Interaction, InteractionContext
from demo.lookalikes.slack.interactions.values import value_of, valued
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Channel, Person
from demo.lookalikes.slack.state.workspace import Workspace


class UserActions:
    """Actions of people. Names are `ana`, `#gpu-alerts` or `@ana` (her direct message with the bot)."""

    workspace: Workspace
    context: InteractionContext

    async def types(self, who: str, where: str, text: str, *, thread_ts: str | None = None) -> Interaction:
        """Post a message, or send a slash command and wait for its acknowledgement.

        Raise NotPossibleError when Slack's client would refuse it.
        """
        return await writing.types(
            self.context, self._person(who), self._channel(who, where), text, thread_ts
        )

    def _find(self, who: str, target: Target, which: str) -> FoundElement:
        return acting.find(self.context, self._person(who), target, which)

    async def presses(self, who: str, target: Target, which: str, *, confirm: bool = True) -> Interaction:
        """Press a button by its text or action id. `confirm=False` declines its confirmation dialog."""
        found = self._find(who, target, which)
        if found.element.get("confirm") and not confirm:
            return Interaction(person=found.person.id)
        return await found.press()

    async def chooses(
        self, who: str, target: Target, which: str, chosen: Any, *, confirm: bool = True
    ) -> Interaction:
        """Choose in a menu (by action id, block id, label or placeholder); `chosen` is an option's text or value.

        Multi-selects take lists, menus of people take names. `…` or `overflow` finds the only overflow menu.
        """
        if which in ("…", "overflow"):
            which = next(e["action_id"] for _, e in acting.elements(target) if e["type"] == "overflow")
        found = self._find(who, target, which)
        if found.element.get("confirm") and not confirm:
            return Interaction(person=found.person.id)
        return await found.choose(chosen)

    async def searches(self, who: str, target: Target, which: str, typed: str) -> list[str]:
        """Type into an external select and return the texts of the options that the app gives."""
        options = await self._find(who, target, which).suggest(typed)
        return [option["text"]["text"] for option in options]

    async def submits(
        self, who: str, view: Mapping[str, Any], values: Mapping[str, Any] | None = None
    ) -> Interaction:
        """Fill in a modal and submit it; `values` are by block id, action id or label."""
        stored = self.workspace.views[view["id"]]
        for which, chosen in (values or {}).items():
            found = self._find(who, stored, which)
            found.remember(value_of(self.workspace, found.element, chosen))
        return await modals.submit(self.context, self._person(who), stored)

    async def closes(self, who: str, view: Mapping[str, Any]) -> Interaction:
        """Dismiss a modal."""
        return await modals.dismiss(self.context, self._person(who), self.workspace.views[view["id"]])

    async def uploads(
        self,
        who: str,
        where: str,
        name: str,
        content: bytes,
        *,
        comment: str = "",
        thread_ts: str | None = None,
    ) -> Interaction:
        """Share a file."""
        channel = self._channel(who, where)
        return writing.uploads(self.context, self._person(who), channel, (name, content), comment, thread_ts)

    async def opens_home(self, who: str) -> None:
        """Open the app's home tab."""
        modals.open_home(self.context, self._person(who))

    async def uses_shortcut(self, who: str, which: str, message: Message | None = None) -> Interaction:
        """Use a global shortcut, or one on a message."""
        return await modals.use_shortcut(self.context, self._person(who), which, message)

    def edits(self, who: str, message: Message, text: str) -> None:
        """Edit the person's own message."""
        writing.edits(self.context, self._person(who), message, text)

    def deletes(self, who: str, message: Message) -> None:
        """Delete any message, as an administrator may."""
        self._person(who)
        writing.deletes(self.context, message)

    def reacts(self, who: str, message: Message, name: str) -> None:
        """Add a reaction, or remove it when it exists."""
        writing.reacts(self.context, self._person(who), message, name)

    def joins(self, who: str, where: str) -> None:
        """Join a channel; `yardmaster` adds the bot."""
        person, channel = self._person(who), self._channel(who, where)
        channel.members.add(person.id)
        events.tell_of_joining(self.workspace, person, channel)
        self.workspace.changes.publish({"kind": "reload", "only_for": None})

    def leaves(self, who: str, where: str) -> None:
        """Leave a channel; `yardmaster` removes the bot."""
        self._channel(who, where).members.discard(self._person(who).id)
        self.workspace.changes.publish({"kind": "reload", "only_for": None})

    def values(self, view: Mapping[str, Any]) -> dict[str, Any]:
        """Return the current values of a modal's fields, by block id."""
        current = acting.current(self.workspace.views[view["id"]])
        state = current["state"]["values"]
        return {b["block_id"]: state[b["block_id"]][e["action_id"]] for b, e in valued(current["blocks"])}

    def _person(self, who: str) -> Person:
        return self.workspace.directory.person(who)

    def _channel(self, who: str, where: str) -> Channel:
        if where.lstrip("@") == self.workspace.bot.name:
            return self.workspace.directory.add_direct(self._person(who).id, self.workspace.bot.id)
        return self.workspace.directory.channel(where)
