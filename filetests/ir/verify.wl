; test: verify

func @sound(%n: i32) -> i32 {
entry:
  %a: i32 = add %n, 1
  ret %a
}
; check: verify
; sound

func @types(%n: i32, %p: ptr) -> i32 {
entry:
  %a: i32 = add nnan %n, 1
  %b: i32 = add %n, ptr null
  %c: i1 = icmp eq %n, %p
  %d: i8 = zext %n
  br %n, next, next
next:
  ret %p
}
; check: verify
; Flags: flags that add cannot have
; Types: operands and result have one type
; Types: both operands have one type
; Types: the conversion does not lead from this type to that one
; Types: the condition is an i1
; Types: not the return type

func @dominance(%c: i1) -> i32 {
entry:
  br %c, left, join
left:
  %a: i32 = add %b, 1
  %b: i32 = add %a, 1
  br join
join:
  %d: i32 = add %a, %d
  ret %d
}
; check: verify
; Dominance: %b is used before its definition
; Dominance: %a is used where its definition does not dominate
; Dominance: %d is used before its definition

func @structure(%c: i1) {
entry:
  br %c, entry, b1
b1:
}
; check: verify
; Order: the block has no terminator
; Entry: the entry has in-edges or phis

func @masks(%n: i32) phase linearized {
entry mask %n:
  br next
next mask %late:
  br last
last:
  %late: i1 = icmp eq %n, 0
  ret
}
; check: verify
; Masks: the mask is no i1
; Masks: %late is used where its definition does not dominate

func @sigmas(%c: i1, %x: i32) -> i32 {
entry:
  %a: i32, %b: i32 = sigma %x
  br %c, left, join(%a)
left:
  %d: i32 = add %a, %b
  %e: i32 = sigma %a
  %f: i32 = sigma %e
  br join(%f)
join:
  %r: i32 = phi
  %s: i32 = add %b, %e
  %one: i32 = sigma %s
  ret %s
}
; check: verify
; Sigmas: a sigma has one result per out-edge of its block
; Dominance: %a is used where the edge on which it is defined does not dominate
; Dominance: %b is used where the edge on which it is defined does not dominate
; Dominance: %e is used where the edge on which it is defined does not dominate
; Dominance: %b is used where the edge on which it is defined does not dominate
; Dominance: %e is used where the edge on which it is defined does not dominate

; A function says how far it has come. A scalar one has no masks.
func @scalar_with_mask(%c: i1) {
entry:
  br body
body mask %c:
  ret
}
; check: verify
; Phase: as a scalar function: block body has a mask

; What is in normal form has one return.
func @two_returns(%c: i1) phase canonical {
entry:
  br %c, a, b
a:
  ret
b:
  ret
}
; check: verify
; Phase: as a canonical function: it has 2 returns
