"""The kinds of steps. A new kind is a module of this folder, and a line in `Step`."""

from commands.plans.steps.create import Create
from commands.plans.steps.delete import Delete
from commands.plans.steps.evict import Evict
from commands.plans.steps.patch import Patch
from commands.plans.steps.record import Record
from commands.plans.steps.running import Running
from commands.plans.steps.scale import Scale
from commands.plans.steps.wait import Wait

Step = (
    Patch  #
    | Create
    | Delete
    | Scale
    | Evict
    | Wait
    | Running
    | Record
)

__all__ = ["Create", "Delete", "Evict", "Patch", "Record", "Running", "Scale", "Step", "Wait"]
