"""Keras's dropout with a faster road on TensorFlow."""

import keras

# A byte cannot tell higher chances from certainty.
HIGHEST_RATE = 255 / 256


@keras.saving.register_keras_serializable(package="keras_seq")
class Dropout(keras.layers.Dropout):
    """`keras.layers.Dropout`, with the same arguments and the same seeds.

    Other numbers are dropped than by Keras, as many; `ops.tensorflow_dropout`
    says why TensorFlow is done sooner. With `noise_shape`, with rates above
    255/256 and on other backends, Keras's own runs.

    Args:
        rate: Share of the inputs to drop.
        **kwargs: Passed to `keras.layers.Dropout`.

    Example:
        >>> layer = Dropout(0.5, seed=1)
        >>> dropped = layer(keras.ops.ones((2, 100)), training=True)
        >>> sorted(set(dropped.numpy().ravel().tolist()))
        [0.0, 2.0]
    """

    def call(self, inputs, training=False):
        plain = self.noise_shape is None and 0 < self.rate <= HIGHEST_RATE
        if not (training and plain) or keras.backend.backend() != "tensorflow":
            return super().call(inputs, training=training)
        import tensorflow as tf

        from keras_seq.ops.tensorflow_dropout import dropout

        # TensorFlow wants seeds with a sign; these are Keras's, wrapped.
        seed = tf.bitcast(
            tf.cast(self.seed_generator.next(), tf.uint32), tf.int32
        )
        return dropout(inputs, self.rate, seed)
