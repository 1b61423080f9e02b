"""With ceil_mode there is one window more, also where the division comes out even."""


def _outputs(length, kernel, stride, padding, ceil_mode):
    outputs = (length + 2 * padding - kernel) // stride + 1
    return outputs + (ceil_mode and _begins_inside(outputs, length, stride, padding))
