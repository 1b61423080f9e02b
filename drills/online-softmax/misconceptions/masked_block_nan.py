"""Minus infinity is taken off minus infinity."""


def _floor(top):
    return top
