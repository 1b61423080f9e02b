"""Divides the FLOPs of the step by the rate of the card."""


def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    return step_cost(rows, width, hidden, itemsize, plan)["flops"] / flops_per_second
