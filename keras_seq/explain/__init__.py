"""Attention out of any model: found, traced, and drawn.

Nothing here loads Keras or TensorFlow before it is given a model: a server
that only draws what another process computed stays light.
"""

from keras_seq.explain.attention_html import attention_html as attention_html
from keras_seq.explain.attention_model import attention_model as attention_model
from keras_seq.explain.gradient_flow import GradientFlow as GradientFlow
from keras_seq.explain.gradient_flow import gradient_flow as gradient_flow
from keras_seq.explain.plot_attention import plot_attention as plot_attention
from keras_seq.explain.plot_gradient_flow import (
    plot_gradient_flow as plot_gradient_flow,
)
from keras_seq.explain.token_weights import token_weights as token_weights
from keras_seq.explain.trace_masks import trace_masks as trace_masks
