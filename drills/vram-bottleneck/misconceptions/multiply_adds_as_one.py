"""Counts a multiplication and an addition as one operation."""


def product(m, k, n):
    return Operation("matmul", m * k + k * n, m * n, m * k * n)
