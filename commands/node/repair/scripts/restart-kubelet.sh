unit=kubelet.service
