"""Several processes, of which there is one: what programs ask MindSpore's ``parallel`` for."""
