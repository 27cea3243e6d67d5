"""What the package does; run with libwarpline.so in $WARPLINE_LIBRARY and the program in $WARPLINE_WORKER."""

import array
import concurrent.futures
import unittest

import warpline

SAXPY = """
void saxpy(float *y, const float *x, float a, int n) {
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}
long total(const int *x, size_t n) {
    long s = 0;
    for (size_t i = 0; i < n; i++) s += x[i];
    return s;
}
""".replace("size_t", "unsigned long")


class Package(unittest.TestCase):
    def test_a_decorated_function_computes_what_the_source_says(self):
        @warpline.c(SAXPY)
        def saxpy(y: warpline.array("f"), x: warpline.array("f"), a: "float", n: "int"): ...

        x, y = array.array("f", range(1000)), array.array("f", [1] * 1000)
        saxpy(y, x, 2.0, 1000)
        self.assertEqual(list(y), [1 + 2 * i for i in range(1000)])
        self.assertIn("saxpy: loop at", saxpy.code.report)

    def test_arrays_of_numpy_are_passed_without_a_copy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("there is no NumPy")

        @warpline.c("""
            void saxpy(float *y, const float *x, float a, int n) {
                for (int i = 0; i < n; i++) y[i] += a * x[i];
            }
        """)
        def saxpy(y: warpline.array("f"), x: warpline.array("f"), a: "float", n: "int"): ...

        y, x = numpy.ones(1000, numpy.float32), numpy.arange(1000, dtype=numpy.float32)
        saxpy(y, x, 2.0, len(y))
        self.assertTrue((y == 1 + 2 * x).all())
        x.setflags(write=False)
        saxpy(y, x, 1.0, len(y))
        self.assertTrue((y == 1 + 3 * x).all())
        for wrong in (y.astype(numpy.float64), numpy.ones((1000, 2), numpy.float32)[:, 0]):
            with self.assertRaises(TypeError):
                saxpy(wrong, x, 1.0, 1000)

    def test_annotations_that_python_keeps_as_text_say_the_same(self):
        names = {"warpline": warpline, "SAXPY": SAXPY}
        stub = """
from __future__ import annotations
@warpline.c(SAXPY)
def total(x: warpline.array("i"), n: "unsigned long") -> "long": ...
"""
        exec(compile(stub, "stub.py", "exec"), names)
        self.assertEqual(names["total"](array.array("i", range(1001)), 1001), 500500)

    def test_what_is_no_type_and_what_is_no_array_is_said(self):
        for wrong in (float, "float32", "warpline.array", 3):
            with self.assertRaisesRegex(TypeError, r"^a: .* is no type; say array\(CODE\) or one of 'bool', "):
                stub = lambda y, x, a, n: None
                stub.__name__, stub.__annotations__ = "saxpy", {"a": wrong}
                warpline.c(SAXPY)(stub)
        with self.assertRaisesRegex(warpline.Error, "^the module has no function `gone`$"):
            warpline.compile(SAXPY).function("gone", [])
        total = warpline.compile(SAXPY).function("total", [("x", warpline.array("i")), ("n", "unsigned long")], "long")
        with self.assertRaisesRegex(TypeError, "^x: an array of i, not list$"):
            total([1, 2], 2)

    def test_functions_return_what_the_source_returns(self):
        code = warpline.compile(SAXPY, width=8)
        total = code.function("total", [("x", warpline.array("i")), ("n", "unsigned long")], "long")
        self.assertEqual(total(array.array("i", range(1001)), 1001), 500500)
        self.assertIn("total: loop at source.c:7: 8 lanes", code.report)

    def test_threads_compile_and_call_at_once(self):
        def one(k):
            code = warpline.compile(SAXPY.replace("a * x[i]", f"a * x[i] + {k}"))
            saxpy = code.function(
                "saxpy",
                [("y", warpline.array("f")), ("x", warpline.array("f")), ("a", "float"), ("n", "int")],
            )
            x, y = array.array("f", range(100)), array.array("f", [0] * 100)
            saxpy(y, x, 1.0, 100)
            return list(y) == [i + k for i in range(100)]

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertTrue(all(pool.map(one, range(8))))

    def test_what_is_wrong_is_an_exception(self):
        with self.assertRaises(warpline.Error) as caught:
            warpline.compile("int f( {")
        self.assertIn("error", str(caught.exception))
        code = warpline.compile(SAXPY)
        with self.assertRaises(warpline.Error):
            code.function("nothing", [])
        saxpy = code.function("saxpy", [("y", warpline.array("f")), ("n", "int")])
        with self.assertRaises(TypeError):
            saxpy(array.array("d", [1]), 1)
        with self.assertRaises(TypeError):
            saxpy(array.array("f", [1]))


if __name__ == "__main__":
    unittest.main()
