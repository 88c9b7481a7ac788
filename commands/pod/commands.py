"""The commands of `pod`, for any pod of the cluster."""

from commands.core.command import Command
from commands.core.parameters import POD_ARGUMENT
from commands.core.pod_lines import READ_LOGS
from commands.pod.clean import CLEAN
from commands.pod.delete_pod import DELETE
from commands.pod.pod_list import LIST_PODS
from commands.pod.pod_logs import LOGS
from commands.pod.show_pod import ShowPod, ShowPodEvents, events, show
from commands.pod.stacks import STACKS

COMMANDS = (
    LIST_PODS,
    Command(
        noun="pod",
        verb="show",
        summary="Show a pod: whose it is, why it does not run, its containers, events and last lines.",
        action=ShowPod,
        parameters=(POD_ARGUMENT,),
        read=show,
        rights=(READ_LOGS,),
        example="pod show vision/detr-worker-3",
    ),
    Command(
        noun="pod",
        verb="events",
        summary="Show the events of a pod.",
        action=ShowPodEvents,
        parameters=(POD_ARGUMENT,),
        read=events,
        example="pod events vision/detr-worker-3",
    ),
    LOGS,
    STACKS,
    DELETE,
    CLEAN,
)
