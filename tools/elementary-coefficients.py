#!/usr/bin/env python3
"""Coefficients of the polynomials in crates/warpline/src/vectorize/lower/elementary.

Needs mpmath. Prints each polynomial's coefficients, constant term first, and the largest error of the approximation with them (before the
rounding of the arithmetic), relative to the function that the polynomial is a part of. Coefficients are rounded to binary32, for the functions on
`double` to binary64, one after the other, from the constant term on, and those that follow are fitted again, so that they make up for it. That
takes a few minutes.
"""
import struct

import mpmath as mp

mp.mp.prec = 160


def single(x):
    """The nearest binary32 number."""
    return mp.mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def double(x):
    """The nearest binary64 number."""
    return mp.mpf(float(mp.mpf(x)))


def shortest(x, rounded):
    """The shortest decimal number that is rounded to this binary number."""
    return next(text for digits in range(1, 18) if rounded(text := mp.nstr(x, digits)) == x)


def fit(target, weight, low, high, degree, fixed):
    """The coefficients that are not fixed, by weighted least squares, weights moved to the largest errors (Lawson's algorithm)."""
    count = 40 * (degree + 1)
    points = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count) for k in range(count)]
    points = [x for x in points if x != 0]
    rows = [[weight(x) * x**n for n in range(len(fixed), degree + 1)] for x in points]
    right = [weight(x) * (target(x) - sum(c * x**n for n, c in enumerate(fixed))) for x in points]
    lawson = [mp.mpf(1)] * len(points)
    unknown = degree + 1 - len(fixed)
    for _ in range(30):
        a = mp.matrix(unknown, unknown)
        b = mp.matrix(unknown, 1)
        for row, r, w in zip(rows, right, lawson):
            for i in range(unknown):
                b[i] += w * row[i] * r
                for j in range(unknown):
                    a[i, j] += w * row[i] * row[j]
        found = mp.lu_solve(a, b)
        errors = [abs(sum(c * x for c, x in zip(found, row)) - r) for row, r in zip(rows, right)]
        lawson = [w * e for w, e in zip(lawson, errors)]
        total = sum(lawson)
        if total == 0:
            break
        lawson = [w / total for w in lawson]
    return list(found)


def approximate(name, target, weight, low, high, degree, rounded=single):
    low, high = mp.mpf(low), mp.mpf(high)
    fixed = []
    while len(fixed) <= degree:
        fixed.append(rounded(fit(target, weight, low, high, degree, fixed)[0]))
    worst = max(
        abs(weight(x) * (target(x) - sum(c * x**n for n, c in enumerate(fixed))))
        for x in (low + (high - low) * k / 4001 for k in range(4002))
        if x != 0
    )
    print(f"{name}: error 2^{mp.nstr(mp.log(worst, 2), 4)}")
    for c in fixed:
        print(f"    {shortest(c, rounded)}", flush=True)


half_ln2 = mp.log(2) / 2
for kind, rounded, degrees in [("float", single, (4, 5)), ("double", double, (9, 10))]:
    # exp(r) = 1 + r + r² q(r)
    approximate(
        f"exp of {kind}",
        lambda r: (mp.exp(r) - 1 - r) / r**2,
        lambda r: r**2 / mp.exp(r),
        -half_ln2 * 1.0001,
        half_ln2 * 1.0001,
        degrees[0],
        rounded,
    )
    # 2^r = 1 + r q(r)
    approximate(f"exp2 of {kind}", lambda r: (2**r - 1) / r, lambda r: r / 2**r, -0.5001, 0.5001, degrees[1], rounded)
# ln(1 + f) = f + f² q(f)
approximate("log of float", lambda f: (mp.log1p(f) - f) / f**2, lambda f: f**2 / mp.log1p(f), -mp.mpf(1) / 3, mp.mpf(1) / 3, 8)
# ln((1 + q) / (1 - q)) = 2 q + q³ p(q²) / n, p on q²; n is 1 or 2
for name, n, largest, degree, rounded in [("pow of float", 1, (mp.sqrt(2) - 1) ** 4, 3, single), ("log of double", 2, (mp.mpf(5) / 27) ** 2, 6, double)]:
    approximate(
        name,
        lambda s: n * (2 * mp.atanh(mp.sqrt(s)) - 2 * mp.sqrt(s)) / mp.sqrt(s) ** 3,
        lambda s: mp.sqrt(s) ** 3 / (2 * n * mp.atanh(mp.sqrt(s))),
        mp.mpf(1) / 10**6,
        largest * mp.mpf("1.001"),
        degree,
        rounded,
    )
for kind, rounded in [("float", single), ("double", double)]:
    for name, x in [("ln 2", mp.log(2)), ("1/ln 2", 1 / mp.log(2)), ("1/ln 10", 1 / mp.log(10)), ("log10 2", mp.log10(2))]:
        high = rounded(x)
        print(f"{name} of {kind} = {shortest(high, rounded)} + {shortest(rounded(x - high), rounded)}")
# Of as many digits that products with exponents are exact.
high = mp.floor(mp.log10(2) * 2**42) / 2**42
print(f"log10 2 of double, short = {shortest(high, double)} + {shortest(double(mp.log10(2) - high), double)}")
