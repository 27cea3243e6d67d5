; test: registers

module "registers.ll"
layout "e-A5-p5:32:32"
declare @use(ptr) [unknown]

; What is not written is undef where it was memory, in operands of φs, too.
func @unwritten(%c: i1, %v: i32) -> i32 {
entry:
  %x: ptr addrspace(5) = alloca i32, i32 1, align 4
  br %c, writes, join
writes:
  store %v, %x, align 4
  br join
join:
  %r: i32 = load %x, align 4
  ret %r
}
; check: registers
; rounds: 1
; func @unwritten(%c: i1, %v: i32) -> i32 {
;   var $x: i32 = undef
; entry:
;   br %c, writes, join(undef)
; writes:
;   br join(%v)
; join:
;   %x: i32 = phi
;   ret %x
; }

func @never_written() -> i32 {
entry:
  %x: ptr addrspace(5) = alloca i32, i32 1, align 4
  %r: i32 = load %x, align 4
  ret %r
}
; check: registers
; rounds: 1
; func @never_written() -> i32 {
;   var $x: i32 = undef
; entry:
;   ret undef
; }

; The stack is in address space 5.
func @not_the_stack(%v: i32) -> i32 {
entry:
  %x: ptr = alloca i32, i32 1, align 4
  store %v, %x, align 4
  %r: i32 = load %x, align 4
  ret %r
}
; check: registers
; kept %x: it is not in the address space of the stack
; rounds: 1
; func @not_the_stack(%v: i32) -> i32 {
; entry:
;   %x: ptr = alloca i32, i32 1, align 4
;   store %v, %x, align 4
;   %r: i32 = load %x, align 4
;   ret %r
; }

; A chain of addresses in variables: one more goes in each round.
func @chain_of_addresses(%v: i32) -> i32 {
entry:
  %x: ptr addrspace(5) = alloca i32, i32 1, align 4
  %p: ptr addrspace(5) = alloca ptr addrspace(5), i32 1, align 4
  %q: ptr addrspace(5) = alloca ptr addrspace(5), i32 1, align 4
  store %x, %p, align 4
  store %p, %q, align 4
  %pp: ptr addrspace(5) = load %q, align 4
  %px: ptr addrspace(5) = load %pp, align 4
  store %v, %px, align 4
  %r: i32 = load %x, align 4
  ret %r
}
; check: registers
; rounds: 3
; func @chain_of_addresses(%v: i32) -> i32 {
;   var $q: ptr addrspace(5) = undef
;   var $p: ptr addrspace(5) = undef
;   var $x: i32 = undef
; entry:
;   ret %v
; }

; The address is held in a variable and passed to a call as well: another round would find nothing.
func @held_and_passed(%v: i32) {
entry:
  %x: ptr addrspace(5) = alloca i32, i32 1, align 4
  %p: ptr addrspace(5) = alloca ptr addrspace(5), i32 1, align 4
  store %x, %p, align 4
  %flat: ptr = addrspacecast %x
  call @use(%flat)
  ret
}
; check: registers
; kept %x: another address is computed from its address (`addrspacecast`)
; rounds: 1
; func @held_and_passed(%v: i32) {
;   var $p: ptr addrspace(5) = undef
; entry:
;   %x: ptr addrspace(5) = alloca i32, i32 1, align 4
;   %flat: ptr = addrspacecast %x
;   call @use(%flat)
;   ret
; }

; Two addresses meet in a φ of the second round, so both stay memory.
func @addresses_meet(%c: i1, %v: i32) -> i32 {
entry:
  %x: ptr addrspace(5) = alloca i32, i32 1, align 4
  %y: ptr addrspace(5) = alloca i32, i32 1, align 4
  %p: ptr addrspace(5) = alloca ptr addrspace(5), i32 1, align 4
  br %c, left, right
left:
  store %x, %p, align 4
  br join
right:
  store %y, %p, align 4
  br join
join:
  %q: ptr addrspace(5) = load %p, align 4
  store %v, %q, align 4
  %r: i32 = load %x, align 4
  ret %r
}
; check: registers
; kept %x: its address is used as a value (`phi`)
; kept %y: its address is used as a value (`phi`)
; rounds: 2
; func @addresses_meet(%c: i1, %v: i32) -> i32 {
;   var $p: ptr addrspace(5) = undef
; entry:
;   %x: ptr addrspace(5) = alloca i32, i32 1, align 4
;   %y: ptr addrspace(5) = alloca i32, i32 1, align 4
;   br %c, left, right
; left:
;   br join(%x)
; right:
;   br join(%y)
; join:
;   %p: ptr addrspace(5) = phi
;   store %v, %p, align 4
;   %r: i32 = load %x, align 4
;   ret %r
; }
