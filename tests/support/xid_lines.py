"""XID lines of the kernel, as the rule GPUXIDLogged reads them."""

from dataclasses import dataclass
from functools import cache

from collectors.facts.patterns import Pattern, compile_pattern
from collectors.facts.queries import LogQuery
from tests.alerts.packs.shipped import shipped_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class XidLine:
    """One line. `pci` is in lower case; `instance` is of MIG; `action` is the text of XID 154."""

    number: int
    pci: str
    instance: str = ""
    class_: str = ""
    action: str = ""


def xid_line(text: str) -> XidLine | None:
    """Return the XID that the line reports, or None."""
    match = _pattern().search(text)
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


@cache
def _pattern() -> Pattern:
    query = shipped_rules()["GPUXIDLogged"].query
    assert isinstance(query, LogQuery)
    assert query.extract
    return compile_pattern(query.extract)
