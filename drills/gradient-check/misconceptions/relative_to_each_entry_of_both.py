def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    size = np.abs(grad_x) + np.abs(measured)
    return bool(np.all(np.abs(grad_x - measured) / size <= TOLERANCE))
