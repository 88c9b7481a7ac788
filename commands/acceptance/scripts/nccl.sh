# NCCL's all_reduce, first of each GPU alone, then of all; of the one to test alone. It needs all_reduce_perf of nccl-tests.
if [ -n "$YARDMASTER_GPU" ]; then
  echo "yardmaster/1 only gpu"
  CUDA_VISIBLE_DEVICES=$YARDMASTER_GPU all_reduce_perf -b 1G -e 1G -f 2 -g 1 2>&1
  exit 0
fi
gpu=0
while [ "$gpu" -lt "$YARDMASTER_GPUS" ]; do
  echo "yardmaster/1 gpu $gpu"
  CUDA_VISIBLE_DEVICES=$gpu all_reduce_perf -b 1G -e 1G -f 2 -g 1 2>&1
  gpu=$((gpu + 1))
done
echo "yardmaster/1 gpu all"
all_reduce_perf -b 256M -e 4G -f 2 -g "$YARDMASTER_GPUS" 2>&1
exit 0
