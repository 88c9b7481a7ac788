"""Configuration files and command-line flags of the programs of a Kubernetes control plane."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from demo.parts.processes import find_program
from tests.real.parts.layout import HOW_TO_GET

ADMIN_TOKEN = "admin-token-of-the-tests"
BOT_TOKEN = "bot-token-of-the-tests"
BOT_NAME = "system:serviceaccount:yardmaster:yardmaster"

# What a 1.36 server does not have by default: a DeviceTaintRule cordons one GPU, and pods of a PodGroup start together.
_GATES = "--feature-gates=DRADeviceTaintRules=true,GenericWorkload=true,GangScheduling=true"
_VERSIONS = "--runtime-config=resource.k8s.io/v1beta2=true,scheduling.k8s.io/v1alpha2=true"

_TOKENS = f"""\
{ADMIN_TOKEN},admin,1,system:masters
{BOT_TOKEN},{BOT_NAME},2,
"""

_SCHEDULER_CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: "{kubeconfig}", qps: 500, burst: 1000}}
leaderElection: {{leaderElect: false}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The port of each program, on 127.0.0.1."""

    etcd: int
    etcd_peers: int
    apiserver: int
    controllers: int
    scheduler: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """The files of one control plane, all in one folder."""

    folder: Path
    ports: Ports

    @property
    def url(self) -> str:
        """The URL of the API server."""
        return f"https://127.0.0.1:{self.ports.apiserver}"

    @property
    def etcd_url(self) -> str:
        """The URL of etcd, which accepts JSON over HTTP without a token."""
        return f"http://127.0.0.1:{self.ports.etcd}"

    @property
    def ca_file(self) -> Path:
        """The API server's self-signed certificate, which it writes at its first start: trust this one."""
        return self.folder / "certs" / "apiserver.crt"

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the administrator."""
        return self.folder / "kubeconfig"

    @property
    def bot_kubeconfig(self) -> Path:
        """The kubeconfig of the bot's service account."""
        return self.folder / "kubeconfig-of-the-bot"

    def write_files(self) -> None:
        """Write tokens, key and configurations. The API server writes its certificate itself."""
        certs = self.folder / "certs"
        certs.mkdir(parents=True, exist_ok=True)
        openssl = find_program("openssl", get_it=HOW_TO_GET.format(part="debian"))
        key = (openssl, "genrsa", "-out", certs / "sa.key", "2048")
        subprocess.run(key, check=True, capture_output=True, timeout=60)
        (certs / "tokens.csv").write_text(_TOKENS, encoding="utf-8")
        self._write_kubeconfig(self.kubeconfig, ADMIN_TOKEN)
        self._write_kubeconfig(self.bot_kubeconfig, BOT_TOKEN)
        scheduler = _SCHEDULER_CONFIG.format(kubeconfig=self.kubeconfig)
        (self.folder / "scheduler.yaml").write_text(scheduler, encoding="utf-8")

    def flags(self) -> Mapping[str, tuple[str, ...]]:
        """Return the flags of each program by its name."""
        certs = self.folder / "certs"
        key = certs / "sa.key"
        auth_flags = (
            f"--authentication-kubeconfig={self.kubeconfig}",
            f"--authorization-kubeconfig={self.kubeconfig}",
            "--bind-address=127.0.0.1",
        )
        return {
            "etcd": (
                f"--data-dir={self.folder / 'etcd'}",
                f"--listen-client-urls={self.etcd_url}",
                f"--advertise-client-urls={self.etcd_url}",
                f"--listen-peer-urls=http://127.0.0.1:{self.ports.etcd_peers}",
                "--unsafe-no-fsync",
                "--log-level=warn",
            ),
            "kube-apiserver": (
                f"--etcd-servers={self.etcd_url}",
                f"--cert-dir={certs}",
                "--bind-address=127.0.0.1",
                f"--secure-port={self.ports.apiserver}",
                f"--service-account-key-file={key}",
                f"--service-account-signing-key-file={key}",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--token-auth-file={certs / 'tokens.csv'}",
                "--authorization-mode=RBAC",
                "--allow-privileged=true",  # as clusters have it; a namespace forbids such pods
                "--service-cluster-ip-range=10.0.0.0/16",
                "--disable-admission-plugins=ServiceAccount",
                _GATES,
                _VERSIONS,
            ),
            "kube-controller-manager": (
                f"--kubeconfig={self.kubeconfig}",
                *auth_flags,
                f"--secure-port={self.ports.controllers}",
                "--leader-elect=false",
                f"--service-account-private-key-file={key}",
                f"--root-ca-file={self.ca_file}",
                "--controllers=*,-nodeipam,-cloud-node-lifecycle",
                "--node-monitor-grace-period=24h",  # no kubelet renews leases: only a test makes a node NotReady
                "--kube-api-qps=500",
                "--kube-api-burst=1000",
                _GATES,
            ),
            "kube-scheduler": (
                f"--config={self.folder / 'scheduler.yaml'}",
                *auth_flags,
                f"--secure-port={self.ports.scheduler}",
                _GATES,
            ),
        }

    def _write_kubeconfig(self, file: Path, token: str) -> None:
        name = "yardmaster-tests"
        cluster = {"server": self.url, "certificate-authority": str(self.ca_file)}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")  # JSON is YAML too
