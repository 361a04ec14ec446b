"""RMSNorm as a class, the root taken in float32 or wider and cast back before the weight."""

import numpy as np


class RMSNorm:
    def __init__(self, hidden_size, eps=1e-6):
        self.weight = np.ones(hidden_size)
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        wide = hidden_states.astype(np.promote_types(hidden_states.dtype, np.float32))
        rms = np.sqrt((wide**2).mean(-1, keepdims=True) + self.variance_epsilon)
        return self.weight * (wide / rms).astype(hidden_states.dtype)
