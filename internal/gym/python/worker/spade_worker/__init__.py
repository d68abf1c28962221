"""The inside of a Python worker. Begin reading at serve.py.

It plays sources by the rules of the Go package internal/gym/interp, function by function, so that a source that both
languages read gives the same trajectory in both. Everything here runs in one process with the environment's code: it
guards against accidents, and the sandbox around the process guards against everything else.
"""
