"""Models that stand alone: written whole, and checked before they count.

`save` writes a version folder that TensorFlow Serving, or any process with
TensorFlow, can load without keras_seq; `load` opens one. `save_onnx` and
`save_litert` write encoders and classifiers for other runtimes.
"""

from keras_seq import _startup as _startup
from keras_seq.export.export_error import ExportError as ExportError
from keras_seq.export.load import ExportedModel as ExportedModel
from keras_seq.export.load import load as load
from keras_seq.export.save import save as save
from keras_seq.export.save_litert import save_litert as save_litert
from keras_seq.export.save_onnx import save_onnx as save_onnx
