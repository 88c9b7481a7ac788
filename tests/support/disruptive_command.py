"""A command that always needs a second person, as something is lost for good."""

from dataclasses import replace
from typing import Any

from bot.wiring import Yardmaster
from commands.core.command import Command, PlanDraft
from commands.core.context import CommandContext
from commands.core.matching.lexicon import Lexicon
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import in_order
from commands.execution.steps import Patch


async def _wipe(action: Any, context: CommandContext) -> PlanDraft:
    ref = ObjectRef(
        api="v1", kind="Node", name="gpu-a01", uid=context.cluster.inventory().nodes["gpu-a01"].metadata.uid
    )
    patch = Patch(ref=ref, description="mark it", body={"metadata": {"labels": {"wiped": "yes"}}})
    return PlanDraft(
        title="Wipe gpu-a01",
        stages=in_order(patch),
        disrupts=(Disruption(name="vision/detr"),),
        breaks=("it wipes gpu-a01",),
    )


WIPE = Command(noun="node", verb="wipe", summary="Wipe.", action=dict, plan=_wipe, example="node wipe")


def with_wipe(yard: Yardmaster) -> None:
    """Add a disruptive command to the bot."""
    more = replace(yard.pipeline, lexicon=Lexicon((*yard.pipeline.catalogue, WIPE)))
    object.__setattr__(yard.pipeline, "lexicon", more.lexicon)
