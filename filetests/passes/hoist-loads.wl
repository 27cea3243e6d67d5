; test: passes hoist-loads

; All ways from the branch at %i load %b: it is loaded once, in front of the branch, with the least alignment and the address made of what is there.
func @all_ways(%i: i32, %x: i32, %ua: ptr, %ub: ptr) -> i32 {
entry:
  %wide: i64 = sext %i
  %positive: i1 = icmp sgt %x, 0
  br %positive, first, second
first:
  %p: ptr = getelementptr inbounds i32, %ub, %wide
  %b: i32 = load %p, align 8
  %large: i1 = icmp sgt %b, 0
  br %large, yes, second
second:
  %q: ptr = getelementptr i32, %ub, %wide
  %c: i32 = load %q, align 4
  %other: i1 = icmp ne %c, 7
  br %other, yes, no
yes:
  ret 1
no:
  ret 0
}
; check: passes
; func @all_ways(%i: i32, %x: i32, %ua: ptr, %ub: ptr) -> i32 {
; entry:
;   %wide: i64 = sext %i
;   %positive: i1 = icmp sgt %x, 0
;   %v15: ptr = getelementptr i32, %ub, %wide
;   %v16: i32 = load %v15, align 4
;   br %positive, first, second
; first:
;   %p: ptr = getelementptr inbounds i32, %ub, %wide
;   %large: i1 = icmp sgt %v16, 0
;   br %large, yes, second
; second:
;   %q: ptr = getelementptr i32, %ub, %wide
;   %other: i1 = icmp ne %v16, 7
;   br %other, yes, no
; yes:
;   ret 1
; no:
;   ret 0
; }

; One way ends without it.
func @some_ways(%i: i32, %x: i32, %ub: ptr) -> i32 {
entry:
  %p: ptr = getelementptr i32, %ub, %i
  %positive: i1 = icmp sgt %x, 0
  br %positive, first, second
first:
  %b: i32 = load %p, align 4
  br last
second:
  br last
last:
  ret 1
}
; check: passes
; func @some_ways(%i: i32, %x: i32, %ub: ptr) -> i32 {
; entry:
;   %p: ptr = getelementptr i32, %ub, %i
;   %positive: i1 = icmp sgt %x, 0
;   br %positive, first, second
; first:
;   %b: i32 = load %p, align 4
;   br last
; second:
;   br last
; last:
;   ret 1
; }

; What the second way stores comes before its load.
func @stored_before(%i: i32, %x: i32, %ub: ptr) -> i32 {
entry:
  %p: ptr = getelementptr i32, %ub, %i
  %positive: i1 = icmp sgt %x, 0
  br %positive, first, second
first:
  %b: i32 = load %p, align 4
  ret %b
second:
  store i32 7, %p, align 4
  %c: i32 = load %p, align 4
  ret %c
}
; check: passes
; func @stored_before(%i: i32, %x: i32, %ub: ptr) -> i32 {
; entry:
;   %p: ptr = getelementptr i32, %ub, %i
;   %positive: i1 = icmp sgt %x, 0
;   br %positive, first, second
; first:
;   %b: i32 = load %p, align 4
;   ret %b
; second:
;   store i32 7, %p, align 4
;   %c: i32 = load %p, align 4
;   ret %c
; }

; The first way stores between its load and the second way's, which it leads to as well.
func @stored_between(%i: i32, %x: i32, %ub: ptr) -> i32 {
entry:
  %p: ptr = getelementptr i32, %ub, %i
  %positive: i1 = icmp sgt %x, 0
  br %positive, first, second
first:
  %b: i32 = load %p, align 4
  store i32 7, %ub, align 4
  br second
second:
  %c: i32 = load %p, align 4
  ret %c
}
; check: passes
; func @stored_between(%i: i32, %x: i32, %ub: ptr) -> i32 {
; entry:
;   %p: ptr = getelementptr i32, %ub, %i
;   %positive: i1 = icmp sgt %x, 0
;   br %positive, first, second
; first:
;   %b: i32 = load %p, align 4
;   store i32 7, %ub, align 4
;   br second
; second:
;   %c: i32 = load %p, align 4
;   ret %c
; }

; Nobody knows whether the loop on the second way ends.
func @round_a_loop(%i: i32, %x: i32, %ub: ptr) -> i32 {
entry:
  %p: ptr = getelementptr i32, %ub, %i
  %positive: i1 = icmp sgt %x, 0
  br %positive, first, second(%x)
first:
  %b: i32 = load %p, align 4
  ret %b
second:
  %y: i32 = phi
  %z: i32 = mul %y, %y
  %again: i1 = icmp ne %z, 49
  br %again, second(%z), behind
behind:
  %c: i32 = load %p, align 4
  ret %c
}
; check: passes
; func @round_a_loop(%i: i32, %x: i32, %ub: ptr) -> i32 {
; entry:
;   %p: ptr = getelementptr i32, %ub, %i
;   %positive: i1 = icmp sgt %x, 0
;   br %positive, first, second(%x)
; first:
;   %b: i32 = load %p, align 4
;   ret %b
; second:
;   %y: i32 = phi
;   %z: i32 = mul %y, %y
;   %again: i1 = icmp ne %z, 49
;   br %again, second(%z), behind
; behind:
;   %c: i32 = load %p, align 4
;   ret %c
; }
