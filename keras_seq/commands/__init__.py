"""What `keras-seq` can do, one module for each command.

A command is a module with a function `add_parser(commands)`. It adds its
arguments and names, by `set_defaults(run=...)`, the function that takes the
parsed arguments and returns an exit code. `keras_seq.cli` lists the modules.

Modules here import nothing heavy before they run: `keras-seq --help` answers
without TensorFlow.
"""
