"""Lines of other tools, typed by habit, lead to the command of ours: kubectl's, Slurm's, Alertmanager's."""

import shlex

import pytest

from commands.command_catalogue import LEXICON
from commands.core.matching.interpretation import Interpretation, Offer, Run, interpret
from commands.core.matching.known_names import KnownNames
from commands.core.parameter_types import NameKind
from commands.core.parsing import words_of

NAMES = KnownNames(
    {
        NameKind.NODE: ["gpu-a01", "gpu-a02"],
        NameKind.TRAINING: ["vision/detr"],
        NameKind.VOLUME: ["data/imagenet"],
        NameKind.POD: ["serving/web-7d4f9", "vision/detr-worker-3"],
        NameKind.AGENT: ["gpu-operator/device-plugin"],
        NameKind.NAMESPACE: ["serving", "vision"],
        NameKind.CLUSTER: ["prod-a", "prod-b"],
    }
)


def understood(line: str) -> Interpretation:
    return interpret(words_of(line), LEXICON, lambda: NAMES)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("kubectl get nodes -o wide", "node list"),
        ("kubectl get no", "node list"),
        ("k describe node/gpu-a01", "node show gpu-a01"),
        ("kubectl get pods -n serving", "pod list --namespace serving"),
        ("kubectl --namespace=serving get po", "pod list --namespace serving"),
        ("kubectl get pods -A", "pod list"),
        ("k get pvc -n data", "volume list --namespace data"),
        ("kubectl logs web-7d4f9 -n serving -p", "pod logs serving/web-7d4f9 --previous"),
        ("kubectl logs pod/web-7d4f9 -c main --tail=50", "pod logs serving/web-7d4f9 --container main --tail 50"),
        ("kubectl delete po detr-worker-3 -n vision --force --grace-period=0", "pod delete vision/detr-worker-3"),
        ("kubectl drain gpu-a01 --ignore-daemonsets --delete-emptydir-data", "node drain gpu-a01"),
        ("kubectl taint nodes gpu-a01 gpu=broken:NoSchedule", "node taint gpu-a01 gpu=broken:NoSchedule"),
        ("kubectl taint nodes gpu-a01 gpu=broken:NoSchedule-", "node untaint gpu-a01 gpu:NoSchedule"),
        ("kubectl taint nodes gpu-a01 gpu-", "node untaint gpu-a01 gpu"),
        ("kubectl scale deploy/coredns --replicas=5 -n kube-system", "dns scale 5"),
        ("oc adm cordon gpu-a01", "node cordon gpu-a01"),
        ("kubectl cordon gpu-a01 --context prod-b", "node cordon gpu-a01 --cluster prod-b"),
        ("scontrol update NodeName=gpu-a01 State=DRAIN", "node drain gpu-a01"),
        ("scontrol update nodename=gpu-a01 state=resume", "node uncordon gpu-a01"),
        ("scontrol show node gpu-a01", "node show gpu-a01"),
        ("scontrol update nodename=gpu-a01 state=drain reason=ecc", "node drain gpu-a01 --reason ecc"),
        ("squeue", "training list"),
        ("squeue --me", "training list --mine"),
        ("sinfo", "node list"),
        ("sinfo -R", "node list --out"),
        ("k get po -n vision | grep -v Running", "pod list --namespace vision"),
        ("scancel detr", "training stop detr"),
        ("nvidia-smi", "gpu list"),
        ("amtool silence query", "silence list"),
    ],
)  # fmt: skip
def test_a_line_of_another_tool_is_the_command_of_ours(line: str, meant: str) -> None:
    meaning = understood(line)
    assert isinstance(meaning, Run)
    assert shlex.join(meaning.words) == meant


@pytest.mark.parametrize(
    "line",
    [
        "kubectl delete pods -l app=web -n serving",
        "kubectl drain gpu-a01 --pod-selector app=web",
        "kubectl apply -f manifest.yaml",
        "kubectl get pods --field-selector status.phase=Failed",
    ],
)
def test_an_option_that_selects_is_never_left_out(line: str) -> None:
    meaning = understood(line)
    meant = meaning.commands if isinstance(meaning, Offer) else (meaning.command,)
    assert not any(one.changes_something or one.verb == "list" for one in meant)


def test_the_name_of_a_tool_alone_is_no_command() -> None:
    assert understood("kubectl") == Offer()
