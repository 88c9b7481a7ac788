"""Pages of the lines of a pod, a node or a component between two times, the newest first.

Where the next page begins is said by the last line's time and how many lines of that time were shown. So it needs
nothing of the server, and a page may be asked for an hour later.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from collectors.facts.results import LineLabels, LinePage, LogLine, SourceError
from collectors.facts.sentences import counted, sentence
from collectors.logs.log_store import LineSearch, LogPage, LogStore, Window

MOST = 1_000  # lines of one page
_MOST_AT_ONCE = 9_000  # lines of one moment; servers skip 10,000 at most
_MOST_VALUES = 1_000  # of one label in one search
_TICK = timedelta(milliseconds=1)  # the precision of the stores' times


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePosition:
    """Where a page ends: the time of its last line, and how many lines of that time were shown."""

    at: datetime
    shown: int

    def __str__(self) -> str:
        return f"{self.at.isoformat()}/{self.shown}"


def position_of(text: str) -> PagePosition:
    """Read the continuation of a page. Raises SourceError."""
    at, _, shown = text.partition("/")
    found: PagePosition | None
    try:
        found = PagePosition(at=datetime.fromisoformat(at).astimezone(UTC), shown=int(shown))
    except (ValueError, OverflowError):
        found = None
    if found is None or found.shown < 1:
        raise SourceError(
            sentence("`{text}` does not continue a page of lines", text=text[:80]), temporary=False
        )
    if found.shown > _MOST_AT_ONCE:
        raise SourceError(
            counted(
                "more than {count} line has the time {at}: look at a shorter time",
                "more than {count} lines have the time {at}: look at a shorter time",
                count=_MOST_AT_ONCE,
                at=at[:40],
            ),
            temporary=False,
        )
    return found


async def read_page(
    store: LogStore,
    where: LineLabels,
    window: Window,
    *,
    size: int,
    after: str = "",
) -> LinePage:
    """Return the lines with these labels that come after a page, or the newest ones. Raises SourceError."""
    size = max(1, min(size, MOST))
    before = position_of(after) if after else None
    if before is not None:
        window = Window(since=window.since, until=min(window.until, before.at + _TICK))
    skip = before.shown if before is not None else 0
    search = LineSearch(window=window)
    page = await store.read(search, exact_values(where), size=size + 1, skip=skip)
    lines = page.lines[:size]
    if page.hits <= size or not lines:
        return LinePage(lines=tuple(line.shown() for line in lines))
    last = _tick_of(lines[-1].at)
    shown = sum(_tick_of(line.at) == last for line in lines)
    if before is not None and before.at == last:
        shown += before.shown
    return LinePage(
        lines=tuple(line.shown() for line in lines), after=str(PagePosition(at=last, shown=shown))
    )


def shown_in_order(page: LogPage) -> tuple[LogLine, ...]:
    """Return the lines of a page of the newest ones, the oldest first."""
    return tuple(line.shown() for line in reversed(page.lines))


def exact_values(where: LineLabels) -> dict[str, tuple[str, ...]]:
    """Return the values by label; a training's namespace becomes a label of its own."""
    found = {label: (value,) if isinstance(value, str) else tuple(value) for label, value in where.items()}
    for label, values in found.items():
        if not values or len(values) > _MOST_VALUES:
            raise SourceError(
                counted(
                    "`{label}` has {count} value; it must have 1 to {most}",
                    "`{label}` has {count} values; it must have 1 to {most}",
                    label=label,
                    count=len(values),
                    most=_MOST_VALUES,
                ),
                temporary=False,
            )
    if trainings := found.get("training"):
        namespaces, names = zip(*(name.rpartition("/")[::2] for name in trainings), strict=True)
        found["training"] = tuple(names)
        if any(namespaces):
            found.setdefault("namespace", tuple(sorted({namespace for namespace in namespaces if namespace})))
    return found


def _tick_of(at: datetime) -> datetime:
    return at.replace(microsecond=at.microsecond // 1_000 * 1_000)
