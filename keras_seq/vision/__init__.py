"""Images to tensors, and the networks that see them."""

from keras_seq import _startup as _startup
from keras_seq.vision.backbone import backbone as backbone
from keras_seq.vision.efficientnet_lite0 import (
    EfficientNetLite0 as EfficientNetLite0,
)
from keras_seq.vision.feature_cache import CachedFeatures as CachedFeatures
from keras_seq.vision.feature_cache import cached_features as cached_features
from keras_seq.vision.image_bytes import check_image_bytes as check_image_bytes
from keras_seq.vision.image_bytes import decode_images as decode_images
from keras_seq.vision.read_images import read_images as read_images
from keras_seq.vision.small_cnn import small_cnn as small_cnn
from keras_seq.vision.torch_checkpoint import (
    read_torch_checkpoint as read_torch_checkpoint,
)
