# What the driver says of each GPU. It needs nvidia-smi, which NVIDIA's container toolkit brings.
nvidia-smi --query-gpu=@QUERY@ --format=csv 2>&1
exit 0
