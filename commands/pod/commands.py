"""The commands of `pod`, for any pod of the cluster."""

import click

from commands.core.command import Command
from commands.core.parameter_types import POD
from commands.pod.clean import CLEAN
from commands.pod.delete import DELETE
from commands.pod.logs import LOGS, READ_LOGS
from commands.pod.pod_list import LIST
from commands.pod.show import ShowPod, ShowPodEvents, events, show
from commands.pod.stacks import STACKS

_POD = click.Argument(["pod"], type=POD)

COMMANDS = (
    LIST,
    Command(
        noun="pod",
        verb="show",
        summary="Show a pod: whose it is, why it does not run, its containers, events and last lines.",
        action=ShowPod,
        parameters=(_POD,),
        read=show,
        rights=(READ_LOGS,),
        example="pod show vision/detr-worker-3",
    ),
    Command(
        noun="pod",
        verb="events",
        summary="Show the events of a pod.",
        action=ShowPodEvents,
        parameters=(_POD,),
        read=events,
        example="pod events vision/detr-worker-3",
    ),
    LOGS,
    STACKS,
    DELETE,
    CLEAN,
)
