"""Names of hosts and GPUs, however exporters, the kernel and target addresses write them. Pure."""

import re

from collectors.facts.subjects import Subject

_PCI = re.compile(r"([0-9A-Fa-f]{1,8}):([0-9A-Fa-f]{1,2}):([0-9A-Fa-f]{1,2})(?:\.[0-7])?")
_URL = re.compile(r"https?://([^/?#]+)")


def gpu_keys(subject: Subject, pci: str = "") -> tuple[tuple[str, str], ...]:
    """Return the keys of a GPU, the surest first: its UUID, then its address or index on its node."""
    found = [("", subject.uuid)] if subject.uuid else []
    if subject.node:
        found += [(subject.node, address)] if (address := pci_address(pci)) else []
        found += [(subject.node, subject.gpu)] if subject.gpu else []
    return tuple(found)


def pci_address(text: str) -> str:
    """Return an address on the bus as `domain:bus:device`, however DCGM or the kernel writes it; empty for others."""
    found = _PCI.fullmatch(text.strip())
    return ":".join(f"{int(part, 16):x}" for part in found.groups()) if found else ""


def host_of(text: str) -> str:
    """Return the host of a target's address; its port is a number, and an address of IPv6 is in brackets then."""
    before, colon, port = text.rpartition(":")
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return before if colon and port.isdigit() and ":" not in before else text


def hosts_in(text: str) -> tuple[str, ...]:
    """Return what may be the name or the address of a host in this text, the whole of it first."""
    if url := _URL.match(text):
        text = url[1]
    host = host_of(text)
    before = text.rpartition(":")[0]
    path = text.rpartition("/")[2]
    found = (text, host, host.partition(".")[0], before, before.partition(".")[0], path)
    return tuple(one for one in dict.fromkeys(found) if one)
