; test: passes select-by-signs

; The greater and the distance of two bytes, by masks of signs.
func @bytes(%a: i8, %b: i8) -> i32 {
entry:
  %x: i32 = zext %a
  %y: i32 = zext %b
  %d: i32 = sub nsw %x, %y
  %m: i32 = ashr %d, 8
  %n: i32 = xor %m, -1
  %kept: i32 = and %d, %n
  %greater: i32 = add %y, %kept
  %minus: i32 = sub 0, %d
  %turned: i32 = and %minus, %m
  %distance: i32 = or %kept, %turned
  %sum: i32 = add %greater, %distance
  ret %sum
}
; check: passes
; func @bytes(%a: i8, %b: i8) -> i32 {
; entry:
;   %x: i32 = zext %a
;   %y: i32 = zext %b
;   %d: i32 = sub nsw %x, %y
;   %v16: i1 = icmp slt %x, %y
;   %greater: i32 = select %v16, %y, %x
;   %minus: i32 = sub %y, %x
;   %distance: i32 = select %v16, %minus, %d
;   %sum: i32 = add %greater, %distance
;   ret %sum
; }

; The greatest of what a loop sees: a byte, if it was one before.
func @loop(%first: i8, %p: ptr, %count: i64) -> i32 {
entry:
  %start: i32 = zext %first
  br head(0, %start)
head:
  %i: i64 = phi
  %most: i32 = phi
  %at: ptr = getelementptr i8, %p, %i
  %byte: i8 = load %at, align 1
  %x: i32 = zext %byte
  %d: i32 = sub nsw %x, %most
  %m: i32 = ashr %d, 8
  %n: i32 = xor %m, -1
  %kept: i32 = and %d, %n
  %next: i32 = add %most, %kept
  %more: i64 = add nuw %i, 1
  %goes: i1 = icmp ult %more, %count
  br %goes, head(%more, %next), out
out:
  ret %next
}
; check: passes
; func @loop(%first: i8, %p: ptr, %count: i64) -> i32 {
; entry:
;   %start: i32 = zext %first
;   br head(0, %start)
; head:
;   %i: i64 = phi
;   %most: i32 = phi
;   %at: ptr = getelementptr i8, %p, %i
;   %byte: i8 = load %at, align 1
;   %x: i32 = zext %byte
;   %v23: i1 = icmp slt %x, %most
;   %next: i32 = select %v23, %most, %x
;   %more: i64 = add nuw %i, 1
;   %goes: i1 = icmp ult %more, %count
;   br %goes, head(%more, %next), out
; out:
;   ret %next
; }

; The difference of numbers of 32 bits is more than a mask when it is shifted by 8.
func @wide(%x: i32, %y: i32) -> i32 {
entry:
  %d: i32 = sub nsw %x, %y
  %m: i32 = ashr %d, 8
  %kept: i32 = and %d, %m
  ret %kept
}
; check: passes
; func @wide(%x: i32, %y: i32) -> i32 {
; entry:
;   %d: i32 = sub nsw %x, %y
;   %m: i32 = ashr %d, 8
;   %kept: i32 = and %d, %m
;   ret %kept
; }

; Where it may wrap, its sign does not say which is the smaller.
func @wraps(%x: i32, %y: i32) -> i32 {
entry:
  %d: i32 = sub %x, %y
  %m: i32 = ashr %d, 31
  %kept: i32 = and %d, %m
  ret %kept
}
; check: passes
; func @wraps(%x: i32, %y: i32) -> i32 {
; entry:
;   %d: i32 = sub %x, %y
;   %m: i32 = ashr %d, 31
;   %kept: i32 = and %d, %m
;   ret %kept
; }

; The least number has no opposite one with which the other could be compared: what is taken off is always more.
func @least(%x: i32) -> i32 {
entry:
  %d: i32 = add nsw %x, -2147483648
  %m: i32 = ashr %d, 31
  %kept: i32 = and %x, %m
  ret %kept
}
; check: passes
; func @least(%x: i32) -> i32 {
; entry:
;   %d: i32 = add nsw %x, -2147483648
;   %v7: i1 = icmp slt %d, 0
;   %kept: i32 = select %v7, %x, 0
;   ret %kept
; }
