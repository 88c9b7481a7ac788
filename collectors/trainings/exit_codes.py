"""Explanations of why a container ended. Sources: POSIX shells' 128+signal, the kubelet's reasons."""

from collectors.facts.sentences import sentence, word

EXIT_CODES = {
    0: "it finished",
    1: "the program exited with an error",
    2: "the program was called incorrectly, or a shell script has an error",
    126: "the command cannot be executed: check its permissions and its interpreter line",
    127: "the command was not found in the image",
    128: "the container could not be started",
    129: "it lost its terminal (SIGHUP)",
    130: "it was interrupted (SIGINT)",
    132: "illegal instruction (SIGILL): the binary was built for another CPU",
    134: "it aborted (SIGABRT): a failed assertion, or NCCL's watchdog timed out waiting for other ranks",
    135: "bus error (SIGBUS): often too little /dev/shm",
    136: "arithmetic error (SIGFPE)",
    137: "it was killed (SIGKILL): out of memory, a deadline, or a lost node",
    139: "segmentation fault (SIGSEGV)",
    143: "it was terminated (SIGTERM): evicted, preempted, drained or stopped",
    255: "it exited with -1, or the node lost track of it",
}

REASONS = {
    "OOMKilled": "it used more memory than its limit and was killed",
    "DeadlineExceeded": "it exceeded its deadline",
    "Evicted": "its node evicted it",
    "NodeLost": "its node was lost",
    "Shutdown": "its node shut down",
    "NodeShutdown": "its node shut down",
    "Terminated": "its node shut down",
    "Preempting": "a pod of higher priority needed its resources",
    "PreemptionByScheduler": "a pod of higher priority preempted it",
    "EvictionByEvictionAPI": "it was evicted, for example by a drain",
    "DeletionByTaintManager": "it was removed because of a taint on its node",
    "DeletionByPodGC": "its node no longer exists, and the pod was removed",
    "TerminationByKubelet": "its node needed the resources, or shut down",
    "ContainerCannotRun": "the container could not be started",
    "StartError": "the container could not be started",
    "ContainerStatusUnknown": "its node does not know how it ended",
    "UnexpectedAdmissionError": "its node rejected it, often because a GPU was missing",
    "ImagePullBackOff": "its image cannot be pulled",
    "ErrImagePull": "its image cannot be pulled",
    "InvalidImageName": "its image name is invalid",
    "CreateContainerConfigError": "a Secret or ConfigMap that it references does not exist",
    "CrashLoopBackOff": "it ends repeatedly soon after it starts",
    "Unschedulable": "no node can take it: room, taints or its selector",
}


def explain_exit(code: int | None, reason: str = "") -> str:
    """Explain why a container ended, by its reason, else by its code. Empty when neither is known."""
    if text := REASONS.get(reason):
        return word(text)
    if code is None:
        return ""
    if text := EXIT_CODES.get(code):
        return word(text)
    if 128 < code < 128 + 65:
        return sentence("it was terminated by signal {code}", code=code - 128)
    return sentence("the program exited with an error")
