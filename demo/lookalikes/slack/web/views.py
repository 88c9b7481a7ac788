"""The Web API's `views.*`: modals and home tabs."""

import hashlib
import json
from typing import Any

from demo.lookalikes.slack.kit.blocks import mistakes_in_view, size_in_bytes
from demo.lookalikes.slack.kit.defaults import filled
from demo.lookalikes.slack.state.people import HOME
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.errors import SlackError
from demo.lookalikes.slack.web.finding import person_of


def open_view(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """views.open: a modal, in place of the open ones."""
    view = judged(workspace, args.part("view"), kinds=("modal",))
    trigger = workspace.tickets.exchange(args.need("trigger_id"), workspace.clock.now())
    made = shown_view(workspace, view, trigger.person)
    workspace.stacks[trigger.person] = [made["id"]]
    tell(workspace, trigger.person)
    return {"view": made}


def push(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """views.push: a modal on top of the one that was used."""
    view = judged(workspace, args.part("view"), kinds=("modal",))
    trigger = workspace.tickets.exchange(args.need("trigger_id"), workspace.clock.now())
    return {"view": pushed(workspace, view, trigger.person)}


def update(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """views.update: the replacement of a view, found by its id or external id."""
    view = judged(workspace, args.part("view"), kinds=("modal", "home"))
    old = _find(workspace, args)
    if args.text("hash") and args.text("hash") != old["hash"]:
        raise SlackError("hash_conflict")
    return {"view": replaced(workspace, old, view)}


def publish(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """views.publish: a person's home tab."""
    person = person_of(workspace, args.need("user_id"))
    view = judged(workspace, args.part("view"), kinds=("home",))
    old = workspace.homes.get(person.id)
    if args.text("hash") and old and args.text("hash") != old["hash"]:
        raise SlackError("hash_conflict")
    made = replaced(workspace, old, view) if old else shown_view(workspace, view, person.id)
    workspace.homes[person.id] = made
    tell(workspace, person.id)
    return {"view": made}


def judged(workspace: Workspace, view: Any, *, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Return a valid view; raise `invalid_arguments` with the location of each error, or `view_too_large`."""
    diagnostics = mistakes_in_view(view, workspace.limits)
    if not diagnostics and view["type"] not in kinds:
        diagnostics = [f"must be one of: {', '.join(kinds)} [json-pointer:/view/type]"]
    if diagnostics:
        messages = [
            f"[ERROR] {each}".replace("[json-pointer:/", "[json-pointer:/view/", 1) for each in diagnostics
        ]
        raise SlackError("invalid_arguments", response_metadata={"messages": messages})
    if size_in_bytes(view) > workspace.limits["view_bytes"]:
        raise SlackError("view_too_large")
    return dict(view)


def shown_view(workspace: Workspace, view: dict[str, Any], person: str) -> dict[str, Any]:
    """Store a new view under a new id; raise `duplicate_external_id` when its external id is taken."""
    external = view.get("external_id") or ""
    if external and any(known["external_id"] == external for known in workspace.views.values()):
        raise SlackError("duplicate_external_id")
    ident = workspace.new_id("V")
    made = _complete(workspace, view) | {
        "id": ident,
        "root_view_id": ident,
        "previous_view_id": None,
        "state": {"values": {}},
    }
    workspace.views[ident] = made
    workspace.shown_to[ident] = person
    return made


def pushed(workspace: Workspace, view: dict[str, Any], person: str) -> dict[str, Any]:
    """Push a view on a person's stack; raise `push_limit_reached`, or `not_found` when no modal is open."""
    stack = workspace.stacks.get(person, [])
    if not stack:
        raise SlackError("not_found")
    if len(stack) >= workspace.limits["view_stack"]:
        raise SlackError("push_limit_reached")
    made = shown_view(workspace, view, person)
    made |= {"root_view_id": stack[0], "previous_view_id": stack[-1]}
    stack.append(made["id"])
    tell(workspace, person)
    return made


def replaced(workspace: Workspace, old: dict[str, Any], view: dict[str, Any]) -> dict[str, Any]:
    """Replace a view; the values of inputs with the same block ids are kept."""
    kept = {name: old[name] for name in ("id", "root_view_id", "previous_view_id", "state")}
    made = _complete(workspace, view) | kept
    names = {block["block_id"] for block in made["blocks"]}
    made["state"] = {"values": {name: part for name, part in old["state"]["values"].items() if name in names}}
    workspace.views[made["id"]] = made
    person = workspace.shown_to[made["id"]]
    if workspace.homes.get(person, {}).get("id") == made["id"]:
        workspace.homes[person] = made
    tell(workspace, person)
    return made


def tell(workspace: Workspace, person: str) -> None:
    """Publish the person's open views to their pages."""
    workspace.changes.publish({"kind": "views", "only_for": person, **views_of(workspace, person)})


def views_of(workspace: Workspace, person: str) -> dict[str, Any]:
    """Return a person's open modals, top one last, and their home tab."""
    stack = [workspace.views[ident] for ident in workspace.stacks.get(person, [])]
    return {"stack": stack, "home": workspace.homes.get(person)}


def _complete(workspace: Workspace, view: dict[str, Any]) -> dict[str, Any]:
    defaults: dict[str, Any] = {
        "callback_id": "",
        "external_id": "",
        "private_metadata": "",
        "title": None,
        "submit": None,
        "close": None,
        "clear_on_close": False,
        "notify_on_close": False,
    }
    fixed = {
        "team_id": HOME,
        "app_id": workspace.app_id,
        "app_installed_team_id": HOME,
        "bot_id": workspace.bot_id,
        "blocks": filled(view["blocks"], lambda: workspace.new_id("b")),
        "hash": f"{workspace.clock.next_ts()}.{hashlib.sha256(json.dumps(view).encode()).hexdigest()[:8]}",
    }
    return defaults | view | fixed


def _find(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    ident, external = args.text("view_id"), args.text("external_id")
    for view in workspace.views.values():
        is_open = (
            view["id"] in workspace.stacks.get(workspace.shown_to[view["id"]], []) or view["type"] == "home"
        )
        if is_open and ((ident and view["id"] == ident) or (external and view["external_id"] == external)):
            return view
    raise SlackError("not_found")


METHODS = {"views.open": open_view, "views.push": push, "views.update": update, "views.publish": publish}
