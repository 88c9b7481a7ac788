"""The image's recipe and the files that it gets."""

from pathlib import Path

from tests.house.conftest import ROOT


def copied(recipe: str) -> set[str]:
    """The paths that a Dockerfile copies from the checkout."""
    lines = [line.split() for line in recipe.splitlines() if line.startswith("COPY ")]
    return {path for words in lines if not words[1].startswith("--from") for path in words[1:-1]}


def test_every_file_that_the_image_copies_exists_and_is_sent_to_the_build() -> None:
    ignore = (ROOT / ".dockerignore").read_text().splitlines()
    sent = {line.removeprefix("!") for line in ignore if line.startswith("!")}
    wanted = copied((ROOT / "Dockerfile").read_text())
    assert wanted
    assert wanted <= sent
    assert {path for path in wanted if not Path(ROOT, path).exists()} == set()
