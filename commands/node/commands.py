"""The commands of `node`. A cordon is a lease: owner, reason, incident, until."""

from commands.core.command import Command
from commands.core.parameter_types import PERSON
from commands.core.parameters import NODE_ARGUMENT, NODES_ARGUMENT, lasting_option, option, reason_option
from commands.execution.steps import Patch
from commands.node.accept import ACCEPT
from commands.node.cordon_commands import CordonNodes, UncordonNodes, cordon, uncordon
from commands.node.drain import DRAIN
from commands.node.extend import ExtendCordons, plan_extension
from commands.node.hand_over import HandOverNodes, plan_hand_over
from commands.node.history import HISTORY
from commands.node.node_evidence import EVIDENCE
from commands.node.node_list import LIST
from commands.node.own_leases import UNDO_OF_LEASES, owns_leases
from commands.node.reboot import REBOOT
from commands.node.repair.repair_node import REPAIR
from commands.node.restart_agent import RESTART_AGENT
from commands.node.show import ShowNode, show
from commands.node.taint import TAINT, UNTAINT

_PATCH_NODES = Patch.rights("", "nodes")

COMMANDS = (
    LIST,
    HISTORY,
    Command(
        noun="node",
        verb="show",
        summary="Show a node: GPUs, conditions, lease, trainings, pods, incidents.",
        action=ShowNode,
        parameters=(NODE_ARGUMENT,),
        read=show,
        example="node show gpu-a04",
    ),
    Command(
        noun="node",
        verb="cordon",
        summary="Keep new pods off nodes, as a lease with owner, reason and end.",
        action=CordonNodes,
        parameters=(
            NODES_ARGUMENT,
            reason_option("why, shown with the cordon"),
            lasting_option("how long the lease lasts; default: 4h, or the settings"),
        ),
        plan=cordon,
        rights=_PATCH_NODES,
        example='node cordon gpu-a04 --reason "fan failure" --for 4h',
    ),
    DRAIN,
    EVIDENCE,
    ACCEPT,
    REPAIR,
    REBOOT,
    RESTART_AGENT,
    TAINT,
    UNTAINT,
    Command(
        noun="node",
        verb="extend",
        summary="Extend cordons; their owner and the owner's team need no other right for it.",
        action=ExtendCordons,
        parameters=(
            NODES_ARGUMENT,
            lasting_option("how long from now; default: 4h, or the settings"),
            reason_option("another reason, shown with the cordon"),
        ),
        plan=plan_extension,
        owns=owns_leases,
        undoing=UNDO_OF_LEASES,
        rights=_PATCH_NODES,
        example="node extend gpu-a04 --for 4h",
    ),
    Command(
        noun="node",
        verb="hand-over",
        summary="Hand cordons over to somebody else, who is reminded of them from then on.",
        action=HandOverNodes,
        parameters=(
            NODES_ARGUMENT,
            option("--to", type=PERSON, required=True, help="whose they are from then on"),
        ),
        plan=plan_hand_over,
        owns=owns_leases,
        rights=_PATCH_NODES,
        example="node hand-over gpu-a04 --to @eli",
    ),
    Command(
        noun="node",
        verb="uncordon",
        summary="Lift cordons made by Yardmaster; others are left alone.",
        action=UncordonNodes,
        parameters=(NODES_ARGUMENT,),
        plan=uncordon,
        owns=owns_leases,
        rights=_PATCH_NODES,
        example="node uncordon gpu-a04",
    ),
)
