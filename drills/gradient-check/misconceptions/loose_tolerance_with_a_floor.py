def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return np.allclose(grad_x, measured, rtol=1e-2, atol=1e-6)
