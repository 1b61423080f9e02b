"""The time of the products, each at the nearer limit, and of nothing else."""


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    return sum(
        max(operation.bytes(itemsize) / bytes_per_second, operation.flops / flops_per_second)
        for operation in operations(rows, width, hidden, plan)
        if operation.flops
    )
