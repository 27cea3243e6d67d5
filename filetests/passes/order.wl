; test: passes linearize

; A pass that takes functions of a later phase says which one is missing.
func @scalar(%x: i32) -> i32 {
entry:
  %is: i1 = icmp slt %x, 0
  br %is, one, two
one:
  ret 1
two:
  ret 2
}
; check: passes
; error: function `scalar`: pass `linearize` takes canonical functions, and this one is scalar: run `canonicalize` before it
