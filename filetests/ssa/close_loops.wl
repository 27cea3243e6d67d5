; test: close-loops

; Two exits, and a use behind both.
func @two_exits(%c: i1, %d: i1, %n: i32) -> i32 {
entry:
  br head
head:
  %v: i32 = freeze %n
  br %c, latch, left
latch:
  br %d, head, right
left:
  br join
right:
  br join
join:
  %r: i32 = add %v, 1
  ret %r
}
; check: close-loops
; func @two_exits(%c: i1, %d: i1, %n: i32) -> i32 {
; entry:
;   br head
; head:
;   %v: i32 = freeze %n
;   br %c, latch, left(%v)
; latch:
;   br %d, head, right(%v)
; left:
;   %v6: i32 = phi
;   br join(%v6)
; right:
;   %v7: i32 = phi
;   br join(%v7)
; join:
;   %v8: i32 = phi
;   %r: i32 = add %v8, 1
;   ret %r
; }

; The inner loop is left together with the outer one by one edge, and alone by another.
func @nest(%c: i1, %d: i1, %n: i32) -> i32 {
entry:
  br outer
outer:
  br inner
inner:
  %v: i32 = freeze %n
  br %c, next, out
next:
  br %d, inner, behind
behind:
  %w: i32 = add %v, 1
  br %c, outer, out2
out:
  ret %v
out2:
  %r: i32 = add %w, %v
  ret %r
}
; check: close-loops
; func @nest(%c: i1, %d: i1, %n: i32) -> i32 {
; entry:
;   br outer
; outer:
;   br inner
; inner:
;   %v: i32 = freeze %n
;   br %c, next, out(%v)
; next:
;   br %d, inner, behind(%v)
; behind:
;   %v8: i32 = phi
;   %w: i32 = add %v8, 1
;   br %c, outer, out2(%v8, %w)
; out:
;   %v7: i32 = phi
;   ret %v7
; out2:
;   %v9: i32 = phi
;   %v10: i32 = phi
;   %r: i32 = add %v10, %v9
;   ret %r
; }

; The exit of the first loop is the head of the second one, so that the phi there leaves that one in turn.
func @from_loop_to_loop(%c: i1, %n: i32) -> i32 {
entry:
  br first
first:
  %v: i32 = freeze %n
  br %c, first, second
second:
  br %c, second, out
out:
  ret %v
}
; check: close-loops
; func @from_loop_to_loop(%c: i1, %n: i32) -> i32 {
; entry:
;   br first
; first:
;   %v: i32 = freeze %n
;   br %c, first, second(%v)
; second:
;   %v3: i32 = phi
;   br %c, second(%v3), out(%v3)
; out:
;   %v4: i32 = phi
;   ret %v4
; }

; An irreducible cycle: it can be entered at both of its blocks.
func @irreducible(%c: i1, %n: i32) -> i32 {
entry:
  %u: i32 = freeze %n
  br %c, one, two
one:
  %v: i32 = add %u, 1
  br %c, two, out
two:
  br %c, one, end
out:
  ret %v
end:
  ret %u
}
; check: close-loops
; func @irreducible(%c: i1, %n: i32) -> i32 {
; entry:
;   %u: i32 = freeze %n
;   br %c, one, two
; one:
;   %v: i32 = add %u, 1
;   br %c, two, out(%v)
; two:
;   br %c, one, end
; out:
;   %v5: i32 = phi
;   ret %v5
; end:
;   ret %u
; }
