"""Training: the Model and its callbacks, mixed precision, files of Parameters."""

__all__: list[str] = []
