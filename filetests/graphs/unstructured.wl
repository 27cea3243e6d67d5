; test: dominators
; test: postdominators
; test: frontiers
; test: cycles

; A loop with two entries.
func @irreducible(%c: i1) {
entry:
  br %c, a, b
a:
  br b
b:
  br %c, a, exit
exit:
  ret
}
; check: dominators
; entry
;   a
;   b
;     exit
; check: postdominators
; (exit)
;   exit
;     b
;       a
;       entry
; check: frontiers
; entry: {}
; a: {b}, iterated {a b}
; b: {a}, iterated {a b}
; exit: {}
; check: cycles
; header a, irreducible, entries [a b]: a b

; An irreducible loop inside a reducible one.
func @irreducible_in_loop(%c: i1) {
entry:
  br head
head:
  br %c, a, b
a:
  br b
b:
  br %c, a, latch
latch:
  br %c, head, exit
exit:
  ret
}
; check: dominators
; entry
;   head
;     a
;     b
;       latch
;         exit
; check: postdominators
; (exit)
;   exit
;     latch
;       b
;         a
;         head
;           entry
; check: frontiers
; entry: {}
; head: {head}
; a: {b}, iterated {head a b}
; b: {head a}, iterated {head a b}
; latch: {head}
; exit: {}
; check: cycles
; header head: head a b latch
;   header a, irreducible, entries [a b]: a b

; A loop without an exit, beside a way out.
func @infinite(%c: i1) {
entry:
  br %c, forever, out
forever:
  br spin
spin:
  br forever
out:
  ret
}
; check: dominators
; entry
;   out
;   forever
;     spin
; check: postdominators
; (exit)
;   out
;   forever
;     spin
;   entry
; check: frontiers
; entry: {}
; forever: {forever}
; spin: {forever}
; out: {}
; check: cycles
; header forever: forever spin

; A block that is its own successor, one that nothing reaches, and three ways to leave.
func @several_ends(%x: i32, %c: i1) -> i32 {
entry:
  switch %x, b3 [0: once, 1: self]
once:
  ret 1
self:
  br %c, self, b4
b3:
  unreachable
b4:
  ret 2
lost:
  br b4
}
; check: dominators
; entry
;   self
;     b4
;   once
;   b3
; unreachable: lost
; check: postdominators
; (exit)
;   b4
;     self
;   b3
;   once
;   entry
; check: frontiers
; entry: {}
; once: {}
; self: {self}
; b3: {}
; b4: {}
; check: cycles
; header self: self

; The iterated frontier of `b` holds a block that its frontier does not.
func @frontier(%c: i1) {
entry:
  br %c, a, b
a:
  br %c, d, e
b:
  br e
d:
  br f
e:
  br f
f:
  br %c, g, end
g:
  br end
end:
  ret
}
; check: dominators
; entry
;   b
;   a
;     d
;   e
;   f
;     g
;     end
; check: postdominators
; (exit)
;   end
;     g
;     f
;       e
;         b
;       d
;       a
;       entry
; check: frontiers
; entry: {}
; a: {e f}
; b: {e}, iterated {e f}
; d: {f}
; e: {f}
; f: {}
; g: {end}
; end: {}
; check: cycles
; none
