"""Counts what kernels read, and not what they write."""


def elementwise(read, written, elements):
    return Operation("elementwise", read * elements, 0, 0)


def product(m, k, n):
    return Operation("matmul", m * k + k * n, 0, 2 * m * k * n)
