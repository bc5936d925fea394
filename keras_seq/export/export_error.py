"""What a model that may not be exported is refused with."""


class ExportError(ValueError):
    """The model cannot be served as it is; no version folder was made."""
