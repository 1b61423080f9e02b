def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return np.abs(grad_x - measured).max() < TOLERANCE * np.abs(measured).max()
