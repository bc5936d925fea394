"""Losses, schedules, metrics, and the fit that every task shares."""

from keras_seq import _startup as _startup
from keras_seq.training.adam import Adam as Adam
from keras_seq.training.averaging import (
    ExponentialAverage as ExponentialAverage,
)
from keras_seq.training.averaging import LastEpochsAverage as LastEpochsAverage
from keras_seq.training.curves import draw_curves as draw_curves
from keras_seq.training.early_stopping import EarlyStopping as EarlyStopping
from keras_seq.training.fit import FitResult as FitResult
from keras_seq.training.fit import fit as fit
from keras_seq.training.hard_attention import (
    HardAttentionObjective as HardAttentionObjective,
)
from keras_seq.training.losses import BinaryCrossentropy as BinaryCrossentropy
from keras_seq.training.losses import ClassCrossentropy as ClassCrossentropy
from keras_seq.training.losses import MaskedCrossentropy as MaskedCrossentropy
from keras_seq.training.metrics import Perplexity as Perplexity
from keras_seq.training.metrics import TokenAccuracy as TokenAccuracy
from keras_seq.training.metrics import TokenCrossentropy as TokenCrossentropy
from keras_seq.training.objectives import Objective as Objective
from keras_seq.training.precision import precision as precision
from keras_seq.training.schedules import Noam as Noam
from keras_seq.training.schedules import WarmupCosine as WarmupCosine
from keras_seq.training.schedules import (
    WarmupInverseSquareRoot as WarmupInverseSquareRoot,
)
from keras_seq.training.schedules import WarmupLinear as WarmupLinear
from keras_seq.training.training_run import DivergedError as DivergedError
