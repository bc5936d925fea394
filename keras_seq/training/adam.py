"""Adam in one kernel per variable."""

import keras


@keras.saving.register_keras_serializable(package="keras_seq")
class Adam(keras.optimizers.Adam):
    r"""`keras.optimizers.Adam`, updated by TensorFlow's fused kernel.

    $$ m \leftarrow \beta_1 m + (1-\beta_1) g, \quad
       v \leftarrow \beta_2 v + (1-\beta_2) g^2, \quad
       \theta \leftarrow \theta - \eta
       \frac{\sqrt{1-\beta_2^t}}{1-\beta_1^t} \frac{m}{\sqrt v + \epsilon} $$

    Keras writes this as about a dozen operations, each of which walks
    through memory; the kernel walks once. Arguments, variables and numbers
    (to rounding) are Keras's, so one can take over from the other. With
    `amsgrad`, and on other backends, Keras's own update runs.

    Example:
        >>> weight = keras.Variable([1.0, -1.0])
        >>> optimizer = Adam(learning_rate=0.1)
        >>> optimizer.apply([keras.ops.array([2.0, -3.0])], [weight])
        >>> [round(float(w), 3) for w in weight.numpy()]  # eta * sign(g)
        [0.9, -0.9]

    Reference: Kingma and Ba, 2015, <https://arxiv.org/abs/1412.6980>
    """

    def update_step(self, gradient, variable, learning_rate):
        if self.amsgrad or keras.backend.backend() != "tensorflow":
            return super().update_step(gradient, variable, learning_rate)
        import tensorflow as tf

        dtype = variable.dtype
        step = tf.cast(self.iterations.value + 1, dtype)
        beta_1 = tf.cast(self.beta_1, dtype)
        beta_2 = tf.cast(self.beta_2, dtype)
        index = self._get_variable_index(variable)
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=beta_1**step,
            beta2_power=beta_2**step,
            lr=tf.cast(learning_rate, dtype),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=tf.cast(self.epsilon, dtype),
            # Rows of an embedding arrive as IndexedSlices.
            grad=tf.cast(tf.convert_to_tensor(gradient), dtype),
        )
