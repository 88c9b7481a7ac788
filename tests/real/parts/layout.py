"""The real parts, their versions, and where each is stored.

This folder uses only the standard library: the installer runs before the project's environment exists.
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
ELASTICSEARCH_7 = "7.17.29"  # the oldest that the log source supports
OPENSEARCH = "2.19.1"

KUBE_MODULE = Path(__file__).resolve().parents[1] / "kube"
KUBE_COMMANDS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
ASSETS = "KUBEBUILDER_ASSETS"  # the folder where envtest stores etcd and kube-apiserver
FROM_ASSETS = ("etcd", "kube-apiserver")

HOW_TO_GET = "run `make parts` (or `python3 tests/real/parts/install.py --only {part}`)"


@dataclass(frozen=True)
class DebianPackage:
    """A package, and the programs that show that it, or an equivalent, is installed."""

    name: str
    programs: tuple[str, ...] = ()  # any of them is enough
    font: str = ""  # or a folder name under /usr/share/fonts


# The fonts give screenshots Latin, Chinese and emoji at 15 MB; the Noto CJK family would be 91 MB.
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
    """Return the folder of built and downloaded parts: one folder per part and version, outside the checkout."""
    if chosen := os.environ.get("YARDMASTER_PARTS"):
        return Path(chosen).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "yardmaster" / "parts"


def assets() -> Path | None:
    """Return the user's own folder with etcd and kube-apiserver, or None. Raise FileNotFoundError."""
    given = os.environ.get(ASSETS)
    if not given:
        return None
    folder = Path(given)
    if missing := [name for name in FROM_ASSETS if not (folder / name).is_file()]:
        raise FileNotFoundError(f"{ASSETS} is {folder}, which has no {' and no '.join(missing)}")
    return folder


def kube_commands() -> tuple[str, ...]:
    """Return the programs of the control plane that must be built."""
    return KUBE_COMMANDS if assets() is None else tuple(c for c in KUBE_COMMANDS if c not in FROM_ASSETS)


def kube_folder() -> Path:
    """Return the folder of the built control plane. Other sources have another folder: an old build is never used."""
    suffix = "" if assets() is None else "-with-assets"
    return cache() / f"kubernetes-{KUBERNETES}-{digest(KUBE_MODULE)}{suffix}"


def digest(module: Path, salt: str = "") -> str:
    """Return a digest of the sources of one of our Go modules, and of what else its programs depend on."""
    made = hashlib.sha256(salt.encode())
    for file in (module / "go.mod", module / "go.sum", *sorted(module.glob("cmd/*/main.go"))):
        made.update(file.relative_to(module).as_posix().encode() + b"\0" + file.read_bytes())
    return made.hexdigest()[:12]


def kube_program(name: str) -> Path:
    """Return the path of one of KUBE_COMMANDS, whether it exists or not."""
    folder = assets()
    if folder is not None and name in FROM_ASSETS:
        return folder / name
    return kube_folder() / name


def helm_program() -> Path:
    """Return the path of helm, whether it exists or not."""
    return cache() / f"helm-{HELM}" / "helm"


def kubeconform_program() -> Path:
    """Return the path of kubeconform, whether it exists or not."""
    return cache() / f"kubeconform-{KUBECONFORM}" / "kubeconform"


def elasticsearch_zip(version: str = ELASTICSEARCH) -> Path:
    """Return the path of Elasticsearch's archive. Each server unpacks a copy, which its user can read."""
    return cache() / f"elasticsearch-{version}" / f"elasticsearch-{version}.zip"


def opensearch_zip() -> Path:
    """Return the path of OpenSearch's archive."""
    return cache() / f"opensearch-{OPENSEARCH}" / f"opensearch-{OPENSEARCH}.zip"


def missing_packages(packages: tuple[DebianPackage, ...]) -> tuple[DebianPackage, ...]:
    """Return the packages that are not installed and have no installed equivalent."""
    fonts = Path("/usr/share/fonts")
    return tuple(
        package
        for package in packages
        if not any(shutil.which(program) for program in package.programs)
        and not (package.font and (fonts / package.font).is_dir())
    )
