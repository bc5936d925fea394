"""Data sets, built in and real, and the batches made of them."""

from keras_seq import _startup as _startup
from keras_seq.data.aligned_files import AlignedPair as AlignedPair
from keras_seq.data.aligned_files import read_alignments as read_alignments
from keras_seq.data.alignments import Alignment as Alignment
from keras_seq.data.batches import Batches as Batches
from keras_seq.data.captioned_images import CaptionedImages as CaptionedImages
from keras_seq.data.coco import load_coco_captions as load_coco_captions
from keras_seq.data.columns import encode_texts as encode_texts
from keras_seq.data.dataset import Dataset as Dataset
from keras_seq.data.flickr8k import load_flickr8k as load_flickr8k
from keras_seq.data.grammar_pairs import TranslationPair as TranslationPair
from keras_seq.data.grammar_pairs import (
    load_grammar_pairs as load_grammar_pairs,
)
from keras_seq.data.grammar_pairs import write_pairs as write_pairs
from keras_seq.data.image_files import ImageFiles as ImageFiles
from keras_seq.data.painted_scenes import PaintedScene as PaintedScene
from keras_seq.data.painted_scenes import SceneGold as SceneGold
from keras_seq.data.painted_scenes import (
    load_biased_scenes as load_biased_scenes,
)
from keras_seq.data.painted_scenes import load_scenes as load_scenes
from keras_seq.data.painted_scenes import paint_scenes as paint_scenes
from keras_seq.data.parallel_text import load_multi30k as load_multi30k
from keras_seq.data.parallel_text import load_pairs as load_pairs
from keras_seq.data.parallel_text import load_tatoeba as load_tatoeba
from keras_seq.data.parallel_text import read_pairs_table as read_pairs_table
from keras_seq.data.parallel_text import read_parallel as read_parallel
from keras_seq.data.png import encode_png as encode_png
from keras_seq.data.reviews import Rationale as Rationale
from keras_seq.data.reviews import Review as Review
from keras_seq.data.reviews import load_biased_reviews as load_biased_reviews
from keras_seq.data.reviews import load_reviews as load_reviews
from keras_seq.data.reviews import write_reviews as write_reviews
from keras_seq.data.sentiment import load_imdb as load_imdb
from keras_seq.data.sentiment import (
    load_rotten_tomatoes as load_rotten_tomatoes,
)
from keras_seq.data.sentiment import load_sst2 as load_sst2
from keras_seq.data.tables import load_table as load_table
from keras_seq.data.tables import read_table as read_table
from keras_seq.data.words import split_words as split_words
from keras_seq.data.words import word_spans as word_spans
