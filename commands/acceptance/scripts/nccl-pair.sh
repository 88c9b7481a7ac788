# An all_reduce over the GPUs of two nodes. It needs python3 with torch, and that pods reach the first node's pod.
exec python3 - <<'PYTHON'
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

GPUS, NODE = int(os.environ["YARDMASTER_GPUS"]), int(os.environ["YARDMASTER_RANK"])
SIZE, ROUNDS = 1 << 30, 20


def rank(gpu):
    world = 2 * GPUS
    address = f"tcp://{os.environ['YARDMASTER_HEAD']}:29500"
    dist.init_process_group("nccl", init_method=address, rank=NODE * GPUS + gpu, world_size=world)
    torch.cuda.set_device(gpu)
    data = torch.ones(SIZE // 4, device="cuda")
    for _ in range(5):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(ROUNDS):
        dist.all_reduce(data)
    torch.cuda.synchronize()
    took = (time.perf_counter() - began) / ROUNDS
    if NODE == 0 and gpu == 0:
        bandwidth = SIZE / took / 1e9 * 2 * (world - 1) / world
        print(f"yardmaster/1 nccl-pair pass {bandwidth:.2f} GB/s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    workers = [mp.get_context("fork").Process(target=rank, args=(gpu,)) for gpu in range(GPUS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        print("yardmaster/1 nccl-pair fail next=look -- a rank ended with an error", flush=True)
    elif NODE:
        print("yardmaster/1 nccl-pair pass", flush=True)
    print("yardmaster/1 end", flush=True)
PYTHON
