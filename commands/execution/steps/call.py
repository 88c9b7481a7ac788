"""Call: a signed webhook, with the same id for each retry. What it answers is in the journal."""

import msgspec

from collectors.facts.one_line import SENTENCE, one_line
from collectors.facts.sentences import sentence
from commands.execution.node_effects import NO_EFFECTS_ON_NODES, NodeEffect, NodeEffects
from commands.execution.object_refs import JsonValue, ObjectReader
from commands.execution.rights import Right
from commands.execution.step_outcomes import Done, Outcome, Unknown
from commands.execution.steps.step_kind import Attempt, DryRun, ObjectStep

CALLED_FOR = 120.0  # seconds that it is retried


class Call(ObjectStep, frozen=True, kw_only=True, omit_defaults=True, tag="call"):
    """Post `content` to the webhook of this name in the settings. It is about `ref`, and has no inverse.

    The receiver knows a retry by its id. Only it knows whether a call without an answer arrived.
    """

    hook: str
    content: dict[str, JsonValue]
    seconds: float = CALLED_FOR

    @property
    def limit(self) -> float:
        return self.seconds

    def meaning(self) -> list[object]:
        return ["Call", self.ref, self.hook, self.content]

    def inverse(self, uid: str) -> None:
        return None

    def on_nodes(self) -> NodeEffects:
        """What a webhook about a node does is not known, so it is counted."""
        return {self.ref.name: NodeEffect.DISRUPTED} if self.ref.kind == "Node" else NO_EFFECTS_ON_NODES

    @classmethod
    def rights(cls, group: str, *resources: str, namespace: str = "") -> tuple[Right, ...]:
        return ()

    async def dry_run(self, run: DryRun) -> Outcome:
        return Done()

    async def apply(self, attempt: Attempt) -> Outcome:
        id = f"{attempt.plan}/{self.hook}/{self.ref.name}"
        body = msgspec.json.encode({**self.content, "id": id, "plan": attempt.plan}, order="sorted")
        answer = await attempt.send(attempt.hooks.call(self.hook, id=id, body=body))
        text = one_line(answer.text, SENTENCE)
        if not text:
            return Done(text=sentence("answered {status}", status=str(answer.status)))
        return Done(text=sentence("answered {status}: {text}", status=str(answer.status), text=text))

    async def observe(self, reader: ObjectReader, plan: str) -> Outcome:
        return Unknown(
            reason=sentence("only the receiver of `{hook}` knows whether it arrived", hook=self.hook)
        )
