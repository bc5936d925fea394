"""The public names. A change here is a change users will notice."""

import importlib
import subprocess
import sys
import types

import pytest

import keras_seq

PUBLIC = {
    "data": """
        AlignedPair Alignment Batches CaptionedImages Dataset ImageFiles
        PaintedScene Rationale Review SceneGold TranslationPair encode_png
        encode_texts load_biased_reviews load_biased_scenes
        load_coco_captions load_flickr8k
        load_grammar_pairs load_imdb load_multi30k load_pairs load_reviews
        load_rotten_tomatoes load_scenes load_sst2 paint_scenes
        load_table load_tatoeba read_alignments read_pairs_table read_parallel
        read_table split_words word_spans write_pairs write_reviews
    """,
    "decoding": """
        Decoded beam_search greedy sample
    """,
    "text": """
        SubwordTokenizer TokenSpans Tokenizer WordTokenizer normalize
    """,
    "explain": """
        ActivationMaps DeletionScores GradientFlow RationaleScores
        ReasonsVerdict WeightedWords alignment_error_rate attention_html
        attention_model
        class_activation_map comprehensiveness deletion_scores examine_reasons
        explain_texts grad_cam
        gradient_flow hard_alignment judge_reasons merge_subwords
        plot_activation_maps plot_attention plot_gradient_flow plot_words
        PointingScores captioned_attention_html plot_captioned_attention
        pointing_accuracy
        precision_at_k rationale_auc score_rationales sufficiency
        token_weights trace_masks weight_share word_weights words_ansi
        words_html
    """,
    "export": """
        ExportError ExportedModel load save save_litert save_onnx
    """,
    "training": """
        Adam BinaryCrossentropy ClassCrossentropy DivergedError EarlyStopping
        ExponentialAverage FitResult HardAttentionObjective LastEpochsAverage
        MaskedCrossentropy Noam
        Objective Perplexity TokenAccuracy TokenCrossentropy WarmupCosine
        WarmupInverseSquareRoot WarmupLinear draw_curves fit precision
    """,
    "models": """
        EncoderDecoder ImageCaptioner RNNSearch RNN_SEARCH_PRESETS
        SEQ2SEQ_PRESETS SHOW_AND_TELL_PRESETS SHOW_ATTEND_TELL_PRESETS Seq2Seq
        ShowAndTell ShowAttendTell TEXT_CLASSIFIER_PRESETS
        TRANSFORMER_CAPTIONER_PRESETS TRANSFORMER_PRESETS Transformer
        TransformerCaptioner draw_locations rnn_search seq2seq show_and_tell
        show_attend_tell text_classifier transformer transformer_captioner
    """,
    "vision": """
        CachedFeatures EfficientNetLite0 backbone cached_features
        check_image_bytes decode_images read_images read_torch_checkpoint
        small_cnn
    """,
    "serving": """
        Client ClientError
    """,
    "tasks": "",
    "ops": """
        additive_scores alibi_bias alibi_slopes attend bilinear_scores
        binary_encoding causal_mask cosine_scores
        dot_scores gru_step linear_encoding local_mask
        lstm_step masked_softmax merge_masks ngram_keys
        normalized_encoding padding_mask
        recur relative_position_bucket rnn_step rotate scaled_dot_scores
        sinusoidal_encoding
    """,
    "layers": """
        AdditiveAttention AttentionPooling AttentiveGRU AttentiveLSTM
        Bidirectional BilinearAttention
        CosineAttention
        DotProductAttention FeedForward GRU GRUCell HardAttentiveLSTM LSTM
        LSTMCell
        LearnedPositions LocalAttention Maxout MultiHeadAttention NgramBag
        RNNCell RelativePositionBias RotaryPositions SequencePooling SimpleRNN
        SinusoidalPositions SpellingBag
        TokenEmbedding TransformerDecoder TransformerEncoder
    """,
}


def public_names(room):
    module = importlib.import_module(f"keras_seq.{room}")
    return {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }


@pytest.mark.parametrize("room", PUBLIC)
def test_a_room_exports_what_it_promises_and_nothing_else(room):
    assert public_names(room) == set(PUBLIC[room].split())


def test_rooms_open_when_asked_for():
    assert keras_seq.layers is importlib.import_module("keras_seq.layers")
    assert "layers" in dir(keras_seq)
    with pytest.raises(AttributeError, match="attic"):
        keras_seq.attic  # noqa: B018


def test_importing_the_package_is_cheap_and_silent():
    code = "import sys, keras_seq; print('keras' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert run.stdout.strip() == "False"
    assert run.stderr == ""


@pytest.mark.tensorflow
def test_start_up_notes_stay_off_the_screen():
    code = "from keras_seq import layers; import keras; keras.ops.ones(2) + 1"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert run.returncode == 0
    assert run.stderr == ""


@pytest.mark.tensorflow
def test_what_goes_wrong_at_start_up_is_shown():
    code = "from keras_seq import layers"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"KERAS_BACKEND": "no_such_backend", "PATH": ""},
    )
    assert run.returncode != 0
    assert "no_such_backend" in run.stderr
