"""The object of a training as a file: it is created as it is, in a namespace of its own, or refused with the line."""

import pytest

from commands.execution.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.training.test_spec_files import a_file
from tests.support.yard import ANA, Yard

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {labels: {app: bert}}
spec:
  parallelism: 2
  completions: 2
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example/vision/bert:1
          args: [--lr, "0.10"]
          resources: {limits: {nvidia.com/gpu: 1}}
"""


AT = "          args:"


async def test_an_object_is_created_as_it_is_in_a_namespace_of_its_own(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.do("training launch bert --from", ANA, uploads=a_file(JOB))
    assert plan.state is PlanState.DONE, plan.error
    assert [type(step).__name__ for step in plan.steps] == ["Create", "Create", "Record"]
    job, space = kube.get("jobs", "bert", "bert"), kube.get("namespaces", "", "bert")
    assert job is not None
    assert space is not None
    assert space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "baseline"
    assert job["metadata"]["labels"]["app"] == "bert"
    assert job["metadata"]["annotations"]["yardmaster.io/owner"] == "ana"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["--lr", "0.10"]
    await yard.seen(lambda: [one.owner for one in yard.cluster.trainings()] == ["ana"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("kind: Job", "kind: Pod"),
            "train.yaml, line 2: Pod of batch/v1 is not launched here: Job (batch/v1)",
        ),
        (
            ("{labels: {app: bert}}", "{name: other}"),
            "line 3: name must be bert, as on the line, or left out",
        ),
        (("{labels: {app: bert}}", "{namespace: kube-system}"), "line 3: namespace must be bert"),
        (("{labels: {app: bert}}", "{ownerReferences: []}"), "line 3: ownerReferences is not known here"),
        (
            ("      restartPolicy: Never", "      hostNetwork: true"),
            "line 10: hostNetwork asks for the network",
        ),
        (("      restartPolicy: Never", "      nodeName: n"), "line 10: nodeName asks for a node without"),
        (
            ("      restartPolicy: Never", "      serviceAccountName: a"),
            "line 10: serviceAccountName asks for",
        ),
        (
            ("      restartPolicy: Never", "      volumes: [{name: a, hostPath: {path: /}}]"),
            "line 10: hostPath asks for a path of the host, which no training may have",
        ),
        (
            ("      restartPolicy: Never", "      volumes: [{name: a, secret: {secretName: s}}]"),
            "line 10: secret asks",
        ),
        (("      restartPolicy: Never", "      volumes: [{name: a, nfs: {server: s}}]"), "line 10: nfs asks"),
        (
            ("          args:", "          securityContext: {privileged: true}\n          args:"),
            "line 14: securityContext",
        ),
        (
            (
                "          args:",
                "          env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]\n          args:",
            ),
            "line 14: secretKeyRef asks for a Secret",
        ),
        (
            ("registry.example/vision/bert:1", "docker.io/evil/miner:1"),
            "line 13: docker.io/evil/miner:1 is not among",
        ),
        (("spec:\n  parallelism: 2", "spec: &a\n  x: *a"), "line 5: anchor 'a' contains itself"),
        (("kind: Job\n", "kind: Job\nstatus: {}\n"), "line 3: status is not known here"),
    ],
)
async def test_an_object_that_reaches_for_what_is_not_its_own_is_refused_with_the_line(
    yard: Yard, change: tuple[str, str], said: str
) -> None:
    assert change[0] in JOB
    reply = await yard.say("training launch bert --from", ANA, uploads=a_file(JOB.replace(*change)))
    assert said in reply
    assert await yard.newest() is None


async def test_an_option_that_the_object_has_no_room_for_is_refused(yard: Yard) -> None:
    reply = await yard.say("training launch bert --from --workers 3", ANA, uploads=a_file(JOB))
    assert "--workers does not go with --from" in reply
    assert "-- does not go with --from" in await yard.say(
        "training launch bert --from -- x", ANA, uploads=a_file(JOB)
    )
