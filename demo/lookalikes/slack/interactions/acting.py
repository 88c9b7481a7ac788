"""Use of the elements in messages and views: press, choose, search."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from demo.lookalikes.slack.delivery import payloads
from demo.lookalikes.slack.interactions.interaction import Interaction, InteractionContext, NotPossibleError
from demo.lookalikes.slack.interactions.values import FIELDS, options_of, state_of, value_of
from demo.lookalikes.slack.kit.defaults import elements_of
from demo.lookalikes.slack.kit.suggestions import mistakes_in_suggestions
from demo.lookalikes.slack.kit.visible_text import label_of
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Person

#: A message, or a view as the app receives it.
Target = Message | dict[str, Any]


def blocks_of(target: Target) -> list[dict[str, Any]]:
    """Return all blocks of a view, or of a message and its attachments."""
    if isinstance(target, dict):
        return list(target["blocks"])
    return target.blocks + [block for part in target.attachments for block in part.get("blocks") or ()]


def elements(target: Target) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every element that a person can use, with its block."""
    for block in blocks_of(target):
        for element in elements_of(block):
            if "action_id" in element:
                yield block, element


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundElement:
    """An element and its block, in a message or a view that a person looks at."""

    context: InteractionContext
    person: Person
    target: Target
    block: dict[str, Any]
    element: dict[str, Any]

    @property
    def has_value(self) -> bool:
        """Whether a person picks a value in it rather than pressing it."""
        return self.element["type"] in FIELDS or self.element["type"] == "overflow"

    async def press(self) -> Interaction:
        """Press a button."""
        action = {"type": "button", **self._action(), "text": self.element["text"]}
        action |= {name: self.element[name] for name in ("value", "style", "url") if name in self.element}
        return await self._act(action)

    async def choose(self, chosen: Any) -> Interaction:
        """Choose in a menu, tick a box, pick a date. An input block notifies the app only with `dispatch_action`."""
        workspace, element = self.context.workspace, self.element
        action = self._action()
        if element["type"] == "overflow":
            option = next((o for o in options_of(element) if chosen in (o["value"], o["text"]["text"])), None)
            if option is None:
                raise NotPossibleError(f"there is no {chosen!r} in the menu")
            return await self._act(action | {"type": "overflow", "selected_option": option})
        if element["type"] == "external_select" and not isinstance(chosen, dict):
            options = await self.suggest(str(chosen))
            value = value_of(workspace, {**element, "options": options}, chosen)
        elif element["type"] == "multi_external_select":
            many = list(chosen) if isinstance(chosen, list | tuple) else [chosen]
            options = [
                option
                for one in many
                for option in ([one] if isinstance(one, dict) else await self.suggest(str(one)))
            ]
            value = value_of(workspace, {**element, "options": options}, many)
        elif element["type"] == "external_select":
            value = {"type": "external_select", "selected_option": chosen}
        else:
            value = value_of(workspace, element, chosen)
        self.remember(value)
        if self.block["type"] == "input" and not self.block.get("dispatch_action"):
            return Interaction(person=self.person.id)
        return await self._act(action | value)

    async def suggest(self, typed: str) -> list[dict[str, Any]]:
        """Return the options that the app gives for text typed into an external select."""
        workspace, target = self.context.workspace, self.target
        location: dict[str, Any] = {"block_id": self.block["block_id"]}
        if isinstance(target, dict):
            location |= {"container": {"type": "view", "view_id": target["id"]}, "view": current(target)}
        else:
            channel = workspace.directory.channels[target.channel]
            location |= {
                "container": {"type": "message", "message_ts": target.ts, "channel_id": channel.id},
                "channel": {"id": channel.id, "name": channel.name},
                "message": target.body,
            }
        envelope = payloads.suggestion(workspace, self.person, typed, self.element, location)
        failure = await self.context.post.send(envelope)
        if failure:
            return []
        answer = envelope.response or {}
        if wrong := mistakes_in_suggestions(answer, workspace.limits):
            # Slack's client shows that it cannot load the results.
            workspace.notice(self.person.id, f"The results could not be loaded: {wrong[0]}")
            return []
        return options_of(answer)

    def remember(self, value: dict[str, Any]) -> None:
        """Store what was picked, so that the next payload reports it."""
        if isinstance(self.target, dict):
            values = self.target["state"]["values"]
        else:
            values = self.context.workspace.picked.setdefault((self.person.id, self.target.ts), {})
        values.setdefault(self.block["block_id"], {})[self.element["action_id"]] = value

    def _action(self) -> dict[str, Any]:
        return {
            "action_id": self.element["action_id"],
            "block_id": self.block["block_id"],
            "action_ts": self.context.workspace.clock.next_ts(),
        }

    async def _act(self, action: dict[str, Any]) -> Interaction:
        workspace, person, target = self.context.workspace, self.person, self.target
        if isinstance(target, dict):
            envelope = payloads.view_actions(workspace, person, current(target), action)
        else:
            picked = workspace.picked.get((person.id, target.ts), {})
            state = state_of(blocks_of(target), picked)
            envelope = payloads.message_actions(workspace, person, target, action, state)
        failure = await self.context.post.send(envelope)
        if failure:
            # Slack marks the element with a warning sign; here the person gets a notice.
            workspace.notice(person.id, "This app did not respond in time. Please try again.")
        return Interaction(person=person.id, envelope=envelope, error=failure)


def find(
    context: InteractionContext, person: Person, target: Target, which: str, block_id: str | None = None
) -> FoundElement:
    """Return the element with this action id, block id, label or text.

    Raise NotPossibleError, with the available names, when there is none.
    """
    known = []
    for block, element in elements(target):
        names = {element["action_id"], block["block_id"], label_of(element)}
        names |= {(block.get("label") or {}).get("text")}
        if which in names and block_id in (None, block["block_id"]):
            return FoundElement(context=context, person=person, target=target, block=block, element=element)
        known.append(label_of(element) or element["action_id"])
    raise NotPossibleError(f"there is no {which!r} here; there are {known}")


def current(view: dict[str, Any]) -> dict[str, Any]:
    """Return a view with the values of all its elements."""
    return view | {"state": {"values": state_of(view["blocks"], view["state"]["values"])}}
