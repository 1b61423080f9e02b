def agree(grad_x, measured):
    return np.abs(grad_x - measured).max() <= TOLERANCE * np.abs(measured).max()
