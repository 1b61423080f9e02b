"""Both Jacobians, one by columns and one by rows, with the eps, atol and rtol of torch.gradcheck."""

import numpy as np

EPS, ATOL, RTOL = 1e-6, 1e-5, 1e-3


def get_numerical_jacobian(fn, x):
    columns = []
    for place in np.ndindex(x.shape):
        outputs = []
        for delta in (EPS, -EPS):
            moved = x.copy()
            moved[place] += delta
            outputs.append(fn(moved).reshape(-1).copy())
        columns.append((outputs[0] - outputs[1]) / (2 * EPS))
    return np.stack(columns)


def get_analytical_jacobian(backward, x, output):
    jacobian = np.zeros((x.size, output.size))
    for i in range(output.size):
        grad_output = np.zeros_like(output)
        grad_output.flat[i] = 1.0
        jacobian[:, i] = backward(grad_output, x).reshape(-1)
    return jacobian


def gradient_is_right(forward, backward, x, rng):
    output = forward(x).copy()
    analytical = get_analytical_jacobian(backward, x, output)
    numerical = get_numerical_jacobian(forward, x)
    return np.allclose(analytical, numerical, rtol=RTOL, atol=ATOL)
