"""The table of actions: one row for each command that changes something on a node, a GPU, a pod or a volume."""

from tests.support.actions import site_before as before
from tests.support.actions import site_checks as now
from tests.support.actions import site_others as others
from tests.support.actions.action_row import ActionRow, Obstacle
from tests.support.examples import by_profile

_ON_GPU = {"node": "{node}", "gpu": "1"}
_OF_POD = {"namespace": "{space}", "pod": "{node}"}
_CHANGED = "The cluster changed"
_NOTHING = "did nothing that can be undone"

_CORDONED = Obstacle(others.cordon, "already cordoned by someone else", others.uncordon)
_UNCORDONED = Obstacle(others.uncordon, "is not drained: it is not cordoned", others.cordon)
_GPUS_USED = Obstacle(before.add_gpu_pod, "and these pods have some", before.remove_pod)
_CONTROL_PLANE = Obstacle(others.make_control_plane, "control plane", others.make_worker)
_GPU_CORDONED = Obstacle(before.rule_of_others, "already cordoned", before.no_rule_of_others)
_OF_HELM = Obstacle(before.helm_takes_it, "Helm (release mon) manages", before.helm_leaves_it)
_POD_REPLACED = Obstacle(before.another_pod, _CHANGED)

ROWS = (
    ActionRow(
        "node cordon {node}",
        "Cordon {node}",
        rule="NodeFilesystemAlmostOutOfSpace",
        is_done=now.is_cordoned,
        refused=_CORDONED,
        surprised=_CORDONED,
        listed="by dana",
    ),
    ActionRow(
        "node uncordon {node}",
        "Uncordon",
        answer="node show {node}",
        arrange=others.cordon_like_ours,
        is_done=now.is_open,
        refused=Obstacle(others.lose_our_cordon, "", others.know_our_cordon),
        surprised=Obstacle(others.lose_our_cordon, "was not cordoned by Yardmaster", others.know_our_cordon),
    ),
    ActionRow(
        "node drain {node}",
        "Drain {node}",
        rule="GPUFellOffBusLogged",
        arrange=before.add_pod,
        is_done=now.is_drained,
        undone="This is not undone: evict",
        surprised=Obstacle(others.cordon, _CHANGED, others.uncordon),
        listed="by dana",
    ),
    ActionRow(
        "node evidence {node}",
        "Evidence",
        answer="node show {node}",
        answered="Evidence of {node} (",
    ),
    ActionRow(
        "node accept {node}",
        "Test {node}",
        rule="GPUECCUncorrectableErrors",
        labels=_ON_GPU,
        is_over=True,
        before="node cordon {node} --reason acceptance",
        is_done=now.is_tested,
        release=before.end_job,
        undone=_NOTHING,
        leads_to="Uncordon {node}",
        refused=_GPUS_USED,
        surprised=_GPUS_USED,
        listed=", accepted",
    ),
    ActionRow(
        "node repair {node} --with nvidia-uvm",
        "Repair {node}",
        rule="NVIDIAUVMMissing",
        is_done=now.no_job,
        release=before.end_job,
        undone=_NOTHING,
        refused=_CONTROL_PLANE,
        surprised=_CONTROL_PLANE,
    ),
    ActionRow(
        "node reboot {node}",
        "Reboot {node}",
        rule="GPUFellOffBusLogged",
        arrange=before.cordoned_and_booted,
        is_done=now.is_rebooted,
        release=before.reboot,
        undone=_NOTHING,
        refused=_UNCORDONED,
        surprised=_UNCORDONED,
    ),
    ActionRow(
        "node restart-agent {node} {node}",
        "Restart an agent of {node}",
        rule="NetworkAgentDown",
        labels={"node": "{node}", "component": "{node}"},
        arrange=before.add_agent,
        undone=_NOTHING,
        surprised=Obstacle(before.agent_by_hand, _CHANGED),
    ),
    ActionRow(
        "node taint {node} gpu=broken:NoSchedule",
        "Taint…",
        answer="node show {node}",
        form={"taint": "gpu=broken:NoSchedule"},
        is_done=now.is_tainted,
        surprised=Obstacle(others.taint_by_hand, _CHANGED, others.taint_off),
        listed="gpu:NoSchedule",
    ),
    ActionRow(
        "node untaint {node} gpu:NoSchedule",
        "Untaint gpu:NoSchedule",
        answer="node show {node}",
        arrange=others.taint_like_ours,
        is_done=now.is_not_tainted,
        surprised=Obstacle(others.forget_our_taint, "was not set by Yardmaster", others.know_our_taint),
    ),
    ActionRow(
        "gpu cordon {node} 1",
        "Cordon GPU 1 of {node}",
        rule="GPUECCUncorrectableErrors",
        labels=_ON_GPU,
        arrange=before.add_devices,
        is_done=now.has_rule,
        refused=_GPU_CORDONED,
        surprised=_GPU_CORDONED,
        listed="GPU 1 cordoned by dana",
    ),
    ActionRow(
        "gpu accept {node} 1",
        "Test GPU 1 of {node}",
        rule="GPUECCUncorrectableErrors",
        labels=_ON_GPU,
        is_over=True,
        arrange=before.add_devices,
        before="gpu cordon {node} 1 --reason acceptance",
        is_done=now.is_tested,
        release=before.end_job,
        undone=_NOTHING,
        leads_to="Uncordon GPU 1 of {node}",
        listed="GPU 1 cordoned by dana: acceptance, accepted",
    ),
    ActionRow(
        "pod delete {space}/{node}",
        "Delete {space}/{node}",
        rule="CoreDNSReplicaSlow",
        labels=_OF_POD,
        arrange=before.add_pod,
        is_done=now.pod_is_gone,
        undone=_NOTHING,
        surprised=_POD_REPLACED,
    ),
    ActionRow(
        "pod clean --node {node}",
        "Clean pods",
        rule="NodeFilesystemFullSoon",
        labels={"node": "{node}", "instance": "{node}", "mountpoint": "/var/lib/kubelet"},
        arrange=before.add_ended_pod,
        is_done=now.pod_is_gone,
        undone=_NOTHING,
        surprised=Obstacle(before.remove_pod, "No pod has finished", before.add_ended_pod),
    ),
    ActionRow(
        "pod stacks {space}/{node}",
        "Stacks",
        answer="pod show {space}/{node}",
        arrange=before.add_running_pod,
        undone=_NOTHING,
        surprised=_POD_REPLACED,
    ),
    ActionRow(
        "volume freeze {space}/{node}",
        "Freeze {space}/{node}",
        rule="VolumeUsedTwice",
        labels={"namespace": "{space}", "persistentvolumeclaim": "{node}"},
        arrange=before.add_volume,
        is_done=now.writer_is_stopped,
        surprised=Obstacle(before.writer_by_hand, _CHANGED, before.writer_back),
        listed="by dana",
    ),
    ActionRow(
        "volume thaw {space}/{node}",
        "Thaw",
        answer="volume show {space}/{node}",
        arrange=before.add_volume,
        before="volume freeze {space}/{node}",
        is_done=now.writer_runs,
    ),
    ActionRow(
        "volume fix-mounts {space}/DaemonSet/{node}",
        "Fix the mounts of {space}/DaemonSet/{node}",
        rule="HostRootMountPrivate",
        labels={"namespace": "{space}", "daemonset": "{node}"},
        arrange=before.add_exporter,
        is_done=now.is_fixed,
        refused=_OF_HELM,
        surprised=_OF_HELM,
    ),
)

# Actions whose stories are elsewhere: they are about something else, or have a stage of their own.
ELSEWHERE = {
    "node extend": "tests/stories/test_cordon.py",
    "node hand-over": "tests/commands/node/test_hand_over.py",
    "gpu uncordon": "tests/commands/gpu/test_cordoning_one.py",
    "gpu agree": "tests/commands/node/test_drain_by_answers.py",
    "gpu keep": "tests/commands/gpu/test_reclaim.py",
    "gpu snooze": "tests/commands/gpu/test_reclaim.py",
    "gpu free": "tests/demo/test_scenarios.py",
    "gpu release": "tests/commands/gpu/test_release.py",
    "gpu settle": "tests/commands/gpu/test_settling.py",
    "dns scale": "tests/stories/test_dns.py",
}

# Those that are played from their buttons: the usual ones have all that a story can have.
PLAYED = tuple(
    row
    for row in ROWS
    if row.command
    in by_profile(
        (
            "node evidence",
            "node repair",
            "node accept",
            "node taint",
            "gpu accept",
            "pod stacks",
            "volume thaw",
        ),
        {one.command for one in ROWS},
    )
)
