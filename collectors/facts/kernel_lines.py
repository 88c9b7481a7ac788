"""XID lines of the kernel, in all forms that drivers write them. Pure.

The rule GPUXIDLogged searches with XID_LINE; `xid_line` reads one line as that search does.
"""

from dataclasses import dataclass

from collectors.facts.patterns import compile_pattern
from collectors.facts.xid_catalogue import Recovery, Xid, xid_of

# With and without `PCI:`, with the function of the device, of a MIG instance; then the class of an NVLink error of
# Blackwell; and the action in XID 154. A line that only speaks of an XID has no parentheses.
XID_LINE = (
    r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9A-Fa-f]+:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})(?:\.[0-9A-Fa-f])?"
    r"(?: GPU-I:(?P<gi>[0-9]+))?\): (?P<xid>[0-9]{1,4})\b"
    r"(?:, \w+ +(?P<class>Nonfatal|Fatal) +XC|, GPU recovery action changed from .{1,60} to 0x[0-9A-Fa-f]+ "
    r"\((?P<recovery>[^()]{1,60})\))?"
)
# What XID 154 and DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION call what is to do, in the order of their numbers.
RECOVERY_ACTIONS = {
    "none": Recovery.NOTHING,
    "gpu reset required": Recovery.RESET_GPU,
    "node reboot required": Recovery.RESTART_NODE,
    "drain p2p": Recovery.RESTART_APPLICATION,
    "drain and reset": Recovery.RESET_GPU,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class XidLine:
    """One line. `pci` is as the kernel writes it, `0000:b3:00`; `instance` is of MIG; `action` is the text of 154."""

    number: int
    pci: str
    instance: str = ""
    class_: str = ""
    action: str = ""

    @property
    def xid(self) -> Xid:
        return xid_of(self.number)

    @property
    def recovery(self) -> Recovery:
        return recovery_of(self.number, class_=self.class_, action=self.action)


def xid_line(text: str) -> XidLine | None:
    """Return the XID that the line reports, or None."""
    match = compile_pattern(XID_LINE).search(text)
    if match is None:
        return None
    named = match.groupdict("")
    return XidLine(
        number=int(named["xid"]),
        pci=named["pci"].lower(),
        instance=named["gi"],
        class_=named["class"],
        action=named["recovery"],
    )


def recovery_of(number: int, *, class_: str = "", action: str = "") -> Recovery:
    """Return what the XID calls for: what the driver says in 154, else what the catalogue says of the number.

    An error of NVLink that its line calls not fatal needs nothing.
    """
    if action:
        return RECOVERY_ACTIONS.get(action.lower(), Recovery.RESET_GPU)
    return Recovery.NOTHING if class_ == "Nonfatal" else xid_of(number).recovery
