"""Read and write MindRecord files, version 3: ``FileReader`` and ``FileWriter``.

``dataset.MindDataset`` reads such files as a dataset. mindgrad and MindSpore can read each other's files.
"""

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad.mindrecord import conversion, errors, filereader, filewriter
from mindgrad.mindrecord.conversion import *  # noqa: F403
from mindgrad.mindrecord.errors import *  # noqa: F403
from mindgrad.mindrecord.filereader import FileReader
from mindgrad.mindrecord.filewriter import FileWriter

#: MindSpore's FileWriter methods return this value if they succeed
SUCCESS = "SUCCESS"

__all__ = ["SUCCESS", "FileReader", "FileWriter", "filereader", "filewriter"]
__all__ += conversion.__all__ + errors.__all__

_explain_package(__name__)
