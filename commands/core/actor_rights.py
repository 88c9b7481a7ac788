"""The rights of one actor on one cluster, as commands ask for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts.sentences import sentence
from commands.core.command import AnyCommand
from commands.core.permissions import Permissions
from commands.core.request import Actor, ActorKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorRights:
    actor: Actor
    permissions: Permissions
    catalogue: Sequence[AnyCommand]
    cluster: str

    @property
    def may(self) -> Mapping[str, bool]:
        """Whether the actor may run each command, by its name."""
        return {
            command.name: self.permissions.refusal(self.actor, command, cluster=self.cluster) is None
            for command in self.catalogue
        }

    def refusal(self, name: str, namespaces: Sequence[str]) -> str | None:
        """Return why the actor may not run a command in these namespaces, or None."""
        command = self._named(name)
        if command is None:
            return sentence("this version has no command `{name}`.", name=name)
        # A command open to everyone for their own objects still needs a grant for those of others.
        guarded = replace(command, checks_permission_itself=False)
        return self.permissions.refusal(self.actor, guarded, cluster=self.cluster, namespaces=namespaces)

    def automation_refusal(self, automation: str, name: str, namespaces: Sequence[str]) -> str | None:
        """Return why an automation may not run a command in these namespaces, or None."""
        actor = Actor(id=automation, name=automation, kind=ActorKind.AUTOMATION)
        return replace(self, actor=actor).refusal(name, namespaces)

    def granted(self, name: str) -> tuple[str, ...]:
        """Return the patterns of the namespaces in which the actor may run a command."""
        command = self._named(name)
        return self.permissions.namespaces(self.actor, command, cluster=self.cluster) if command else ()

    def _named(self, name: str) -> AnyCommand | None:
        return next((command for command in self.catalogue if command.name == name), None)
