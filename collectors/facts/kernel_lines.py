"""What the kernel's lines about NVIDIA GPUs and NVSwitches say, in all forms that drivers write them. Pure."""

from dataclasses import dataclass
from enum import StrEnum

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
SXID_LINE = (
    r"SXid \(PCI:(?P<pci>[0-9A-Fa-f]+:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2})(?:\.[0-9A-Fa-f])?\): (?P<sxid>[0-9]{4,6}), ?"
    r"(?:(?P<class>Non-fatal|Fatal), )?(?:Link (?P<link>[0-9]+))?"
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


class SxidClass(StrEnum):
    """How far an NVSwitch error reaches."""

    NON_FATAL = "non-fatal"
    FATAL = "fatal"  # the port: jobs that use it are lost
    FABRIC = "fabric"  # always fatal to the whole fabric
    NOTABLE = "notable"  # access by the host; temperature


def _numbers(text: str) -> frozenset[int]:
    """Read `11021-11023 12021`."""
    found: set[int] = set()
    for part in text.split():
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


SXIDS = {
    SxidClass.FABRIC: _numbers("10003 12020 22003 22011 23001-23017"),
    SxidClass.FATAL: _numbers(
        "11001 11009 11013 11018-11020 12001 12002 12022 12024-12027 12030-12032 14017 15001 15006 15009 15010 15012 "
        "15013 19047 19048 19054 19056 19058 19060 19061 19063 19064 19066 19067 19069 19070 20034 22012 24004-24007"
    ),
    SxidClass.NON_FATAL: _numbers(
        "11004 11012 11021-11023 12021 12023 12028 15008 15011 19049 19055 19057 19059 19062 19065 19068 19071 19084 "
        "20001 20009 20012 22013 24001-24003"
    ),
    SxidClass.NOTABLE: _numbers("10001 10002 10004 10005"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SxidLine:
    """One line of an NVSwitch. `said` is the class that the line itself gives, if it does."""

    number: int
    pci: str
    said: str = ""
    link: str = ""

    @property
    def class_(self) -> SxidClass:
        """The class of the number; the line decides about numbers that no list has."""
        for class_, numbers in SXIDS.items():
            if self.number in numbers:
                return class_
        return SxidClass.FATAL if self.said == "Fatal" else SxidClass.NON_FATAL


def sxid_line(text: str) -> SxidLine | None:
    """Return the NVSwitch error that the line reports, or None."""
    match = compile_pattern(SXID_LINE).search(text)
    if match is None:
        return None
    named = match.groupdict("")
    return SxidLine(
        number=int(named["sxid"]), pci=named["pci"].lower(), said=named["class"], link=named["link"]
    )


def pci_address(text: str) -> str:
    """Return an address as the kernel writes it: `00000000:B3:00.0` of an exporter becomes `0000:b3:00`; else empty."""
    match = compile_pattern(
        r"(?:^|PCI:)([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})(?:\.[0-9A-Fa-f])?\s*$"
    ).search(text)
    if match is None:
        return ""
    domain, bus, device = (part or "" for part in match.groups())
    return f"{domain[-4:]}:{bus}:{device}".lower()
