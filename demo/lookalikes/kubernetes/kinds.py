"""The table of the kinds that the look-alike serves; custom resources add rows at run time."""

from collections.abc import Iterator
from dataclasses import dataclass

_ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One row: the names of a resource, and which of the common behaviours it has."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    subresources: frozenset[str] = frozenset()
    short: tuple[str, ...] = ()
    counts: bool = False  # metadata.generation follows the spec
    custom: bool = False
    returns_deleted: bool = False  # DELETE answers with the object, not with a Status
    verbs: tuple[str, ...] = _ALL_VERBS
    scale_paths: tuple[str, str, str] = ("", "", "")  # of a custom resource: spec, status, selector
    served_as: tuple[str, ...] = ()  # other versions under which the same objects are served

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def listing(self) -> str:
        """The key of its objects in the store, the same for all versions."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def keeps_status(self) -> bool:
        """Whether a write to the object itself leaves the status unchanged."""
        return "status" in self.subresources


def _rows(group: str, version: str, text: str) -> Iterator[Kind]:
    """Parse rows of `plural Kind scope flags subresources short`, one per line, `-` for none."""
    for line in text.strip().splitlines():
        plural, kind, scope, flags, subresources, short = line.split()
        yield Kind(
            group=group,
            version=version,
            plural=plural,
            kind=kind,
            namespaced=scope == "ns",
            subresources=frozenset(() if subresources == "-" else subresources.split(",")),
            short=() if short == "-" else tuple(short.split(",")),
            counts="g" in flags,
            returns_deleted="r" in flags,
        )


# Flags: g = has metadata.generation, r = DELETE returns the object. From the discovery of a 1.36 server.
BUILT_IN: tuple[Kind, ...] = (
    *_rows(
        "",
        "v1",
        """
        configmaps ConfigMap ns - - cm
        endpoints Endpoints ns - - ep
        events Event ns - - ev
        limitranges LimitRange ns - - limits
        namespaces Namespace cluster - status,finalize ns
        nodes Node cluster - status no
        persistentvolumeclaims PersistentVolumeClaim ns r status pvc
        persistentvolumes PersistentVolume cluster r status pv
        pods Pod ns gr status,log,exec,eviction,binding,resize,ephemeralcontainers po
        replicationcontrollers ReplicationController ns g status,scale rc
        resourcequotas ResourceQuota ns r status quota
        secrets Secret ns - - -
        serviceaccounts ServiceAccount ns r - sa
        services Service ns r status svc
        """,
    ),
    *_rows(
        "apps",
        "v1",
        """
        controllerrevisions ControllerRevision ns - - -
        daemonsets DaemonSet ns g status ds
        deployments Deployment ns g status,scale deploy
        replicasets ReplicaSet ns g status,scale rs
        statefulsets StatefulSet ns g status,scale sts
        """,
    ),
    *_rows("batch", "v1", "cronjobs CronJob ns g status cj\njobs Job ns g status -"),
    *_rows("autoscaling", "v2", "horizontalpodautoscalers HorizontalPodAutoscaler ns - status hpa"),
    *_rows("policy", "v1", "poddisruptionbudgets PodDisruptionBudget ns g status pdb"),
    *_rows("coordination.k8s.io", "v1", "leases Lease ns - - -"),
    *_rows("discovery.k8s.io", "v1", "endpointslices EndpointSlice ns g - -"),
    *_rows(
        "networking.k8s.io",
        "v1",
        "ingresses Ingress ns g status ing\nnetworkpolicies NetworkPolicy ns g - netpol",
    ),
    *_rows(
        "rbac.authorization.k8s.io",
        "v1",
        """
        clusterrolebindings ClusterRoleBinding cluster - - -
        clusterroles ClusterRole cluster - - -
        rolebindings RoleBinding ns - - -
        roles Role ns - - -
        """,
    ),
    *_rows(
        "storage.k8s.io",
        "v1",
        "storageclasses StorageClass cluster r - sc\nvolumeattachments VolumeAttachment cluster r status -\n"
        "csidrivers CSIDriver cluster r - -\ncsinodes CSINode cluster r - -",
    ),
    *_rows(
        "resource.k8s.io",
        "v1",
        """
        deviceclasses DeviceClass cluster gr - -
        resourceclaims ResourceClaim ns r status -
        resourceclaimtemplates ResourceClaimTemplate ns r - -
        resourceslices ResourceSlice cluster gr - -
        """,
    ),
    # A 1.36 server has it with the feature gate DRADeviceTaintRules only.
    *_rows("resource.k8s.io", "v1beta2", "devicetaintrules DeviceTaintRule cluster gr status -"),
    *_rows("scheduling.k8s.io", "v1", "priorityclasses PriorityClass cluster g - pc"),
    *_rows("node.k8s.io", "v1", "runtimeclasses RuntimeClass cluster - - -"),
    *_rows(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions CustomResourceDefinition cluster g status crd,crds",
    ),
)


class Kinds:
    """The rows that are served, by address (group, version, plural) or by `apiVersion` and `kind`."""

    def __init__(self) -> None:
        self._by_address: dict[tuple[str, str, str], Kind] = {}
        self._by_type: dict[tuple[str, str], Kind] = {}
        for kind in BUILT_IN:
            self.add(kind)

    def add(self, kind: Kind) -> None:
        """Serve this kind under all its versions, and replace a row of the same address."""
        for version in (kind.version, *kind.served_as):
            api_version = f"{kind.group}/{version}" if kind.group else version
            self._by_address[kind.group, version, kind.plural] = kind
            self._by_type[api_version, kind.kind] = kind

    def remove(self, group: str, plural: str) -> None:
        """Stop serving this kind."""
        self._by_address = {k: v for k, v in self._by_address.items() if (k[0], k[2]) != (group, plural)}
        self._by_type = {k: v for k, v in self._by_type.items() if (v.group, v.plural) != (group, plural)}

    def at(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind at an address of the API, or None."""
        return self._by_address.get((group, version, plural))

    def of(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind that an object's `apiVersion` and `kind` name, or None."""
        return self._by_type.get((api_version, kind))

    def named(self, name: str) -> Kind:
        """Return the kind for `pods`, `Pod`, `po` or `jobs.batch`. Raises KeyError for an unknown name."""
        for kind in self._by_address.values():
            if name in (kind.plural, kind.kind, kind.listing, *kind.short):
                return kind
        raise KeyError(f"no kind is called {name!r}; use a plural, a kind, a short name or plural.group")

    def __iter__(self) -> Iterator[Kind]:
        return iter(dict.fromkeys(self._by_address.values()))

    def groups(self) -> dict[str, dict[str, list[Kind]]]:
        """Return group -> version -> kinds, for discovery."""
        found: dict[str, dict[str, list[Kind]]] = {}
        for (group, version, _), kind in self._by_address.items():
            found.setdefault(group, {}).setdefault(version, []).append(kind)
        return found
