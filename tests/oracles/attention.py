"""Attention, written from the papers in float64 NumPy loops. Slow on purpose.

Nothing here may import keras or keras_seq: an oracle that shares code with
the thing it judges agrees with its bugs.
"""

import numpy as np

from tests.oracles.positions import rotated


def softmax(scores, visible):
    """Softmax of a vector over its visible entries; zeros if there are none."""
    out = np.zeros(len(scores))
    if visible.any():
        e = np.exp(scores[visible] - scores[visible].max())
        out[visible] = e / e.sum()
    return out


# --- what a query sees ------------------------------------------------------


def sight(
    batch,
    num_queries,
    num_keys,
    num_heads=1,
    query_mask=None,
    key_mask=None,
    attention_mask=None,
    causal=False,
    window=None,
):
    """`(B, H, T, S)`, one pair at a time; the last query is at the last key."""
    seen = np.ones((batch, num_heads, num_queries, num_keys), bool)
    if attention_mask is not None:
        mask = np.asarray(attention_mask, bool)
        if mask.ndim == 3:
            mask = mask[:, None]
        seen &= np.broadcast_to(mask, seen.shape)
    for b, h, t, s in np.ndindex(*seen.shape):
        behind = (num_keys - num_queries + t) - s
        if causal and behind < 0:
            seen[b, h, t, s] = False
        if window is not None and not -window < behind < window:
            seen[b, h, t, s] = False
        if query_mask is not None and not query_mask[b, t]:
            seen[b, h, t, s] = False
        if key_mask is not None and not key_mask[b, s]:
            seen[b, h, t, s] = False
    return seen


# --- how well a query matches a key -----------------------------------------


def dot(q, k):
    """Luong et al. (2015), section 3.1."""
    return sum(a * b for a, b in zip(q, k, strict=True))


def scaled_dot(q, k):
    """Vaswani et al. (2017), equation 1."""
    return dot(q, k) / np.sqrt(len(q))


def cosine(q, k):
    """Graves et al. (2014), equation 6; nothing is like a zero vector."""
    size = np.linalg.norm(q) * np.linalg.norm(k)
    return dot(q, k) / size if size else 0.0


def bilinear(q, k, w):
    """Luong et al. (2015), section 3.1, "general"."""
    return q @ w @ k


def additive(q, k, w, u, v):
    """Bahdanau et al. (2015), section A.1.2."""
    return v @ np.tanh(q @ w + k @ u)


# --- attention --------------------------------------------------------------


def attention(score, query, value, key, seen):
    """Weights by softmax of `score(q, k)`, and the weighted sum of values.

    Args:
        score: A function of two vectors.
        query: `(B, T, D)`.
        value: `(B, S, E)`.
        key: `(B, S, K)`.
        seen: `(B, T, S)`.
    """
    query, value, key = (np.asarray(x, "float64") for x in (query, value, key))
    weights = np.zeros(seen.shape)
    context = np.zeros((*seen.shape[:2], value.shape[-1]))
    for b, t in np.ndindex(*seen.shape[:2]):
        scores = np.array([score(query[b, t], k) for k in key[b]])
        weights[b, t] = softmax(scores, seen[b, t])
        for s in np.flatnonzero(seen[b, t]):
            context[b, t] += weights[b, t, s] * value[b, s]
    return context, weights


def multi_head_attention(
    query, value, key, projections, seen, bias=None, rotary=None
):
    """Vaswani et al. (2017), section 3.2.2, one head at a time.

    Args:
        query: `(B, T, D)`.
        value: `(B, S, D)`.
        key: `(B, S, D)`.
        projections: `{"query": (kernel (D, H, d), bias (H, d)), "key", "value",
            "output": (kernel (H, e, O), bias (O,))}`, perhaps "gate". Keys and
            values of fewer heads are shared by groups of neighbouring heads.
        seen: `(B, H, T, S)`.
        bias: `(B, H, T, S)`, added to the scores.
        rotary: The longest wavelength, to turn queries and keys by place.
    """

    def head(x, name, h):
        kernel, offset = projections[name]
        return np.asarray(x, "float64") @ kernel[:, h] + offset[h]

    batch, num_heads, num_queries, num_keys = seen.shape
    groups = num_heads // projections["key"][0].shape[1]
    kernel, offset = projections["output"]
    output = np.zeros((batch, num_queries, *kernel.shape[2:])) + offset
    all_weights = np.zeros(seen.shape)
    for h in range(num_heads):
        q = head(query, "query", h)
        k = head(key, "key", h // groups)
        v = head(value, "value", h // groups)
        if rotary is not None:
            q = turn(q, num_keys - num_queries, rotary)
            k = turn(k, 0, rotary)
        for b, t in np.ndindex(batch, num_queries):
            scores = np.array([scaled_dot(q[b, t], x) for x in k[b]])
            if bias is not None:
                scores = scores + bias[b, h, t]
            weights = softmax(scores, seen[b, h, t])
            context = sum(
                (weights[s] * v[b, s] for s in np.flatnonzero(weights)),
                start=np.zeros(v.shape[-1]),
            )
            if "gate" in projections:
                gate = head(query[b, t], "gate", h)
                context = context / (1 + np.exp(-gate))
            all_weights[b, h, t] = weights
            output[b, t] += np.tensordot(context, kernel[h], axes=1)
    return output, all_weights


def turn(x, start, max_wavelength):
    """Turn `(B, T, D)` by places that begin at `start`."""
    return np.stack(
        [
            [rotated(v, start + t, max_wavelength) for t, v in enumerate(row)]
            for row in x
        ]
    )


def local_attention(query, key, value, window, key_mask=None, causal=False):
    """Vaswani et al. (2017), section 4: a neighbourhood of each step, alone.

    Args:
        query: `(B, H, T, D)`, already scaled.
        key: `(B, H, T, D)`.
        value: `(B, H, T, E)`.
        window: Steps less than this far away are neighbours.
        key_mask: `(B, T)`.
        causal: Whether later steps are no neighbours.
    """
    batch, heads, length, _ = query.shape
    output = np.zeros((batch, heads, length, value.shape[-1]))
    for b, h, t in np.ndindex(batch, heads, length):
        last = t if causal else t + window - 1
        near = [
            s
            for s in range(max(t - window + 1, 0), min(last + 1, length))
            if key_mask is None or key_mask[b, s]
        ]
        scores = np.array([dot(query[b, h, t], key[b, h, s]) for s in near])
        weights = softmax(scores, np.ones(len(near), bool))
        for weight, s in zip(weights, near, strict=True):
            output[b, h, t] += weight * value[b, h, s].astype("float64")
    return output
