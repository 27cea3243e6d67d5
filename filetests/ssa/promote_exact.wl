; test: promote exact
; test: registers

; Lifetimes that begin again: undef is written where they do, or the variable keeps what it held.
module "promote_exact.ll"
declare @llvm.lifetime.start.p0(i64, ptr) [writes]
declare @llvm.lifetime.end.p0(i64, ptr) [writes]

func @again_and_again(%n: i32, %c: i1) -> i32 {
entry:
  %i: ptr = alloca i32, i32 1, align 4
  %x: ptr = alloca i32, i32 1, align 4
  store i32 0, %i, align 4
  br loop
loop:
  call @llvm.lifetime.start.p0(4, %x)
  br %c, first, second
first:
  store i32 7, %x, align 4
  br second
second:
  %v: i32 = load %x, align 4
  call @llvm.lifetime.end.p0(4, %x)
  %k: i32 = load %i, align 4
  %next: i32 = add %k, %v
  store %next, %i, align 4
  %more: i1 = icmp ult %next, %n
  br %more, loop, done
done:
  %r: i32 = load %i, align 4
  ret %r
}
; check: promote
; func @again_and_again(%n: i32, %c: i1) -> i32 {
;   var $i: i32 = undef
;   var $x: i32 = undef
; entry:
;   write $i, 0
;   br loop
; loop:
;   write $x, undef
;   br %c, first, second
; first:
;   write $x, 7
;   br second
; second:
;   %v: i32 = read $x
;   %k: i32 = read $i
;   %next: i32 = add %k, %v
;   write $i, %next
;   %more: i1 = icmp ult %next, %n
;   br %more, loop, done
; done:
;   %r: i32 = read $i
;   ret %r
; }
; check: registers
; rounds: 1
; func @again_and_again(%n: i32, %c: i1) -> i32 {
;   var $i: i32 = undef
;   var $x: i32 = undef
; entry:
;   br loop(0, undef)
; loop:
;   %i: i32 = phi
;   %x: i32 = phi
;   br %c, first, second(%x)
; first:
;   br second(7)
; second:
;   %v15: i32 = phi
;   %next: i32 = add %i, %v15
;   %more: i1 = icmp ult %next, %n
;   br %more, loop(%next, %v15), done
; done:
;   ret %next
; }
