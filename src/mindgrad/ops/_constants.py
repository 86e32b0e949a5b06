"""Names of operators that programs compare with a primitive's ``name``."""

kGather = "Gather"  # noqa: N816  (these names are MindSpore's)
kMakeTuple = "MakeTuple"  # noqa: N816
kScalarFloor = "ScalarFloor"  # noqa: N816
kScalarPow = "ScalarPow"  # noqa: N816
kScalarTrunc = "ScalarTrunc"  # noqa: N816
kScalarUadd = "ScalarUadd"  # noqa: N816
kScalarUsub = "ScalarUsub"  # noqa: N816
kTupleGetItem = "TupleGetItem"  # noqa: N816
