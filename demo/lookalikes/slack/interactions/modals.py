"""Modals, the home tab and shortcuts as people use them: submit, dismiss, open."""

from typing import Any

from demo.lookalikes.slack.delivery import events, payloads
from demo.lookalikes.slack.interactions.acting import current
from demo.lookalikes.slack.interactions.interaction import Interaction, InteractionContext, NotPossibleError
from demo.lookalikes.slack.interactions.values import is_empty, valued
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Person
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.errors import SlackError
from demo.lookalikes.slack.web.views import judged, pushed, replaced, tell

_CONNECTION_ERROR = "We had some trouble connecting. Try again?"


async def submit(context: InteractionContext, person: Person, view: dict[str, Any]) -> Interaction:
    """Submit a modal with its current values.

    As in Slack's client, empty required fields and texts of a wrong length are refused without the app.
    """
    workspace = context.workspace
    filled = current(view)
    if refused := dict(_field_errors(filled)):
        return Interaction(person=person.id, error="fields", errors=refused)
    envelope = payloads.view_submission(workspace, person, filled)
    failure = await context.post.send(envelope)
    if failure:
        workspace.notice(person.id, _CONNECTION_ERROR)
        return Interaction(person=person.id, envelope=envelope, error=failure)
    try:
        errors = _apply_response(workspace, person.id, view, envelope.response or {})
    except SlackError as refusal:
        workspace.notice(person.id, _CONNECTION_ERROR)
        return Interaction(person=person.id, envelope=envelope, error=refusal.error)
    return Interaction(person=person.id, envelope=envelope, errors=errors)


async def dismiss(context: InteractionContext, person: Person, view: dict[str, Any]) -> Interaction:
    """Close the top modal, and send `view_closed` for views with `notify_on_close`."""
    workspace = context.workspace
    stack = workspace.stacks.get(person.id, [])
    cleared = bool(view["clear_on_close"])
    closed = list(stack) if cleared else stack[-1:]
    _close(workspace, person.id, everything=cleared)
    for ident in closed:
        closed_view = workspace.views[ident]
        if closed_view["notify_on_close"]:
            envelope = payloads.view_closed(workspace, person, closed_view, cleared=cleared)
            await context.post.send(envelope)
            if ident == view["id"]:
                return Interaction(person=person.id, envelope=envelope)
    return Interaction(person=person.id)


def open_home(context: InteractionContext, person: Person, tab: str = "home") -> None:
    """Open the app's home tab (`home`) or its messages (`messages`)."""
    events.tell_of_home(context.workspace, person, tab)


async def use_shortcut(
    context: InteractionContext, person: Person, callback_id: str, message: Message | None
) -> Interaction:
    """Use a global or message shortcut by its callback id or title.

    Raise NotPossibleError when the app has no such shortcut.
    """
    options = context.workspace.options
    known = options.message_shortcuts if message else options.shortcuts
    for ident, title in known:
        if callback_id in (ident, title):
            envelope = payloads.shortcut(context.workspace, person, ident, message)
            failure = await context.post.send(envelope)
            return Interaction(person=person.id, envelope=envelope, error=failure)
    raise NotPossibleError(f"the app has no shortcut {callback_id!r}; it has {[title for _, title in known]}")


def _apply_response(
    workspace: Workspace, person: str, view: dict[str, Any], response: dict[str, Any]
) -> dict[str, str]:
    match response.get("response_action"):
        case "errors":
            known = {block["block_id"] for block in view["blocks"] if block["type"] == "input"}
            errors = {str(name): str(text) for name, text in (response.get("errors") or {}).items()}
            if not errors or set(errors) - known:
                # Slack shows a connection error when the errors name no input block of the view.
                raise SlackError("invalid_errors")
            return errors
        case "update":
            replaced(workspace, view, judged(workspace, response.get("view"), kinds=("modal",)))
        case "push":
            pushed(workspace, judged(workspace, response.get("view"), kinds=("modal",)), person)
        case "clear":
            _close(workspace, person, everything=True)
        case None:
            _close(workspace, person, everything=False)
        case other:
            raise SlackError(f"invalid_response_action: {other}")
    return {}


def _close(workspace: Workspace, person: str, *, everything: bool) -> None:
    stack = workspace.stacks.get(person, [])
    workspace.stacks[person] = [] if everything else stack[:-1]
    tell(workspace, person)


def _field_errors(view: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    values = view["state"]["values"]
    for block, element in valued(view["blocks"]):
        if block["type"] != "input":
            continue
        value = values[block["block_id"]][element["action_id"]]
        if is_empty(value):
            if not block.get("optional"):
                found.append((block["block_id"], "Please complete this required field."))
            continue
        written = value.get("value") or ""
        if len(written) < element.get("min_length", 0):
            found.append((block["block_id"], f"Please enter at least {element['min_length']} characters."))
        elif len(written) > element.get("max_length", 3000):
            found.append((block["block_id"], f"Please enter at most {element['max_length']} characters."))
    return found
