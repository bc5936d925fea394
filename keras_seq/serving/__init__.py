"""SavedModels behind HTTP, with TensorFlow Serving's REST contract.

`keras-seq serve` starts a server; `Client` asks it, or TensorFlow Serving.
Importing this loads neither TensorFlow nor a web framework.
"""

from keras_seq.serving.client import Client as Client
from keras_seq.serving.client import ClientError as ClientError
