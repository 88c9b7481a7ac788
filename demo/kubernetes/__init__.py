"""An in-process look-alike of the Kubernetes API server with its own small controllers."""

from demo.kubernetes.authorization import User
from demo.kubernetes.controllers import Settings
from demo.kubernetes.errors import RefusedError
from demo.kubernetes.lookalike import ADMIN_TOKEN, KubernetesLookalike

__all__ = ["ADMIN_TOKEN", "KubernetesLookalike", "RefusedError", "Settings", "User"]
