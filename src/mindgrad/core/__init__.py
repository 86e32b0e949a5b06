"""The differentiation engine. It imports nothing from the other packages of mindgrad."""
