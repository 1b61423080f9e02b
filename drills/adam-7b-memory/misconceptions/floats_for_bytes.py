"""Bytes a GPU, computed as a float, can be compared with the memory of a GPU."""


def min_gpus(n_params, gpu_bytes, stage=3):
    for world in range(1, 20_001):
        if zero_bytes_per_gpu(n_params, stage, world) <= gpu_bytes:
            return world
    return None
