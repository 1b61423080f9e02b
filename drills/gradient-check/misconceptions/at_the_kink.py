def off_the_kinks(x):
    return x
