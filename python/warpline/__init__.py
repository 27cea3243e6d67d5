"""Vector code from C within Python: compile a source, call its functions on arrays.

    import warpline, numpy as np

    @warpline.c('''
        void saxpy(float *y, const float *x, float a, int n) {
            for (int i = 0; i < n; i++) y[i] += a * x[i];
        }
    ''')
    def saxpy(y: warpline.array("f"), x: warpline.array("f"), a: "float", n: "int"): ...

    y, x = np.ones(1000, np.float32), np.arange(1000, dtype=np.float32)
    saxpy(y, x, 2.0, len(y))

Arguments are checked against the annotations: C's names of numbers, and `array(CODE)` with a type code of the modules
`array` and `struct` for pointers, for which NumPy's arrays, `array.array`, `bytearray` and whatever else has a buffer
are passed without a copy. How far a function goes is its own business, as in C.

The library is found in `$WARPLINE_LIBRARY`, beside this package, or as the system finds libwarpline.so. It has sources
compiled by the program `warpline`: the one that `$WARPLINE_WORKER` names, that was installed with this package, or that
is on the path.
"""

import ctypes
import os
import sysconfig

__all__ = ["Error", "Refused", "array", "c", "compile"]


class Error(Exception):
    """What is wrong with a source or an option."""


class Refused(Error):
    """Why something cannot be vectorized."""


class _Options(ctypes.Structure):
    _fields_ = [
        ("cpu", ctypes.c_char_p),
        ("function", ctypes.c_char_p),
        ("args", ctypes.c_char_p),
        ("width", ctypes.c_uint32),
        ("math_ulp", ctypes.c_uint32),
    ]


def _open():
    beside = os.path.join(os.path.dirname(__file__), "libwarpline.so")
    usual = beside if os.path.exists(beside) else "libwarpline.so"
    try:
        library = ctypes.CDLL(os.environ.get("WARPLINE_LIBRARY", usual))
    except OSError as error:
        hint = "name it in $WARPLINE_LIBRARY; `cargo build --release -p warpline-capi` makes target/release/libwarpline.so"
        raise Error(f"the library of warpline cannot be opened: {error}; {hint}") from error
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    types = {
        "warpline_compile_source": (pointer, [text, text, ctypes.POINTER(_Options), ctypes.POINTER(pointer)]),
        "warpline_object_report": (text, [pointer]),
        "warpline_object_free": (None, [pointer]),
        "warpline_load": (pointer, [pointer, ctypes.POINTER(pointer)]),
        "warpline_address": (pointer, [pointer, text, ctypes.POINTER(pointer)]),
        "warpline_code_free": (None, [pointer]),
        "warpline_error_message": (text, [pointer]),
        "warpline_error_kind": (ctypes.c_int, [pointer]),
        "warpline_error_free": (None, [pointer]),
    }
    for name, (result, arguments) in types.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    # pip puts scripts where the installation says, or, with --target, beside the packages.
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    programs = [os.path.join(folder, "warpline") for folder in (os.path.join(packages, "bin"), sysconfig.get_path("scripts"))]
    if usual == beside and "WARPLINE_WORKER" not in os.environ:
        for program in filter(os.path.exists, programs):
            os.environ["WARPLINE_WORKER"] = program
            break
    return library


_library = None


def _call(name, *arguments):
    """Calls a function that may fail."""
    global _library
    if _library is None:
        _library = _open()
    error = ctypes.c_void_p()
    result = getattr(_library, name)(*arguments, ctypes.byref(error))
    if result:
        return result
    message = _library.warpline_error_message(error).decode()
    kind = _library.warpline_error_kind(error)
    _library.warpline_error_free(error)
    raise (Refused if kind == 1 else Error)(message)


