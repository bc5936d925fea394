"""Losses, schedules and averages in float64 NumPy loops. Slow on purpose.

Nothing here may import keras or keras_seq: an oracle that shares code with
the thing it judges agrees with its bugs.
"""

import math

import numpy as np


def log_softmax(logits):
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())


def smoothed_target(label, classes, smoothing):
    """Szegedy et al. (2016), section 7: mix the label with the even spread."""
    target = np.full(classes, smoothing / classes)
    target[label] += 1 - smoothing
    return target


def crossentropy(label, logits, smoothing=0.0):
    """Of one label and one row of logits."""
    target = smoothed_target(label, len(logits), smoothing)
    return -(target * log_softmax(np.asarray(logits, "float64"))).sum()


def crossentropy_gradient(label, logits, smoothing=0.0):
    """Its derivative by the logits, p - q."""
    p = np.exp(log_softmax(np.asarray(logits, "float64")))
    return p - smoothed_target(label, len(logits), smoothing)


def masked_crossentropy(labels, logits, smoothing=0.0, pad=0, weights=None):
    """Sum over real tokens of weight x cross-entropy, and sum of weights."""
    total = weight = 0.0
    for b in range(labels.shape[0]):
        for t in range(labels.shape[1]):
            if labels[b, t] != pad:
                w = 1.0 if weights is None else weights[b, t]
                total += w * crossentropy(labels[b, t], logits[b, t], smoothing)
                weight += w
    return total, weight


def binary_crossentropy(label, logit, smoothing=0.0):
    p = 1 / (1 + math.exp(-logit))
    q = label * (1 - smoothing) + 0.5 * smoothing
    return -q * math.log(p) - (1 - q) * math.log(1 - p)


def token_accuracy(labels, logits, pad=0):
    right = [
        int(np.argmax(logits[b, t]) == labels[b, t])
        for b, t in np.ndindex(*labels.shape)
        if labels[b, t] != pad
    ]
    return sum(right) / len(right)


def noam(step, hidden_dim, warmup_steps):
    """Vaswani et al. (2017), equation 3."""
    return hidden_dim**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def warmup_cosine(step, peak, warmup_steps, total_steps, floor):
    if step < warmup_steps:
        return peak * step / warmup_steps
    done = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2


def warmup_linear(step, peak, warmup_steps, total_steps, floor):
    if step < warmup_steps:
        return peak * step / warmup_steps
    done = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return peak - (peak - floor) * done


def exponential_average(start, values, decay):
    """Average after each value; the decay warms up as (1 + n) / (10 + n)."""
    average, averages = np.asarray(start, "float64"), []
    for n, value in enumerate(values, start=1):
        d = min(decay, (1 + n) / (10 + n))
        average = d * average + (1 - d) * np.asarray(value, "float64")
        averages.append(average)
    return averages


def adam(weight, gradients, learning_rate, beta_1, beta_2, epsilon):
    """Kingma and Ba (2015), end of section 2: the efficient order."""
    m = v = np.zeros_like(weight)
    for t, g in enumerate(gradients, start=1):
        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g**2
        rate = learning_rate * math.sqrt(1 - beta_2**t) / (1 - beta_1**t)
        weight = weight - rate * m / (np.sqrt(v) + epsilon)
    return weight
