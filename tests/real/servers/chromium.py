"""The system's Chromium, with flags for tests: no background requests, no first-run dialogs."""

from pathlib import Path

from demo.parts.processes import find_program
from tests.real.parts.layout import HOW_TO_GET

# For playwright: chromium.launch(executable_path=str(find_chromium()), args=list(CHROMIUM_FLAGS))
CHROMIUM_FLAGS = (
    "--no-sandbox",  # the tests may run as root, and open only our own pages
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def find_chromium() -> Path:
    """Return the path of Chromium. Raise MissingPartError."""
    get_it = HOW_TO_GET.format(part="debian")
    return find_program("chromium", "chromium-browser", "google-chrome", get_it=get_it)
