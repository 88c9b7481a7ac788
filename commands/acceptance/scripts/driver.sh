# What the driver says of each GPU, or of the one to test. It needs nvidia-smi, which NVIDIA's container toolkit brings.
nvidia-smi ${YARDMASTER_GPU:+-i "$YARDMASTER_GPU"} --query-gpu=@QUERY@ --format=csv 2>&1
exit 0
