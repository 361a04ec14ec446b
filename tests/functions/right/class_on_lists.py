"""A class on plain lists."""


class LayerNorm:
    def __init__(self, features):
        self.gamma = [1.0] * features
        self.beta = [0.0] * features

    def __call__(self, x, eps=1e-5):
        mean = sum(x) / len(x)
        root = (sum((v - mean) ** 2 for v in x) / len(x) + eps) ** 0.5
        return [g * (v - mean) / root + b for v, g, b in zip(x, self.gamma, self.beta)]
