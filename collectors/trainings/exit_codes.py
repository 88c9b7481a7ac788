"""This file says in words why a container ended. Sources: POSIX shells' 128+signal, the kubelet's reasons."""

EXIT_CODES = {
    0: "it finished",
    1: "the program ended with an error of its own",
    2: "the program was called wrongly, or a shell script has a diagnostic",
    126: "the command cannot be executed: check its permissions and its first line",
    127: "the command was not found in the image",
    128: "the container could not be started",
    129: "it lost its terminal (SIGHUP)",
    130: "it was interrupted (SIGINT)",
    132: "illegal instruction (SIGILL): the binary was built for another processor",
    134: "it aborted (SIGABRT): a failed assertion, or NCCL's watchdog gave up on the others",
    135: "bus error (SIGBUS): often too little /dev/shm",
    136: "arithmetic error (SIGFPE)",
    137: "it was killed (SIGKILL): out of memory, a deadline, or a node that went away",
    139: "segmentation fault (SIGSEGV)",
    143: "it was asked to end (SIGTERM): evicted, preempted, drained or stopped",
    255: "it ended with -1, or the node lost track of it",
}

REASONS = {
    "OOMKilled": "it used more memory than its limit and was killed",
    "DeadlineExceeded": "it ran longer than it was allowed to",
    "Evicted": "its node threw it out",
    "NodeLost": "its node went away",
    "Shutdown": "its node shut down",
    "NodeShutdown": "its node shut down",
    "Terminated": "its node shut down",
    "Preempting": "a pod of higher priority needed the place",
    "PreemptionByScheduler": "a pod of higher priority took its place",
    "EvictionByEvictionAPI": "it was evicted, as in a drain",
    "DeletionByTaintManager": "its node became unusable and it was removed",
    "DeletionByPodGC": "its node is gone and the pod was cleared away",
    "TerminationByKubelet": "its node needed the resources or shut down",
    "ContainerCannotRun": "the container could not be started",
    "StartError": "the container could not be started",
    "ContainerStatusUnknown": "its node cannot tell how it ended",
    "UnexpectedAdmissionError": "its node refused it, often because a GPU was gone",
    "ImagePullBackOff": "its image cannot be pulled",
    "ErrImagePull": "its image cannot be pulled",
    "InvalidImageName": "its image's name is not valid",
    "CreateContainerConfigError": "a Secret or ConfigMap that it names is not there",
    "CrashLoopBackOff": "it ends again and again soon after it starts",
    "Unschedulable": "no node has room for it",
}


def explain_exit(code: int | None, reason: str = "") -> str:
    """Why, in words: the reason where it says more than the code. Empty when neither is known."""
    if words := REASONS.get(reason):
        return words
    if code is None:
        return ""
    if words := EXIT_CODES.get(code):
        return words
    if 128 < code < 128 + 65:
        return f"it was ended by signal {code - 128}"
    return "the program ended with an error of its own"
