"""Checks for the tools that the parts need, with what to install if one is missing."""

import os
import re
import shutil
import subprocess
from pathlib import Path

GO_AT_LEAST = (1, 26)
JDK_AT_LEAST = 17


class NeedError(RuntimeError):
    """A tool is missing or too old. The text says which, why it is needed, and what to install."""


def check_go() -> None:
    """Raise NeedError unless a new enough Go is on the PATH."""
    purpose = "it builds Kubernetes' control plane, JobSet, helm and kubeconform"
    required = ".".join(map(str, GO_AT_LEAST))
    hint = f"Install Go {required} or later from https://go.dev/dl/ and put its bin folder on the PATH."
    found = re.search(r"go(\d+)\.(\d+)", _version_text("go", "version"))
    if found is None:
        raise NeedError(f"Go is missing ({purpose}). {hint}")
    if (int(found[1]), int(found[2])) < GO_AT_LEAST:
        raise NeedError(f"Go is too old: {found[0]}, and {required} is needed ({purpose}). {hint}")


def check_maven() -> None:
    """Raise NeedError unless Maven is on the PATH."""
    if shutil.which("mvn") is None:
        raise NeedError(
            "Maven is missing (it fetches Elasticsearch and OpenSearch). "
            "Install it: `apt-get install maven` or the equivalent."
        )


def java_home() -> Path:
    """Return the home of a new enough Java, from JAVA_HOME or the PATH. Raise NeedError."""
    purpose = "Elasticsearch and OpenSearch run on it"
    hint = (
        f"Install a JDK {JDK_AT_LEAST} (`apt-get install openjdk-17-jdk-headless`) or set JAVA_HOME to one."
    )
    chosen = os.environ.get("JAVA_HOME")
    java = Path(chosen, "bin", "java") if chosen else Path(shutil.which("java") or "java")
    found = re.search(r'version "(?:1\.)?(\d+)', _version_text(str(java), "-version"))
    if found is None:
        raise NeedError(f"Java is missing: {java} does not run ({purpose}). {hint}")
    if int(found[1]) < JDK_AT_LEAST:
        raise NeedError(
            f"Java is too old: {java} is {found[1]}, and {JDK_AT_LEAST} is needed ({purpose}). {hint}"
        )
    return java.resolve().parents[1]


def _version_text(*command: str) -> str:
    """Return what a program prints about its version, or an empty text if it is missing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
