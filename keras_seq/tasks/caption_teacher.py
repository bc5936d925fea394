"""The model that is trained: an eye, and a captioner that reads its signs."""

import keras
from keras import ops


class CaptionTeacher(keras.Model):
    """Pictures with several captions each to the logits of all captions.

    What the eye sees of a picture serves all of its captions.

    Shapes:
        `{"images": (B, ...), "target_ids": (B, K, T)}`
        -> logits `(B * K, T, V)`.

    Args:
        eye: A model from images to features `(B, h, w, D)`.
        writer: A `models.image_captioner.ImageCaptioner`.

    Example:
        >>> from keras_seq.models import show_attend_tell
        >>> from keras_seq.vision import small_cnn
        >>> teacher = CaptionTeacher(
        ...     small_cnn(widths=(4, 6)), show_attend_tell(9, 6, "test"))
        >>> logits = teacher({
        ...     "images": ops.ones((2, 28, 20, 3)),
        ...     "target_ids": ops.ones((2, 5, 3), "int32")})
        >>> tuple(logits.shape)
        (10, 3, 9)
    """

    def __init__(self, eye, writer, **kwargs):
        super().__init__(**kwargs)
        self.eye, self.writer = eye, writer

    def call(self, inputs, training=None):
        images, target_ids = inputs["images"], inputs["target_ids"]
        rows, captions, length = ops.shape(target_ids)
        grid = self.eye(ops.cast(images, "float32"), training=training)
        features = ops.reshape(grid, (rows, -1, grid.shape[-1]))
        features = ops.repeat(features, captions, axis=0)
        target_ids = ops.reshape(target_ids, (rows * captions, length))
        return self.writer(
            {"features": features, "target_ids": target_ids}, training=training
        )
