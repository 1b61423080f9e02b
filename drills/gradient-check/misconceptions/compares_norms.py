def agree(grad_x, measured):
    if np.shape(grad_x) != measured.shape:
        return False
    own, right = np.linalg.norm(grad_x), np.linalg.norm(measured)
    return abs(own - right) <= TOLERANCE * right
