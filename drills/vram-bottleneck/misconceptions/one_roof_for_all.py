"""Compares the bytes of the whole step with its FLOPs once."""


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    cost = step_cost(rows, width, hidden, itemsize, plan)
    moved = cost["matmul_bytes"] + cost["elementwise_bytes"]
    return max(cost["flops"] / flops_per_second, moved / bytes_per_second)
