"""Attention out of any model: found, traced, and drawn.

Nothing here loads Keras or TensorFlow before it is given a model: a server
that only draws what another process computed stays light.
"""

from keras_seq.explain.activation_maps import ActivationMaps as ActivationMaps
from keras_seq.explain.alignment import (
    alignment_error_rate as alignment_error_rate,
)
from keras_seq.explain.alignment import hard_alignment as hard_alignment
from keras_seq.explain.alignment import merge_subwords as merge_subwords
from keras_seq.explain.attention_html import attention_html as attention_html
from keras_seq.explain.attention_model import attention_model as attention_model
from keras_seq.explain.captioned_attention_html import (
    captioned_attention_html as captioned_attention_html,
)
from keras_seq.explain.class_activation_map import (
    class_activation_map as class_activation_map,
)
from keras_seq.explain.deletion import DeletionScores as DeletionScores
from keras_seq.explain.deletion import comprehensiveness as comprehensiveness
from keras_seq.explain.deletion import deletion_scores as deletion_scores
from keras_seq.explain.deletion import sufficiency as sufficiency
from keras_seq.explain.explain_texts import explain_texts as explain_texts
from keras_seq.explain.grad_cam import grad_cam as grad_cam
from keras_seq.explain.gradient_flow import GradientFlow as GradientFlow
from keras_seq.explain.gradient_flow import gradient_flow as gradient_flow
from keras_seq.explain.plot_activation_maps import (
    plot_activation_maps as plot_activation_maps,
)
from keras_seq.explain.plot_attention import plot_attention as plot_attention
from keras_seq.explain.plot_captioned_attention import (
    plot_captioned_attention as plot_captioned_attention,
)
from keras_seq.explain.plot_gradient_flow import (
    plot_gradient_flow as plot_gradient_flow,
)
from keras_seq.explain.plot_words import plot_words as plot_words
from keras_seq.explain.pointing import PointingScores as PointingScores
from keras_seq.explain.pointing import pointing_accuracy as pointing_accuracy
from keras_seq.explain.rationales import RationaleScores as RationaleScores
from keras_seq.explain.rationales import precision_at_k as precision_at_k
from keras_seq.explain.rationales import rationale_auc as rationale_auc
from keras_seq.explain.rationales import score_rationales as score_rationales
from keras_seq.explain.rationales import weight_share as weight_share
from keras_seq.explain.reasons import ReasonsVerdict as ReasonsVerdict
from keras_seq.explain.reasons import examine_reasons as examine_reasons
from keras_seq.explain.reasons import judge_reasons as judge_reasons
from keras_seq.explain.token_weights import token_weights as token_weights
from keras_seq.explain.trace_masks import trace_masks as trace_masks
from keras_seq.explain.word_weights import WeightedWords as WeightedWords
from keras_seq.explain.word_weights import word_weights as word_weights
from keras_seq.explain.words_ansi import words_ansi as words_ansi
from keras_seq.explain.words_html import words_html as words_html
