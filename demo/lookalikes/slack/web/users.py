"""The Web API's `users.*`, `usergroups.*` and `auth.test`."""

from typing import Any

from demo.lookalikes.slack.state.people import HOME
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.errors import SlackError
from demo.lookalikes.slack.web.finding import person_of


def auth_test(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """auth.test"""
    return {
        "url": f"{workspace.url}/",
        "team": workspace.name,
        "user": workspace.bot.name,
        "team_id": HOME,
        "user_id": workspace.bot.id,
        "bot_id": workspace.bot_id,
        "is_enterprise_install": False,
    }


def info(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """users.info"""
    return {"user": person_of(workspace, args.need("user")).wire()}


def lookup_by_email(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """users.lookupByEmail"""
    email = args.need("email").lower()
    for person in workspace.directory.people.values():
        if person.email.lower() == email and not person.deactivated and not person.stranger:
            return {"user": person.wire()}
    raise SlackError("users_not_found")


def usergroups(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """usergroups.list"""
    with_users = args.flag("include_users")
    return {
        "usergroups": [group.wire(with_users=with_users) for group in workspace.directory.groups.values()]
    }


def usergroup_users(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """usergroups.users.list"""
    group = workspace.directory.groups.get(args.need("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group.members)}


METHODS = {
    "auth.test": auth_test,
    "users.info": info,
    "users.lookupByEmail": lookup_by_email,
    "usergroups.list": usergroups,
    "usergroups.users.list": usergroup_users,
}
