"""Lines of a node, as signs of why a training failed there: what is only information proves nothing."""

import pytest

from commands.core.pod_lines import TimedLine
from commands.training.failure_signs import FailureKind, sign_of_host
from tests.alerts.packs.shipped import shipped_rules
from tests.support.alerting import NOON

_RULES = shipped_rules()


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
        "mlx5_cmd_out_err:838:(pid 1441871): ACCESS_REG(0x805) op_mod(0x1) failed, status bad resource(0x5)",
    ],
)
def test_a_line_that_healthy_nodes_write_too_proves_nothing(line: str) -> None:
    assert sign_of_host("gpu-a01", TimedLine(at=NOON, text=line), _RULES) is None


def test_a_line_of_a_fault_is_proof() -> None:
    line = "mlx5_port_module_event:1131:(pid 0): Port module event[error]: module 0, Cable error, High Temperature"
    sign = sign_of_host("gpu-a01", TimedLine(at=NOON, text=line), _RULES)
    assert sign is not None
    assert sign.kind is FailureKind.NETWORK
