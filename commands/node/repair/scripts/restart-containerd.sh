unit=containerd.service
