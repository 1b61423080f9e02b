def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    return not (np.abs(grad_x - measured) > TOLERANCE * np.abs(measured).max()).any()
