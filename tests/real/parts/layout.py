"""This file knows which real parts there are, in which versions, and where each is kept.

Standard library only, like all of this folder: the installer runs before the project's environment exists.
"""

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

KUBERNETES = "1.36.3"  # the versions that tests/real/kube/go.mod requires
HELM = "3.22.0"
KUBECONFORM = "0.8.0"
ELASTICSEARCH = "8.19.21"

KUBE_MODULE = Path(__file__).resolve().parents[1] / "kube"
KUBE_COMMANDS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
ASSETS = "KUBEBUILDER_ASSETS"  # where envtest keeps etcd and kube-apiserver
FROM_ASSETS = ("etcd", "kube-apiserver")

HOW_TO_GET = "run `make parts` (or `python3 tests/real/parts/install.py --only {part}`)"


@dataclass(frozen=True)
class DebianPackage:
    """A package, and the programs by which we see that it (or its like from elsewhere) is there."""

    name: str
    programs: tuple[str, ...] = ()  # any one of them will do
    font: str = ""  # or a folder name under /usr/share/fonts


# The fonts give screenshots Latin letters, Chinese signs and emoji at 15 MB; the Noto CJK family would be 91 MB.
DEMO_PACKAGES = (DebianPackage("prometheus", ("prometheus",)),)
DEBIAN_PACKAGES = (
    *DEMO_PACKAGES,
    DebianPackage("prometheus-alertmanager", ("prometheus-alertmanager", "alertmanager")),
    DebianPackage("prometheus-node-exporter", ("prometheus-node-exporter", "node_exporter")),
    DebianPackage("chromium", ("chromium", "chromium-browser", "google-chrome")),
    DebianPackage("openssl", ("openssl",)),
    DebianPackage("fonts-dejavu-core", font="truetype/dejavu"),
    DebianPackage("fonts-liberation2", font="truetype/liberation2"),
    DebianPackage("fonts-wqy-microhei", font="truetype/wqy"),
    DebianPackage("fonts-noto-color-emoji", font="truetype/noto"),
)


def cache() -> Path:
    """The folder that holds what we built and fetched, one folder per part and version, outside of the checkout."""
    if chosen := os.environ.get("YARDMASTER_PARTS"):
        return Path(chosen).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "yardmaster" / "parts"


def assets() -> Path | None:
    """The folder with etcd and kube-apiserver that the user has already, or None. Raises FileNotFoundError."""
    given = os.environ.get(ASSETS)
    if not given:
        return None
    folder = Path(given)
    if absent := [name for name in FROM_ASSETS if not (folder / name).is_file()]:
        raise FileNotFoundError(f"{ASSETS} is {folder}, which has no {' and no '.join(absent)}")
    return folder


def kube_commands() -> tuple[str, ...]:
    """The programs of the control plane that we must build ourselves."""
    return KUBE_COMMANDS if assets() is None else tuple(c for c in KUBE_COMMANDS if c not in FROM_ASSETS)


def kube_folder() -> Path:
    """Where the built control plane is: another place for other sources, so an old build never serves them."""
    digest = hashlib.sha256()
    files = (KUBE_MODULE / "go.mod", KUBE_MODULE / "go.sum", *sorted(KUBE_MODULE.glob("cmd/*/main.go")))
    for file in files:
        digest.update(file.relative_to(KUBE_MODULE).as_posix().encode() + b"\0" + file.read_bytes())
    suffix = "" if assets() is None else "-with-assets"
    return cache() / f"kubernetes-{KUBERNETES}-{digest.hexdigest()[:12]}{suffix}"


def kube_program(name: str) -> Path:
    """Where one of KUBE_COMMANDS is, or should be."""
    folder = assets()
    if folder is not None and name in FROM_ASSETS:
        return folder / name
    return kube_folder() / name


def helm_program() -> Path:
    """Where helm is, or should be."""
    return cache() / f"helm-{HELM}" / "helm"


def kubeconform_program() -> Path:
    """Where kubeconform is, or should be."""
    return cache() / f"kubeconform-{KUBECONFORM}" / "kubeconform"


def elasticsearch_zip() -> Path:
    """Where Elasticsearch's archive is, or should be. Each server unpacks its own copy, for a user that may read it."""
    return cache() / f"elasticsearch-{ELASTICSEARCH}" / f"elasticsearch-{ELASTICSEARCH}.zip"


def missing_packages(packages: tuple[DebianPackage, ...]) -> tuple[DebianPackage, ...]:
    """Those of the packages that are not here, in any guise."""
    fonts = Path("/usr/share/fonts")
    return tuple(
        package
        for package in packages
        if not any(shutil.which(program) for program in package.programs)
        and not (package.font and (fonts / package.font).is_dir())
    )