class array:
    """A pointer to numbers, for which something with a buffer of them is passed."""

    def __init__(self, code):
        self.code = code

    def pass_on(self, name, value):
        try:
            view = memoryview(value)
        except TypeError:
            raise TypeError(f"{name}: an array of {self.code}, not {type(value).__name__}") from None
        # `l` and `q` are the same where both have 8 bytes.
        if view.format.lstrip("@=<") not in (self.code, {"q": "l", "Q": "L"}.get(self.code)):
            raise TypeError(f"{name}: an array of {self.code}, not of {view.format}")
        if not view.c_contiguous:
            raise TypeError(f"{name}: an array with gaps")
        if not view.readonly:
            return ctypes.addressof((ctypes.c_char * view.nbytes).from_buffer(value)) if view.nbytes else None
        interface = getattr(value, "__array_interface__", None)
        if interface is None:
            raise TypeError(f"{name}: an array that cannot be written to")
        return interface["data"][0]


_NUMBERS = {
    "bool": ctypes.c_bool,
    "char": ctypes.c_byte,
    "signed char": ctypes.c_byte,
    "unsigned char": ctypes.c_ubyte,
    "short": ctypes.c_short,
    "unsigned short": ctypes.c_ushort,
    "int": ctypes.c_int,
    "unsigned": ctypes.c_uint,
    "unsigned int": ctypes.c_uint,
    "long": ctypes.c_long,
    "unsigned long": ctypes.c_ulong,
    "size_t": ctypes.c_size_t,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    None: None,
}


def _type(name, annotation, names):
    """What an annotation says of an argument or, for the name `return`, of the result."""
    if isinstance(annotation, (str, type(None))) and annotation in _NUMBERS:
        return annotation
    if isinstance(annotation, array) and name != "return":
        return annotation
    if isinstance(annotation, str) and names is not None:
        # `from __future__ import annotations` leaves what was written.
        try:
            return _type(name, eval(annotation, names), None)
        except Exception:
            pass
    known = ", ".join(repr(number) for number in _NUMBERS if number)
    kinds = f"one of {known}" if name == "return" else f"array(CODE) or one of {known}"
    raise TypeError(f"{name}: {annotation!r} is no type; say {kinds}")


class Code:
    """Code in this process, and what was done: `report` has a line for each loop or kernel."""

    def __init__(self, source, language="c", cpu=None, width=0):
        options = _Options(cpu and cpu.encode(), None, None, width, 0)
        made = _call("warpline_compile_source", language.encode(), source.encode(), ctypes.byref(options))
        try:
            self.report = _library.warpline_object_report(made).decode()
            self._code = _call("warpline_load", made)
        finally:
            _library.warpline_object_free(made)

    def __del__(self):
        if getattr(self, "_code", None):
            _library.warpline_code_free(self._code)

    def function(self, name, arguments, result=None):
        """A function of the source. `arguments` are pairs of a name and a type, as annotations are written."""
        arguments = [(argument, _type(argument, type, None)) for argument, type in arguments]
        result = _type("return", result, None)
        address = _call("warpline_address", self._code, name.encode())
        types = [ctypes.c_void_p if isinstance(type, array) else _NUMBERS[type] for _, type in arguments]
        entry = ctypes.CFUNCTYPE(_NUMBERS[result], *types)(address)

        def call(*values):
            if len(values) != len(arguments):
                raise TypeError(f"{name} takes {len(arguments)} arguments, not {len(values)}")
            pairs = zip(arguments, values)
            passed = [type.pass_on(n, v) if isinstance(type, array) else v for (n, type), v in pairs]
            return entry(*passed)

        call.__name__, call.code = name, self
        return call


def compile(source, **options):
    """Compiles a source, and links it into this process."""
    return Code(source, **options)


def c(source, **options):
    """A decorator: the function of this name in a source in C, with the types that the annotations say."""

    def decorate(stub):
        names = stub.__globals__
        types = {name: _type(name, said, names) for name, said in stub.__annotations__.items()}
        result = types.pop("return", None)
        return Code(source, **options).function(stub.__name__, list(types.items()), result)

    return decorate
