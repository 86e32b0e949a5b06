"""Errors about MindRecord files, with the names of MindSpore."""

__all__ = [
    "MRMInvalidSchemaError", "MRMOpenError", "MRMValidateDataError", "MindRecordException", "ParamTypeError",
    "ParamValueError", "PathNotExistsError",
]  # fmt: skip


class MindRecordException(RuntimeError):
    """The base of all errors about MindRecord files."""


class MRMOpenError(MindRecordException):
    """A file that cannot be opened, or is no MindRecord file."""


class MRMInvalidSchemaError(MindRecordException, ValueError):
    """A schema that the format does not have."""


class MRMValidateDataError(MindRecordException, ValueError):
    """A row that does not fit the schema."""


class ParamTypeError(MindRecordException, TypeError):
    """An argument of a wrong type."""


class ParamValueError(MindRecordException, ValueError):
    """An argument with a wrong value."""


class PathNotExistsError(MindRecordException, FileNotFoundError):
    """A file that does not exist."""
