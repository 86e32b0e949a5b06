"""Errors about MindRecord files, with the names of MindSpore."""

__all__ = [
    "MRMInvalidSchemaError", "MRMOpenError", "MRMValidateDataError", "MindRecordException", "ParamTypeError",
    "ParamValueError", "PathNotExistsError",
]  # fmt: skip


class MindRecordException(RuntimeError):
    """Base class of all errors about MindRecord files."""


class MRMOpenError(MindRecordException):
    """A file cannot be opened, or is not a MindRecord file."""


class MRMInvalidSchemaError(MindRecordException, ValueError):
    """The MindRecord format does not support a schema."""


class MRMValidateDataError(MindRecordException, ValueError):
    """A row does not match the schema."""


class ParamTypeError(MindRecordException, TypeError):
    """An argument has an unsupported type."""


class ParamValueError(MindRecordException, ValueError):
    """An argument has an invalid value."""


class PathNotExistsError(MindRecordException, FileNotFoundError):
    """A file does not exist."""
