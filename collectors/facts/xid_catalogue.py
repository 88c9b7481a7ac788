"""NVIDIA's XID numbers: what each means and what to do about it. Rules repeat the numbers, and tests compare them.

The buckets and what to do follow NVIDIA's own catalogue, https://docs.nvidia.com/deploy/xid-errors/, as NVSentinel
carries it; the severity is ours. What NVSentinel calls FATAL is critical, unless NVIDIA's own table says to ignore it
(108, 160) or names an engine or a program that alone is to blame; 162 reports a recovery.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from collectors.facts.sentences import sentence, word


class Recovery(StrEnum):
    """What brings a GPU back after an error, from the least to the most that it costs."""

    NOTHING = "nothing"
    RESTART_APPLICATION = "restart-application"
    UPDATE_DRIVER = "update-driver"
    RESET_GPU = "reset-gpu"
    RESTART_NODE = "restart-node"  # cold: power off and on
    CALL_VENDOR = "call-vendor"

    @property
    def rank(self) -> int:
        return list(Recovery).index(self)

    @property
    def empties_the_node(self) -> bool:
        """Whether it is done on a node that nothing new may be scheduled to."""
        return self.rank >= Recovery.RESET_GPU.rank


@dataclass(frozen=True, slots=True, kw_only=True)
class Xid:
    """One number. `bucket` is NVIDIA's immediate action; `severity` is critical, warning or info.

    `follows`: it is only a consequence beside one of these on the same GPU (beside any other that is none, if empty
    and `is_follower`). `is_hardware`: no program can cause it.
    """

    number: int
    meaning: str
    bucket: str
    recovery: Recovery
    severity: str
    is_hardware: bool = False
    is_follower: bool = False
    follows: tuple[int, ...] = ()


_NOTHING, _RESTART = Recovery.NOTHING, Recovery.RESTART_APPLICATION
_RESET, _COLD, _VENDOR = Recovery.RESET_GPU, Recovery.RESTART_NODE, Recovery.CALL_VENDOR
_ENGINE = ("RESTART_APP", _RESTART, "warning")

# Numbers, meaning, bucket, recovery, severity.
_KNOWN: tuple[tuple[tuple[int, ...], str, str, Recovery, str], ...] = (
    ((8,), "a channel timed out", *_ENGINE),
    ((11, 25, 32), "the program's commands to the GPU were corrupt", *_ENGINE),
    ((13,), "a program used an illegal address or instruction", "RESTART_APP", _RESTART, "info"),
    ((14,), "an old error of the display", "IGNORE", _NOTHING, "info"),
    ((31,), "a program used an address that is not mapped", "RESTART_APP", _RESTART, "info"),
    ((37, 38), "an error of the driver's firmware", "IGNORE", _NOTHING, "info"),
    ((39, 40, 41, 70, 71, 72, 75, 76, 77, 85, *range(126, 136)), "a copy engine failed", *_ENGINE),
    ((43,), "a program was stopped after its own fault", "IGNORE", _NOTHING, "info"),
    ((44,), "a fault during a context switch", "IGNORE", _NOTHING, "info"),
    ((45,), "clean-up after an earlier error or an ended program", "WORKFLOW_XID_45", _NOTHING, "info"),
    ((46,), "the GPU stopped processing", "RESET_GPU", _RESET, "critical"),
    ((48,), "a double-bit ECC error", "WORKFLOW_XID_48", _RESET, "critical"),
    ((54,), "the board's auxiliary power is not connected", "CHECK_MECHANICALS", _VENDOR, "critical"),
    ((60, 68, 83, 84, 88, 89, *range(96, 99)), "a video engine failed", *_ENGINE),
    ((62,), "the GPU's power controller halted", "RESET_GPU", _RESET, "critical"),
    ((63,), "a broken row of memory was marked to be replaced", "IGNORE", _NOTHING, "warning"),
    ((64,), "a broken row of memory could not be marked", "RESET_GPU", _RESET, "critical"),
    ((66, 67), "an illegal access by the driver", "IGNORE", _NOTHING, "info"),
    ((69,), "a program used a graphics class wrongly", *_ENGINE),
    ((74,), "an NVLink error", "WORKFLOW_NVLINK_ERR", _RESET, "critical"),
    ((78,), "a virtual GPU could not start", "UPDATE_SWFW", Recovery.UPDATE_DRIVER, "critical"),
    ((79,), "the GPU has fallen off the bus", "RESTART_BM", _COLD, "critical"),
    ((80,), "corrupt data was sent to the GPU", *_ENGINE),
    ((82, *range(99, 106)), "a JPEG engine failed", *_ENGINE),
    ((86, 139), "an optical flow engine failed", *_ENGINE),
    ((92,), "many single-bit ECC errors", "IGNORE", _NOTHING, "warning"),
    ((93,), "the board's own memory was written too often", "IGNORE", _NOTHING, "info"),
    ((94,), "a memory error, contained to one program", *_ENGINE),
    ((95,), "a memory error that any program on the GPU may have", "RESET_GPU", _RESET, "critical"),
    ((106, 107), "a test message", "IGNORE", _NOTHING, "info"),
    ((108,), "an address of another GPU was not translated", "UNEXPECTED_ERR_REPORT_ISSUE", _NOTHING, "info"),
    ((109,), "a context switch timed out", "RESET_GPU", _RESET, "critical"),
    ((110,), "a security fault", "RESET_GPU", _RESET, "critical"),
    ((119,), "the GPU's system processor does not answer", "RESET_GPU", _RESET, "critical"),
    ((120,), "the GPU's system processor failed", "RESET_GPU", _RESET, "critical"),
    ((121,), "corrected errors on the link to the CPU", "IGNORE", _NOTHING, "info"),
    ((136,), "NVLink training failed", "RESET_GPU", _RESET, "critical"),
    ((137,), "a program used memory of another GPU that it may not use", "IGNORE", _NOTHING, "info"),
    ((140,), "an ECC error that was not recovered", "RESET_GPU", _RESET, "critical"),
    ((141,), "the fast path of CUDA failed", "IGNORE", _NOTHING, "info"),
    ((142,), "a video encoder failed", "UNEXPECTED_ERR_REPORT_ISSUE", _VENDOR, "critical"),
    ((143,), "the GPU could not be initialized", "RESET_GPU", _RESET, "critical"),
    (tuple(range(144, 151)), "an NVLink error", "WORKFLOW_NVLINK5_ERR", _RESET, "critical"),
    ((151,), "the key rotation of confidential computing failed", "RESTART_VM", _COLD, "critical"),
    ((152, 153), "an error of the DLA", "IGNORE", _NOTHING, "info"),
    ((154,), "the driver says what the GPU needs", "FOLLOW_OTHER_XID", _NOTHING, "warning"),
    ((155,), "software took an NVLink down", "RESET_GPU", _RESET, "critical"),
    ((156,), "a broken part of the GPU was retired", "RESET_GPU", _RESET, "critical"),
    ((157,), "a broken part of the GPU could not be retired", "IGNORE", _NOTHING, "warning"),
    ((158,), "the GPU timed out for good", "RESET_GPU", _RESET, "critical"),
    ((159,), "an error on the coherent link to the CPU", "CHECK_UVM", _NOTHING, "warning"),
    ((160,), "a memory channel was retired", "RESTART_BM", _NOTHING, "info"),
    ((161,), "a memory channel could not be retired", "IGNORE", _NOTHING, "warning"),
    ((162,), "power smoothing works again", "RESET_GPU", _NOTHING, "info"),
    ((163,), "power smoothing is switched off", "", _NOTHING, "info"),
    ((164, 165), "the power smoothing circuit is worn out", "", _NOTHING, "warning"),
    ((166, 170), "an error of confidential computing", "", _NOTHING, "warning"),
    ((167,), "the PCIe link timed out for good", "", _COLD, "critical"),
    ((168,), "errors in protected memory", "", _COLD, "warning"),
    ((169,), "the GPU's security processor halted", "", _RESET, "critical"),
    ((171,), "an uncorrectable error in DRAM", "", _RESET, "critical"),
    ((172,), "an uncorrectable error in SRAM", "", _RESET, "critical"),
)
_HARDWARE = frozenset(
    {48, 54, 63, 64, 79, 92, 93, 94, 95, 121, 140, 156, 157, 160, 161, 164, 165, 167, 168, 171, 172}
)
_FOLLOWERS: Mapping[int, tuple[int, ...]] = {
    43: (),
    45: (),
    94: (48,),
    95: (48,),
    154: (),
    159: (),
    171: (48,),
    172: (48,),
}

XIDS: Mapping[int, Xid] = {
    number: Xid(
        number=number,
        meaning=word(meaning),
        bucket=bucket,
        recovery=recovery,
        severity=severity,
        is_hardware=number in _HARDWARE,
        is_follower=number in _FOLLOWERS,
        follows=_FOLLOWERS.get(number, ()),
    )
    for numbers, meaning, bucket, recovery, severity in _KNOWN
    for number in numbers
}

# What XID 154 and DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION call what is to do, in the order of their numbers.
RECOVERY_ACTIONS = {
    "none": Recovery.NOTHING,
    "gpu reset required": Recovery.RESET_GPU,
    "node reboot required": Recovery.RESTART_NODE,
    "drain p2p": Recovery.RESTART_APPLICATION,
    "drain and reset": Recovery.RESET_GPU,
}


def xid_of(number: int) -> Xid:
    """Return what is known of the number. Today's drivers do not use those that are in no list."""
    return XIDS.get(number) or Xid(
        number=number,
        meaning=sentence("a number that NVIDIA does not describe"),
        bucket="UNEXPECTED_ERR_REPORT_ISSUE",
        recovery=Recovery.CALL_VENDOR,
        severity="critical",
    )


def recovery_of(number: int, *, class_: str = "", action: str = "") -> Recovery:
    """Return what the XID calls for: what the driver says in 154, else what the catalogue says of the number.

    An error of NVLink that its line calls not fatal needs nothing.
    """
    if action:
        return RECOVERY_ACTIONS.get(action.lower(), Recovery.RESET_GPU)
    return Recovery.NOTHING if class_ == "Nonfatal" else xid_of(number).recovery
