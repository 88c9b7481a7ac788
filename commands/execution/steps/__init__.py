"""The kinds of steps. A new kind is a module of this folder, and a line in `Step`."""

from commands.execution.steps.call import Call
from commands.execution.steps.create import Create
from commands.execution.steps.delete import Delete
from commands.execution.steps.evict import Evict
from commands.execution.steps.exec import Exec
from commands.execution.steps.nodejob import NodeJob
from commands.execution.steps.order import Order
from commands.execution.steps.patch import Patch
from commands.execution.steps.record import Record
from commands.execution.steps.running import Running
from commands.execution.steps.scale import Scale
from commands.execution.steps.wait import Wait

Step = (
    Patch  #
    | Create
    | Delete
    | Scale
    | Evict
    | Wait
    | Running
    | Record
    | Exec
    | NodeJob
    | Order
    | Call
)

__all__ = [
    "Call",
    "Create",
    "Delete",
    "Evict",
    "Exec",
    "NodeJob",
    "Order",
    "Patch",
    "Record",
    "Running",
    "Scale",
    "Step",
    "Wait",
]
