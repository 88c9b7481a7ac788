"""Headers of log lines: the time that a line says of itself, and the text without it, which is what happened."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_KLOG = re.compile(r"[IWEF](?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d)\.\d+ +\d+ \S+\] ")
_SYSLOG = re.compile(
    rf"(?:<\d+>)?(?P<name>{_MONTHS}) +(?P<day>\d\d?) (?P<time>\d\d:\d\d:\d\d) \S+ [\w./-]+(?:\[\d+\])?: "
)
_DATED = re.compile(
    r"(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T ](?P<time>\d\d:\d\d:\d\d)\S* "
    r"(?:\S+ [\w./-]+(?:\[\d+\])?: )?"  # of syslog
)
_KERNEL = re.compile(r"\[ *\d+\.\d{6}\] ")
_BYTES = re.compile(r"\[((?:\d{1,3} ){7,}\d{1,3})\]")
_REPLAYED = timedelta(days=1, hours=14)  # a day, and the zones


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadedLine:
    """A line without its header. `is_replayed`: its header's time is more than a day from when it was shipped."""

    text: str
    is_replayed: bool


def without_header(line: str, shipped: datetime) -> HeadedLine:
    """Split a line that has this time according to its shipper. A header without a year means the nearest one."""
    is_replayed = False
    for form in (_KLOG, _SYSLOG, _DATED):
        if (found := form.match(line)) is not None:
            is_replayed = _is_far(found, shipped)
            line = line[found.end() :]
            break
    kernel = _KERNEL.match(line)
    return HeadedLine(text=(line[kernel.end() :] if kernel else line).strip(), is_replayed=is_replayed)


def with_decoded_bytes(line: str) -> str:
    """Write out a tool's output that was logged as a list of its bytes: `rbd output: [114 98 100 …]`."""
    return _BYTES.sub(lambda found: _decoded(found.group(1)) or found.group(), line)


def _decoded(numbers: str) -> str:
    values = [int(number) for number in numbers.split()]
    if max(values) > 255:
        return ""
    text = bytes(values).decode("utf-8", errors="replace").strip()
    return text if all(sign.isprintable() or sign.isspace() for sign in text) and "\ufffd" not in text else ""


def _is_far(header: re.Match[str], shipped: datetime) -> bool:
    parts = header.groupdict()
    month = int(parts["month"]) if "month" in parts else 1 + _MONTHS.split("|").index(parts["name"])
    years = [int(parts["year"])] if "year" in parts else [shipped.year + step for step in (-1, 0, 1)]
    hour, minute, second = (int(number) for number in parts["time"].split(":"))
    found: list[timedelta] = []
    for year in years:
        try:
            said = datetime(
                year, month, int(parts["day"]), hour, minute, min(second, 59), tzinfo=shipped.tzinfo
            )
        except ValueError:  # no such day, or not of that year
            continue
        found.append(abs(said - shipped))
    return bool(found) and min(found) > _REPLAYED
