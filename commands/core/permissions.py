"""Permissions: who may run which command and where. Pure; without a grant the answer is no."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import Sentence, as_code, listed, sentence
from commands.core.command import AnyCommand, DeniedError
from commands.core.grant import Grant
from commands.core.request import Actor, ActorKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    teams: Mapping[str, Grant]
    automation: Mapping[str, Grant]

    def refusal(
        self, actor: Actor, command: AnyCommand, *, cluster: str, namespaces: Iterable[str] = ()
    ) -> str | None:
        """Return why this actor may not run this command there, or None. An empty reason means: do not answer."""
        if actor.is_guest:
            return ""
        if command.for_everyone:
            return None
        if actor.kind is ActorKind.AUTOMATION:
            return self._automation_refusal(actor, command, cluster=cluster, namespaces=namespaces)
        if command.checks_permission_itself:
            return None
        if not command.changes_something:
            if actor.teams:
                return None
            return sentence(
                "Only members of a team may run `{command}`; you are in no team. {advice}",
                command=command.name,
                advice=self._missing_grant(),
            )
        grants = [self.teams[team] for team in sorted(actor.teams) if team in self.teams]
        matching = [grant for grant in grants if fits_any(command.name, grant.commands)]
        if not matching:
            allowed = sorted(
                name for name, grant in self.teams.items() if fits_any(command.name, grant.commands)
            )
            if not allowed:
                return sentence(
                    "Nobody may run `{command}` yet. {advice}",
                    command=command.name,
                    advice=self._missing_grant(),
                )
            return sentence(
                "Only {allowed} may run `{command}`; you are in {teams}.",
                allowed=listed(allowed, "or"),
                command=command.name,
                teams=listed(sorted(actor.teams)) or sentence("no team"),
            )
        granted = [grant for grant in matching if fits_any(cluster, grant.clusters)]
        if not granted:
            return sentence(
                "You may run `{command}`, but not on cluster {cluster}.",
                command=command.name,
                cluster=cluster,
            )
        for namespace in namespaces:
            if not any(fits_any(namespace, grant.namespaces) for grant in granted):
                own = as_code(dict.fromkeys(name for grant in granted for name in grant.namespaces))
                return sentence(
                    "You may run `{command}`, but not in namespace {namespace}; yours: {own}.",
                    command=command.name,
                    namespace=namespace,
                    own=own or sentence("none"),
                )
        return None

    def check(
        self, actor: Actor, command: AnyCommand, *, cluster: str, namespaces: Iterable[str] = ()
    ) -> None:
        """Raise DeniedError unless the actor may run this command there, with the teams that they can ask to."""
        where = list(namespaces)
        if (reason := self.refusal(actor, command, cluster=cluster, namespaces=where)) is None:
            return
        can_ask = command.plan is not None and actor.kind is ActorKind.PERSON and bool(actor.teams)
        teams = self.teams_for(command, cluster=cluster, namespaces=where) if can_ask else ()
        raise DeniedError(reason, teams=teams)

    def teams_for(
        self, command: AnyCommand, *, cluster: str, namespaces: Iterable[str] = ()
    ) -> tuple[str, ...]:
        """Return the teams that may run this command there, in all of these namespaces."""
        where = list(namespaces)
        return tuple(
            name
            for name, grant in sorted(self.teams.items())
            if fits_any(command.name, grant.commands)
            and fits_any(cluster, grant.clusters)
            and all(fits_any(namespace, grant.namespaces) for namespace in where)
        )

    def namespaces(self, actor: Actor, command: AnyCommand, *, cluster: str) -> tuple[str, ...]:
        """Return the patterns of the namespaces in which this actor may run this command there."""
        if actor.kind is ActorKind.AUTOMATION:
            grants = [self.automation[actor.id]] if actor.id in self.automation else []
        else:
            grants = [self.teams[team] for team in sorted(actor.teams) if team in self.teams]
        return tuple(
            dict.fromkeys(
                namespace
                for grant in grants
                if fits_any(command.name, grant.commands) and fits_any(cluster, grant.clusters)
                for namespace in grant.namespaces
            )
        )

    def _automation_refusal(
        self, actor: Actor, command: AnyCommand, *, cluster: str, namespaces: Iterable[str]
    ) -> str | None:
        grant = self.automation.get(actor.id)
        if (
            grant is None
            or not fits_any(command.name, grant.commands)
            or not fits_any(cluster, grant.clusters)
        ):
            return sentence(
                "the settings (automation.{actor}) do not allow `{command}` on {cluster}.",
                actor=actor.id,
                command=command.name,
                cluster=cluster,
            )
        if outside := [name for name in namespaces if not fits_any(name, grant.namespaces)]:
            return sentence(
                "the settings (automation.{actor}) do not allow `{command}` in {namespaces}.",
                actor=actor.id,
                command=command.name,
                namespaces=listed(outside),
            )
        return None

    @staticmethod
    def _missing_grant() -> Sentence:
        return sentence("Ask an administrator of Yardmaster to add your team to `teams` in the settings.")
