"""A function of jax arrays; jax answers in float32 unless told otherwise."""

import jax.numpy as jnp


def layer_norm(x, scale, bias, eps=1e-5):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    return (x - mean) / jnp.sqrt(jnp.var(x, axis=-1, keepdims=True) + eps) * scale + bias
