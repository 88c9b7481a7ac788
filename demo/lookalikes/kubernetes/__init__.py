"""An in-process look-alike of the Kubernetes API server, with small controllers of its own."""

from demo.lookalikes.kubernetes.authorization import User
from demo.lookalikes.kubernetes.controllers import Settings
from demo.lookalikes.kubernetes.errors import RefusedError
from demo.lookalikes.kubernetes.lookalike import ADMIN_TOKEN, KubernetesLookalike

__all__ = ["ADMIN_TOKEN", "KubernetesLookalike", "RefusedError", "Settings", "User"]
