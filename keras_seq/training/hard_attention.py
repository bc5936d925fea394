"""Learning where to look from how well it went (Xu et al., 2015)."""

import tensorflow as tf

from keras_seq.ops.hard_attention import choice_entropy, choice_log_probability
from keras_seq.training.losses import MaskedCrossentropy
from keras_seq.training.objectives import Objective


class HardAttentionObjective(Objective):
    r"""Cross-entropy, and REINFORCE for the places that were drawn.

    What a drawn place $s$ did for the caption $y$ is known only afterwards,
    and no gradient passes through the draw. Section 4.1 of Xu et al. (2015)
    therefore follows

    $$ \frac{\partial \log p(y \mid s)}{\partial W}
       + \lambda_r (\log p(y \mid s) - b)
         \frac{\partial \log p(s)}{\partial W}
       + \lambda_e \frac{\partial H[s]}{\partial W}, $$

    where $b \leftarrow 0.9\,b + 0.1 \log p(y \mid s)$ is a moving average over
    batches, which makes the estimate calmer and leaves its mean as it is. It
    begins with the mean of the first batch: from zero, all places that were
    drawn in the first dozens of batches would look bad.

    In evaluation nothing is drawn and the loss is the cross-entropy alone.
    In training it is a surrogate, whose gradient is the one above; its value
    is reported without the terms of the draw, which have no meaning as a
    number. Losses of layers are added.

    Batches are `({"target_ids": ..., ...}, labels)`; a label of 0 is padding.

    Args:
        draw: `draw(model, inputs, training)` that returns logits
            `(B, T, V)`, weights and choices `(B, T, N)`: give it
            `models.draw_locations`.
        reward_weight: $\lambda_r$.
        entropy_weight: $\lambda_e$.
        baseline_decay: How much of $b$ stays at each update.
        loss: A loss with `total_and_weight`; by default
            `MaskedCrossentropy()`.
        metrics: As in `Objective`.
        metrics_in_training: As in `Objective`.

    Reference: <https://arxiv.org/abs/1502.03044>
    """

    def __init__(
        self,
        draw,
        reward_weight=1.0,
        entropy_weight=0.01,
        baseline_decay=0.9,
        loss=None,
        metrics=(),
        metrics_in_training=True,
    ):
        super().__init__(metrics, metrics_in_training)
        if not 0 <= baseline_decay < 1:
            raise ValueError(
                "`baseline_decay` must be at least 0 and below 1. "
                f"Received: {baseline_decay}"
            )
        self.draw = draw
        self.reward_weight = reward_weight
        self.entropy_weight = entropy_weight
        self.baseline_decay = baseline_decay
        self.loss = MaskedCrossentropy() if loss is None else loss
        self.baseline = tf.Variable(0.0, trainable=False)

    @property
    def variables(self):
        return [*super().variables, self.baseline]

    def __call__(self, model, batch, training):
        x, labels = batch[:2]
        logits, weights, choices = self.draw(model, x, training)
        if self.metrics_in_training or not training:
            for metric in self.metrics:
                metric.update_state(labels, logits)
        total, tokens = self.loss.total_and_weight(labels, logits, None)
        if model.losses:
            total += tokens * tf.add_n(model.losses)
        if training:
            total += self._of_the_draw(labels, logits, weights, choices)
        return total, tokens

    def _of_the_draw(self, labels, logits, weights, choices):
        """Return a zero whose gradient is that of the last two terms."""
        real = tf.cast(labels != 0, tf.float32)
        log_p = -real * tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels, tf.cast(logits, tf.float32)
        )
        rewards = tf.stop_gradient(tf.reduce_sum(log_p, axis=1))  # (B,)
        scores = real * choice_log_probability(weights, choices)
        entropy = real * choice_entropy(weights)
        mean = tf.reduce_mean(rewards)
        # No caption is certain: a zero says that this is the first batch.
        baseline = tf.where(self.baseline == 0.0, mean, self.baseline)
        advantage = rewards - baseline
        gain = self.reward_weight * tf.reduce_sum(
            advantage * tf.reduce_sum(scores, axis=1)
        ) + self.entropy_weight * tf.reduce_sum(entropy)
        kept = self.baseline_decay * baseline
        self.baseline.assign(kept + (1 - self.baseline_decay) * mean)
        return tf.stop_gradient(gain) - gain
