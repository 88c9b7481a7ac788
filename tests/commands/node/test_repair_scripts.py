"""The scripts of the repairs, run by a real shell in a folder, with tools that record how they were called."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from commands.node.repair.repair_list import own_repairs

# /proc/devices and /proc/modules of a node with driver 550 and kernel 5.15, cut to what matters here.
DEVICES = "Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n237 nvidia-caps\n{uvm}\nBlock devices:\n259 blkext\n"
UVM = "511 nvidia-uvm"
MODULES = "nvidia_modeset 1540096 2 nvidia_drm, Live 0x0\nnvidia 54009856 21 nvidia_modeset, Live 0x0\n"
UVM_MODULE = "nvidia_uvm 4956160 0 - Live 0x0\n"
MKNOD = 'echo "$5 $6" > "$3"'  # mknod -m 666 FILE c MAJOR MINOR
STAT = 'read major _ < "$3"; printf "%x\\n" "$major"'  # stat -c %t FILE
MODPROBE = f'[ "$1" = nvidia-uvm ] && printf "{UVM_MODULE}" >> "$YARDMASTER_ROOT/proc/modules"'
SHELLS = [shell for shell in ("sh", "bash", "dash") if shutil.which(shell)]


@dataclass
class Node:
    """A node's folder, with its tools."""

    root: Path

    def tool(self, name: str, body: str) -> None:
        """Make a tool that records its call and then runs this."""
        file = self.root / "bin" / name
        file.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.root}/calls"\n{body}\n')
        file.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        file = self.root / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def run(self, name: str, shell: str = "sh", **env: str) -> tuple[int, list[str]]:
        """Run the script of a repair as its Job does, and return its exit code and what it printed."""
        text = own_repairs()[name].script.text
        variables: Mapping[str, str] = {
            "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
            "YARDMASTER_ROOT": str(self.root),
            **env,
        }
        done = subprocess.run(
            (shell, "-c", text), env=variables, capture_output=True, text=True, timeout=30, check=False
        )
        return done.returncode, (done.stdout + done.stderr).splitlines()


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """A node whose driver is loaded and whose nvidia-uvm is not."""
    for folder in ("bin", "proc", "dev"):
        (tmp_path / folder).mkdir()
    made = Node(tmp_path)
    (tmp_path / "proc/modules").write_text(MODULES)
    (tmp_path / "proc/devices").write_text(DEVICES.format(uvm=UVM))
    made.tool("modprobe", MODPROBE)
    made.tool("mknod", MKNOD)
    made.tool("stat", STAT)
    made.tool("sleep", "")
    return made


@pytest.mark.parametrize("shell", SHELLS)
def test_uvm_is_loaded_and_its_files_made_with_the_kernels_number(node: Node, shell: str) -> None:
    code, lines = node.run("nvidia-uvm", shell)
    assert code == 0, lines
    assert (node.root / "dev/nvidia-uvm").read_text() == "511 0\n"
    assert (node.root / "dev/nvidia-uvm-tools").read_text() == "511 1\n"
    assert lines[-1] == "nvidia-uvm works: new GPU pods can start"
    assert "modprobe nvidia-uvm" in node.calls


def test_what_is_there_already_is_left(node: Node) -> None:
    node.run("nvidia-uvm")
    (node.root / "calls").unlink()
    code, lines = node.run("nvidia-uvm")
    assert code == 0
    assert "nvidia-uvm is loaded already" in lines
    assert not [call for call in node.calls if call.startswith(("modprobe", "mknod"))]


def test_a_file_with_another_major_number_is_made_again(node: Node) -> None:
    (node.root / "dev/nvidia-uvm").write_text("510 0\n")
    code, lines = node.run("nvidia-uvm")
    assert code == 0
    assert "removed /dev/nvidia-uvm, which had another major number" in lines
    assert (node.root / "dev/nvidia-uvm").read_text() == "511 0\n"


def test_a_device_that_does_not_open_is_no_success(node: Node) -> None:
    node.tool("mknod", 'ln -s /no/driver/behind/it "$3"')
    code, lines = node.run("nvidia-uvm")
    assert (code, lines[-1]) == (1, "/dev/nvidia-uvm is there, but does not open: the driver does not answer")


def test_without_the_driver_nothing_is_tried(node: Node) -> None:
    (node.root / "proc/modules").write_text("ext4 737280 2 - Live 0x0\n")
    code, lines = node.run("nvidia-uvm")
    assert (code, node.calls) == (1, [])
    assert "the driver itself is not loaded" in lines[-1]


def test_a_module_that_is_missing_points_to_the_kernels_upgrade(node: Node) -> None:
    node.tool(
        "modprobe",
        'echo "modprobe: FATAL: Module nvidia-uvm not found in directory /lib/modules/5.15.0-91"; exit 1',
    )
    code, lines = node.run("nvidia-uvm")
    assert code == 1
    assert "the driver must be built again" in lines[-1]
    assert not list((node.root / "dev").iterdir())


@pytest.mark.parametrize(
    "uvm", ["", "x; touch /tmp/owned nvidia-uvm", "$(id) nvidia-uvm"], ids=["none", "words", "code"]
)
def test_a_number_that_is_none_makes_no_file(node: Node, uvm: str) -> None:
    (node.root / "proc/devices").write_text(DEVICES.format(uvm=uvm))
    code, lines = node.run("nvidia-uvm")
    assert code == 1
    assert lines[-1] == "/proc/devices has no nvidia-uvm"
    assert not list((node.root / "dev").iterdir())


