"""The worker process of the Python runtime: python3 -S -s -B -X utf8 main.py OPTIONS, see spade_worker/serve.py."""

from spade_worker.serve import main

main()
