"""Never returns, and prints meanwhile."""


def layer_norm(x, gamma, beta, eps=1e-5):
    while True:
        print("still here")