SYSTEMD = """
case "$1" in
  cat) [ -n "$KNOWN" ] ;;
  is-active) cat "{root}/state" ;;
  restart) echo {after} > "{root}/state"; [ {after} != broken ] ;;
  *) echo "Active: failed (Result: exit-code)" ;;
esac
"""


def with_systemd(node: Node, *, after: str) -> None:
    (node.root / "state").write_text("active\n")
    node.tool("systemctl", SYSTEMD.format(root=node.root, after=after))


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("restart-containerd", "containerd.service"),
        ("restart-kubelet", "kubelet.service"),
        ("restart-fabric-manager", "nvidia-fabricmanager.service"),
    ],
)
def test_a_service_is_restarted_and_seen_active_again(node: Node, name: str, unit: str) -> None:
    with_systemd(node, after="active")
    code, lines = node.run(name, KNOWN="1")
    assert (code, lines) == (0, [f"{unit} was active", f"{unit} is active again"])
    assert f"systemctl restart {unit}" in node.calls


def test_a_service_that_stays_down_is_shown_with_its_state(node: Node) -> None:
    with_systemd(node, after="failed")
    code, lines = node.run("restart-containerd", KNOWN="1")
    assert code == 1
    assert "containerd.service is not active after 60 s" in lines
    assert lines[-1] == "Active: failed (Result: exit-code)"


def test_a_service_that_ends_soon_after_its_start_is_no_success(node: Node) -> None:
    with_systemd(node, after="active")
    node.tool("sleep", f'[ "$1" = 10 ] && echo failed > "{node.root}/state"')
    code, lines = node.run("restart-fabric-manager", KNOWN="1")
    assert code == 1
    assert lines[-2:] == [
        "nvidia-fabricmanager.service was active, and 10 s later is not",
        "Active: failed (Result: exit-code)",
    ]


def test_a_service_that_is_none_here_is_not_restarted(node: Node) -> None:
    with_systemd(node, after="active")
    code, lines = node.run("restart-kubelet", KNOWN="")
    assert (code, lines) == (1, ["kubelet.service is not a unit of systemd here"])
    assert not [call for call in node.calls if "restart" in call]


def test_unused_images_are_deleted_and_counted(node: Node) -> None:
    (node.root / "images").write_text("sha256:a\nsha256:b\nsha256:b\n")
    drop = (
        f'case "$*" in "rmi --prune") echo sha256:a > {node.root}/images ;; *) cat {node.root}/images ;; esac'
    )
    node.tool("crictl", drop)
    assert node.run("clear-images") == (0, ["before: 2 images", "after: 1 images"])


SMI = """
case "$*" in
  *--query-gpu=uuid*) [ "{uuid}" != gone ] && echo "{uuid}" ;;
  *--query-compute-apps*) printf '{apps}' ;;
  *--gpu-reset*) {reset} ;;
esac
"""
WAS_RESET = 'echo "GPU 00000000:18:00.0 was successfully reset."; echo "All done."'


def with_smi(node: Node, *, uuid: str = "GPU-7d6e", apps: str = "", reset: str = WAS_RESET) -> None:
    node.tool("nvidia-smi", SMI.format(uuid=uuid, apps=apps, reset=reset))


def test_an_idle_gpu_is_reset(node: Node) -> None:
    with_smi(node)
    code, lines = node.run("reset-gpu", GPU_INDEX="3")
    assert code == 0
    assert lines[-1] == "GPU 3 was reset and answers again"
    assert "nvidia-smi --gpu-reset -i 3" in node.calls


def test_a_gpu_with_a_process_is_not_reset(node: Node) -> None:
    with_smi(node, apps="41234, /usr/bin/python3\\n")
    code, lines = node.run("reset-gpu", GPU_INDEX="3")
    assert code == 1
    assert lines[-1] == "41234, /usr/bin/python3"
    assert not [call for call in node.calls if "--gpu-reset" in call]


@pytest.mark.parametrize("index", ["", "x", "0; reboot", "-1", "$(id)"])
def test_an_index_that_is_none_resets_nothing(node: Node, index: str) -> None:
    with_smi(node)
    assert node.run("reset-gpu", GPU_INDEX=index) == (1, ["no GPU was named"])
    assert node.calls == []


def test_a_gpu_that_has_fallen_off_the_bus_is_not_reset(node: Node) -> None:
    with_smi(node, uuid="gone")
    code, lines = node.run("reset-gpu", GPU_INDEX="0")
    assert code == 1
    assert "only a reboot helps" in lines[-1]


def test_a_reset_that_is_refused_shows_why(node: Node) -> None:
    refuse = 'echo "GPU Reset could not be run because GPU 00000000:18:00.0 is the primary GPU."; exit 1'
    with_smi(node, reset=refuse)
    code, lines = node.run("reset-gpu", GPU_INDEX="0")
    assert code == 1
    assert "is the primary GPU" in lines[-2]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", sorted(own_repairs()))
def test_every_script_is_one_that_the_shell_can_read(name: str, shell: str) -> None:
    done = subprocess.run(
        (shell, "-n", "-c", own_repairs()[name].script.text), check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_every_script_of_the_folder_is_in_the_list() -> None:
    folder = Path("commands/node/repair/scripts")
    assert {file.stem for file in folder.glob("*.sh")} == set(own_repairs())
