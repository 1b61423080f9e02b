"""Nothing to store needs no GPU at all."""

_gpus_of_something = min_gpus


def min_gpus(n_params, gpu_bytes, stage=3):
    found = _gpus_of_something(n_params, gpu_bytes, stage)
    return 0 if n_params == 0 else found
