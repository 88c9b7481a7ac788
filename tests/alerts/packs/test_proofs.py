"""A fault of hardware or storage ends by a proof, or there is a reason why the end of its alert is one."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.rules import ResolveWhen, Rule
from collectors.facts.queries import PromQLQuery
from commands.node.repair.repair_list import own_repairs
from tests.alerts.packs.shipped import shipped_rules
from tests.support.promtool import run_cases

RULES = shipped_rules()
HARDWARE = ("gpu", "node", "storage")  # the packs about what time does not heal
LEVEL = "its query is true as long as the fault is there, and blind without its series or objects"
# Critical rules that need no proof, each with the reason.
BY_ITSELF = {
    "GPUNodeThrottling": "a node that is cooled again is well",
    "InfiniBandErrors": "a link that trained again carries traffic; one that stays down has a rule with a proof",
    "NodeCPUOverload": "load goes away",
    "NodeSystemOOM": "the killed process has freed the memory",
    "NodeOOMKill": "the kill freed the memory",
    "NodeOutOfMemoryLogged": "the kill freed the memory",
    "NodeSoftLockup": "the kernel repeats it as long as the CPU is stuck; a node that dies of it is not ready",
    "GPUNetworkPortDown": LEVEL,
    "GPUErrorCode": "the driver reports the code as long as the device has it",
    "NodeFilesystemAlmostOutOfSpace": LEVEL,
    "NodeFilesystemAlmostOutOfFiles": LEVEL,
    "NodeFilesystemReadOnly": LEVEL,
    "NodeFilesystemDeviceError": LEVEL,
    "KubeNodeNotReady": LEVEL,
    "NodePressureEviction": LEVEL,
    "KubeNodeProblem": LEVEL,
    "CephOSDDownHigh": LEVEL,
    "CephFilesystemDown": LEVEL,
    "CephHealthError": LEVEL,
    "CephSpaceFull": LEVEL,
    "CephPGsInactive": LEVEL,
    "CephPGsDamaged": LEVEL,
    "KubePersistentVolumeFull": LEVEL,
    "KubePersistentVolumeInodesFillingUp": LEVEL,
    "HDFSMissingBlocks": LEVEL,
    "VolumeClaimLost": LEVEL,
    "CephFSMountFailed": "the kubelet tries again, and logs it, until it mounts",
    "NFSServerNotResponding": "hung processes go on by themselves, and every further access logs it",
    "HDFSSafeMode": "every write logs it until it ends",
}


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_fault_that_needs_a_proof_is_proven_over_by_the_repair_that_its_card_offers(name: str) -> None:
    template = RULES[name].template
    if template.resolve_when is ResolveWhen.PROVEN:
        offered = [line.split() for line in template.actions if line.startswith("node repair ")]
        relieving = [words for words in offered if name in own_repairs()[words[4]].relieves]
        assert relieving == offered, "say in repairs.yaml that it `relieves` this alert"
        assert not offered or "repaired" in template.annotations["proof"].split()


def critical(rule: Rule) -> bool:
    return rule.location.file.startswith(HARDWARE) and "critical" in rule.template.labels["severity"]


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if critical(rule)])
def test_a_critical_fault_has_a_proof_or_a_reason(name: str) -> None:
    is_proven = RULES[name].template.resolve_when is ResolveWhen.PROVEN
    assert is_proven != (name in BY_ITSELF), "say what ends it in `proof`, or why nothing has to in BY_ITSELF"


def test_a_reason_is_about_a_critical_rule() -> None:
    assert [name for name in BY_ITSELF if name not in RULES or not critical(RULES[name])] == []


# For each proof query: series of the fault, of the same place once it is over, and of invalid readings.
# What the query must return is 0, 1 and nothing.
_GPU, _NEW, _OTHER = (
    'Hostname="a",gpu="3",UUID="1"',
    'Hostname="a",gpu="3",UUID="2"',
    'Hostname="a",gpu="4"',
)
_PORT = 'instance="a:9100",device="mlx5_0",port="1"'
BLANK = "9223372036854775794"
SERIES: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]] = {
    "GPUECCUncorrectableErrors": (
        {f"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{{{_GPU}}}": "2"},
        {f"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{{{_GPU}}}": "0"},
        {f"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{{{_GPU}}}": BLANK},
    ),
    "GPURowRemapFailed": (
        {f"DCGM_FI_DEV_ROW_REMAP_FAILURE{{{_GPU}}}": "1"},
        {f"DCGM_FI_DEV_ROW_REMAP_FAILURE{{{_NEW}}}": "0"},
        {f"DCGM_FI_DEV_ROW_REMAP_FAILURE{{{_GPU}}}": BLANK},
    ),
    "GPUSpareMemorySpent": (
        {
            f"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{{{_GPU}}}": "3",
            f"DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE{{{_GPU}}}": "1",
        },
        {
            f"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS{{{_NEW}}}": "0",
            f"DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE{{{_NEW}}}": "0",
        },
        {f"DCGM_FI_DEV_RETIRED_SBE{{{_GPU}}}": BLANK, f"DCGM_FI_DEV_RETIRED_DBE{{{_GPU}}}": BLANK},
    ),
    "GPUHealthFailed": (
        {f'DCGM_EXP_GPU_HEALTH_STATUS{{{_GPU},health_watch="ALL"}}': "20"},
        {f'DCGM_EXP_GPU_HEALTH_STATUS{{{_NEW},health_watch="ALL"}}': "0"},
        {f'DCGM_EXP_GPU_HEALTH_STATUS{{{_GPU},health_watch="ALL"}}': BLANK},
    ),
    "GPUReportedUnhealthy": (
        {f"gpu_health{{{_GPU}}}": "0"},
        {f"gpu_health{{{_NEW}}}": "1"},
        {f"gpu_health{{{_GPU}}}": BLANK},
    ),
    "GPURecoveryActionNeeded": (
        {f"DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION{{{_GPU}}}": "1"},
        {f"DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION{{{_GPU}}}": "0"},
        {f"DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION{{{_GPU}}}": BLANK},
    ),
    "InfiniBandLinkDown": (
        {f"node_infiniband_state_id{{{_PORT}}}": "1"},
        {f"node_infiniband_state_id{{{_PORT}}}": "4"},
        {},
    ),
    "GPUMetricsLost": (
        {f"DCGM_FI_DEV_GPU_TEMP{{{_GPU}}}": BLANK},
        {f"DCGM_FI_DEV_GPU_TEMP{{{_NEW}}}": "40"},
        {},
    ),
    "GPUMissing": (
        {
            'kube_node_status_capacity{node="a",resource="nvidia_com_gpu"}': "8",
            'kube_node_status_allocatable{node="a",resource="nvidia_com_gpu"}': "7",
        },
        {
            'kube_node_status_capacity{node="a",resource="nvidia_com_gpu"}': "8",
            'kube_node_status_allocatable{node="a",resource="nvidia_com_gpu"}': "8",
        },
        {},
    ),
}


def test_every_proof_query_has_series() -> None:
    assert {name for name, rule in RULES.items() if rule.template.proof_query} == SERIES.keys()


def test_a_proof_query_is_0_for_the_fault_1_once_it_is_over_and_silent_without_a_measurement(
    promtool_path: Path, tmp_path: Path
) -> None:
    tests = [
        _case(name, series, expected)
        for name, all_series in SERIES.items()
        for series, expected in zip(all_series, (0, 1, None), strict=True)
    ]
    (tmp_path / "t.yaml").write_text(yaml.safe_dump({"rule_files": [], "tests": tests}))
    done = run_cases(promtool_path, "t.yaml", folder=tmp_path)
    assert done.returncode == 0, done.stdout


def _case(name: str, series: dict[str, str], expected: int | None) -> dict[str, Any]:
    proof = RULES[name].template.proof_query
    assert proof is not None
    # Whether it is well, without its labels: they are those of the rule's `by`.
    asked = f"min({proof.expr})"
    samples = [] if expected is None else [{"labels": "{}", "value": expected}]
    return {
        "name": f"{name}: {expected}",
        "interval": "1m",
        "input_series": [{"series": one, "values": f"{value}x70"} for one, value in series.items()],
        "promql_expr_test": [{"expr": asked, "eval_time": "65m", "exp_samples": samples}],
    }


@pytest.mark.parametrize("name", SERIES)
def test_a_proof_is_about_labels_that_the_alert_has(name: str) -> None:
    """A proof of other labels would never be the alert's."""
    query, proof = RULES[name].query, RULES[name].template.proof_query
    assert isinstance(query, PromQLQuery)
    assert proof is not None
    first, *_ = _grouped(proof.expr)
    assert first <= _grouped(query.expr)[0]


def _grouped(expr: str) -> list[set[str]]:
    """Return the labels of each `by` in the expression."""
    return [set(re.split(r",\s*", names)) for names in re.findall(r"\bby \(([^)]*)\)", expr)]
