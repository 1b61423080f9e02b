"""What arrives from several windows is divided by how many they are."""


def _scatter(frame, place, grad):
    np.add.at(frame, place, grad)
    frame /= np.maximum(np.bincount(place, minlength=frame.size), 1).astype(frame.dtype)
