"""MindRecord files, version 3, are written by FileWriter and read by FileReader.

``dataset.MindDataset`` reads them as a data set. The files are those of MindSpore, in both directions.
"""

from mindgrad._base.missing import explain_room as _explain_room
from mindgrad.mindrecord import conversion, errors, filereader, filewriter
from mindgrad.mindrecord.conversion import *  # noqa: F403
from mindgrad.mindrecord.errors import *  # noqa: F403
from mindgrad.mindrecord.filereader import FileReader
from mindgrad.mindrecord.filewriter import FileWriter

#: answer of methods of FileWriter that succeed
SUCCESS = "SUCCESS"

__all__ = ["SUCCESS", "FileReader", "FileWriter", "filereader", "filewriter"]
__all__ += conversion.__all__ + errors.__all__

_explain_room(__name__)
