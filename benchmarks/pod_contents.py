"""The contents of a pod in a large cluster: its spec, its status, and who manages which field."""

from collections.abc import Iterator
from typing import Any

NODES = 250
MOMENT = "2026-11-21T03:00:0{}Z"


def spec(number: int, job: str, training: int, rank: int) -> dict[str, Any]:
    gpus = {"cpu": "14", "memory": "900Gi", "nvidia.com/gpu": "8", "rdma/hca": "8"}
    env = [
        {"name": "MASTER_ADDR", "value": f"{job}-0.{job}.svc.cluster.local"},
        {"name": "MASTER_PORT", "value": "29500"},
        {"name": "WORLD_SIZE", "value": "64"},
        {"name": "NODE_RANK", "value": str(rank)},
        {"name": "NCCL_DEBUG", "value": "WARN"},
        {"name": "NCCL_IB_HCA", "value": "mlx5_0,mlx5_1,mlx5_4,mlx5_5"},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
        {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "registry", "key": "token"}}},
    ]
    mounts = [
        {"name": "images", "mountPath": "/data", "readOnly": True},
        {"name": "shm", "mountPath": "/dev/shm"},
        {"name": "checkpoints", "mountPath": "/checkpoints"},
        {
            "name": f"kube-api-access-{number % 99991:05d}",
            "readOnly": True,
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        },
    ]
    common = {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "volumeMounts": mounts,
    }
    return {
        "volumes": [
            {
                "name": "images",
                "persistentVolumeClaim": {"claimName": f"images-{training % 40}", "readOnly": True},
            },
            {"name": "checkpoints", "persistentVolumeClaim": {"claimName": f"checkpoints-{training}"}},
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "256Gi"}},
            {
                "name": f"kube-api-access-{number % 99991:05d}",
                "projected": {
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                        {
                            "configMap": {
                                "name": "kube-root-ca.crt",
                                "items": [{"key": "ca.crt", "path": "ca.crt"}],
                            }
                        },
                    ],
                    "defaultMode": 420,
                },
            },
        ],
        "initContainers": [
            {
                "name": "wait-for-fabric",
                "image": "registry.example.org/tools/fabric-check:1.4.2",
                "command": ["fabric-check", "--ports", "8"],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                **common,
            }
        ],
        "containers": [
            {
                "name": "worker",
                "image": f"registry.example.org/trainings/detr:{training % 9}.2.0",
                "command": ["torchrun", "--nnodes=8", "--nproc-per-node=8", "train.py"],
                "args": ["--config", f"configs/run-{training}.yaml", "--resume", "auto"],
                "ports": [{"name": "metrics", "containerPort": 8080, "protocol": "TCP"}],
                "env": env,
                "resources": {"limits": gpus, "requests": gpus},
                "livenessProbe": {
                    "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
                    "timeoutSeconds": 1,
                    "periodSeconds": 10,
                    "successThreshold": 1,
                    "failureThreshold": 3,
                },
                **common,
            },
            {
                "name": "shipper",
                "image": "registry.example.org/tools/log-shipper:8.19.3",
                "env": env[:2],
                "resources": {
                    "limits": {"memory": "256Mi"},
                    "requests": {"cpu": "100m", "memory": "128Mi"},
                },
                **common,
            },
        ],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "trainer",
        "nodeName": f"gpu-{number % NODES:03d}",
        "securityContext": {"fsGroup": 1000, "runAsUser": 1000},
        "imagePullSecrets": [{"name": "registry"}],
        "hostname": f"{job}-{rank}",
        "subdomain": job,
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            {
                "key": "node.kubernetes.io/not-ready",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
        ],
        "priority": 1000,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def status(number: int, uid: str) -> dict[str, Any]:
    digest = f"{number * 2654435761 % 2**64:016x}" * 4

    def container(name: str, image: str, state: dict[str, Any], *, ready: bool) -> dict[str, Any]:
        return {
            "name": name,
            "state": state,
            "lastState": {},
            "ready": ready,
            "restartCount": 0,
            "image": f"registry.example.org/{image}",
            "imageID": f"registry.example.org/{image}@sha256:{digest}",
            "containerID": f"containerd://{digest[::-1]}",
            "started": ready,
        }

    running = {"running": {"startedAt": MOMENT.format(4)}}
    done = {
        "terminated": {
            "exitCode": 0,
            "reason": "Completed",
            "startedAt": MOMENT.format(2),
            "finishedAt": MOMENT.format(3),
            "containerID": f"containerd://{digest}",
        }
    }
    address = f"10.{244 + number // 50_000}.{number % NODES}.{number // NODES % 250 + 2}"
    host = f"10.0.{number % NODES // 200}.{number % NODES % 200 + 11}"
    return {
        "phase": "Running",
        "conditions": [
            {
                "type": kind,
                "status": "True",
                "lastProbeTime": None,
                "lastTransitionTime": MOMENT.format(second),
            }
            for second, kind in enumerate(
                ("PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")
            )
        ],
        "hostIP": host,
        "hostIPs": [{"ip": host}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": MOMENT.format(1),
        "initContainerStatuses": [container("wait-for-fabric", "tools/fabric-check:1.4.2", done, ready=True)],
        "containerStatuses": [
            container("shipper", "tools/log-shipper:8.19.3", running, ready=True),
            container("worker", "trainings/detr:2.0", running, ready=True),
        ],
        "qosClass": "Burstable",
    }


def managed_fields(labels: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield what server-side apply records: which manager set which field. Often a third of an object."""
    names: dict[str, Any] = {f"f:{name}": {} for name in labels}
    env: dict[str, Any] = {
        f'k:{{"name":"VARIABLE_{n}"}}': {".": {}, "f:name": {}, "f:value": {}} for n in range(8)
    }
    yield {
        "manager": "kube-controller-manager",
        "operation": "Update",
        "apiVersion": "v1",
        "time": MOMENT.format(0),
        "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:metadata": {
                "f:annotations": {".": {}},
                "f:labels": {".": {}, **names},
                "f:ownerReferences": {".": {}},
            },
            "f:spec": {
                "f:containers": {
                    'k:{"name":"worker"}': {
                        ".": {},
                        "f:command": {},
                        "f:env": {".": {}, **env},
                        "f:image": {},
                    },
                    'k:{"name":"shipper"}': {
                        ".": {},
                        "f:image": {},
                        "f:resources": {".": {}, "f:limits": {}},
                    },
                },
                "f:restartPolicy": {},
                "f:schedulerName": {},
                "f:volumes": {".": {}, 'k:{"name":"images"}': {".": {}, "f:name": {}}},
            },
        },
    }
    kinds = ("ContainersReady", "Initialized", "PodReadyToStartContainers", "Ready")
    of_condition: dict[str, Any] = {
        ".": {},
        "f:lastProbeTime": {},
        "f:lastTransitionTime": {},
        "f:status": {},
        "f:type": {},
    }
    yield {
        "manager": "kubelet",
        "operation": "Update",
        "apiVersion": "v1",
        "time": MOMENT.format(5),
        "fieldsType": "FieldsV1",
        "fieldsV1": {
            "f:status": {
                "f:conditions": {f'k:{{"type":"{kind}"}}': of_condition for kind in kinds},
                "f:containerStatuses": {},
                "f:hostIP": {},
                "f:phase": {},
                "f:podIP": {},
                "f:podIPs": {".": {}},
            }
        },
        "subresource": "status",
    }
