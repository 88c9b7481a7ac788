"""The readers of tests' outputs, by the name that a suite of the settings has for them."""

from collections.abc import Callable, Mapping

from collectors.acceptance.check_lines import read_check_lines
from collectors.acceptance.dcgm_diag import read_dcgm_diag
from collectors.acceptance.nccl_tests import read_nccl_tests
from collectors.acceptance.nvidia_smi import read_nvidia_smi
from collectors.acceptance.readings import ReadResult

Reader = Callable[[str], ReadResult]

OUTPUT_READERS: Mapping[str, Reader] = {
    "dcgm-diag": read_dcgm_diag,
    "nccl-tests": read_nccl_tests,
    "nvidia-smi": read_nvidia_smi,
    "lines": read_check_lines,
}
