"""The shipped runbook pages, in Markdown, by name."""

from functools import cache
from importlib import resources

_FOLDER = resources.files("alerts.packs") / "runbooks"


@cache
def runbook_names() -> tuple[str, ...]:
    """Return the names of all pages, sorted."""
    names = (page.name.removesuffix(".md") for page in _FOLDER.iterdir() if page.name.endswith(".md"))
    return tuple(sorted(name for name in names if name != "README"))


@cache
def runbook_page(name: str) -> str:
    """Return a page's text. Raises KeyError when there is no such page."""
    if name not in runbook_names():
        raise KeyError(name)
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
