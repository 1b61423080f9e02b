"""A kind of check and a generator of inputs for drill."""
