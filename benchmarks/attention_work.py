"""The work that attention layers race at: 512 wide, 8 heads, float32."""

WIDTH, HEADS = 512, 8


def keras_seq_attention(length, batch, backward, causal=True, window=None):
    """Our `MultiHeadAttention`, or `LocalAttention` if there is a window."""
    from keras_seq import layers

    if window is None:
        layer = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    else:
        layer = layers.LocalAttention(HEADS, WIDTH // HEADS, window)
    return _tensorflow_work(layer, length, batch, backward, causal)


def keras_attention(length, batch, backward, causal=True):
    """`keras.layers.MultiHeadAttention`."""
    from keras_seq import _startup  # keeps start-up notes off the screen

    _startup.load_backend()
    import keras

    layer = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
    return _tensorflow_work(layer, length, batch, backward, causal)


def projections_alone(length, batch, backward, causal=True):
    """The four matrix products that any such layer does, and nothing else.

    Not a contender but the bound: an attention between them that cost nothing.
    """
    from keras_seq import _startup  # keeps start-up notes off the screen

    _startup.load_backend()
    import keras

    class Projections(keras.layers.Layer):
        def build(self, query_shape, value_shape):
            self.kernels = [
                self.add_weight(shape=(WIDTH, WIDTH)) for _ in range(4)
            ]

        def call(self, query, value, use_causal_mask=True):
            rows = keras.ops.reshape(query, (-1, WIDTH))
            q, k, v = (rows @ kernel for kernel in self.kernels[:3])
            rows = (q + k + v) @ self.kernels[3]
            return keras.ops.reshape(rows, query.shape)

    return _tensorflow_work(Projections(), length, batch, backward, causal)


def _tensorflow_work(layer, length, batch, backward, causal):
    import tensorflow as tf

    x = tf.random.normal((batch, length, WIDTH))
    layer.build(x.shape, x.shape)

    def forward(x):
        return layer(x, x, use_causal_mask=causal)

    def forward_and_backward(x):
        variables = [v.value for v in layer.trainable_variables]
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(forward(x) ** 2)
        return tape.gradient(loss, [x, *variables])

    function = tf.function(forward_and_backward if backward else forward)
    function = function.get_concrete_function(tf.TensorSpec(x.shape))

    def work():
        for tensor in tf.nest.flatten(function(x)):
            tensor[..., :1].numpy()  # wait for it

    return work


def torch_attention(length, batch, backward, causal=True):
    """`torch.nn.MultiheadAttention`, without scores, batch first."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    x = torch.randn(batch, length, WIDTH, requires_grad=backward)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(length)
    options = {"attn_mask": mask, "is_causal": True} if causal else {}

    def work():
        layer.zero_grad(set_to_none=True)
        x.grad = None
        with torch.set_grad_enabled(backward):
            output, _ = layer(x, x, x, need_weights=False, **options)
            if backward:
                (output**2).sum().backward()

    return work
