"""The work that recurrent layers race at: all of a training step but Adam.

Batch 64, length 200, inputs 128 wide, 128 units in each direction, outputs at
every step; forward, backward to the inputs and the weights, float32.
"""

BATCH, LENGTH, WIDTH, UNITS = 64, 200, 128, 128


def keras_seq_lstm(jit_compile):
    """Our `Bidirectional(LSTM)`."""
    from keras_seq import layers

    layer = layers.Bidirectional(layers.LSTM(UNITS, return_sequences=True))
    return _tensorflow_work(layer, jit_compile)


def keras_lstm(jit_compile):
    """`keras.layers.Bidirectional(keras.layers.LSTM)`."""
    from keras_seq import _startup  # keeps start-up notes off the screen

    _startup.load_backend()
    import keras

    layer = keras.layers.LSTM(UNITS, return_sequences=True)
    return _tensorflow_work(keras.layers.Bidirectional(layer), jit_compile)


def _tensorflow_work(layer, jit_compile):
    import tensorflow as tf

    x = tf.random.normal((BATCH, LENGTH, WIDTH))
    layer.build(x.shape)

    @tf.function(jit_compile=jit_compile)
    def train_step(x):
        variables = [v.value for v in layer.trainable_variables]
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(layer(x, training=True) ** 2)
        return tape.gradient(loss, [x, *variables])

    def work():
        for tensor in train_step(x):
            tensor[..., :1].numpy()  # wait for it

    return work


def torch_lstm(jit_compile):
    """`torch.nn.LSTM`, which has one way to run."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.LSTM(WIDTH, UNITS, batch_first=True, bidirectional=True)
    x = torch.randn(BATCH, LENGTH, WIDTH, requires_grad=True)

    def work():
        layer.zero_grad(set_to_none=True)
        x.grad = None
        output, _ = layer(x)
        (output**2).sum().backward()

    return work
