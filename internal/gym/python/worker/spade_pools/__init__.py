"""Other people's environments in SPADE's class form.

Each module is an adapter of one package: `make(name, version, seeds, adapter, …)` returns a class `Env`, and `Catalogue` is an
environment whose first observation lists what the package has. They run inside the sandboxed worker, with the
package's installed files mounted read-only; nothing here runs on the platform's side.
"""
