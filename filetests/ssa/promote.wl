; test: promote

module "promote.ll"
layout "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
type %pair = { i32, float }
declare @llvm.lifetime.start.p0(i64, ptr) [writes]
declare @llvm.lifetime.end.p0(i64, ptr) [writes]
declare @use(ptr) [unknown]

; A parameter and a result, as a front end stores them.
func @parameter(%n: i32) -> i32 {
entry:
  %retval: ptr = alloca i32, i32 1, align 4
  %n.addr: ptr = alloca i32, i32 1, align 4
  store %n, %n.addr, align 4 !0
  %v: i32 = load %n.addr, align 4 !1
  %twice: i32 = add nsw %v, %v !1
  store %twice, %retval, align 4 !1
  %r: i32 = load %retval, align 4 !1
  ret %r
}
; check: promote
; func @parameter(%n: i32) -> i32 {
;   var $retval: i32 = undef
;   var $n.addr: i32 = undef
; entry:
;   write $n.addr, %n !0
;   %v: i32 = read $n.addr !1
;   %twice: i32 = add nsw %v, %v !1
;   write $retval, %twice !1
;   %r: i32 = read $retval !1
;   ret %r
; }

; Memory of every type that a value can have, and memory that nobody uses.
func @types(%f: double, %p: ptr, %v: <4 x i32>, %a: %pair, %b: i1, %s: <vscale x 2 x i64>, %q: ptr addrspace(3)) -> %pair {
entry:
  %float: ptr = alloca double, i32 1, align 8
  %pointer: ptr = alloca ptr, i32 1, align 8
  %vector: ptr = alloca <4 x i32>, i32 1, align 16
  %aggregate: ptr = alloca %pair, i32 1, align 4
  %bit: ptr = alloca i1, i32 1, align 1
  %scalable: ptr = alloca <vscale x 2 x i64>, i32 1, align 16
  %far: ptr = alloca ptr addrspace(3), i32 1, align 8
  %unused: ptr = alloca i64, i32 1, align 8
  store %f, %float, align 8
  store %p, %pointer, align 8
  store %v, %vector, align 16
  store %a, %aggregate, align 4
  store %b, %bit, align 1
  store %s, %scalable, align 16
  store %q, %far, align 8
  %x: %pair = load %aggregate, align 4
  ret %x
}
; check: promote
; func @types(%f: double, %p: ptr, %v: <4 x i32>, %a: %pair, %b: i1, %s: <vscale x 2 x i64>, %q: ptr addrspace(3)) -> %pair {
;   var $float: double = undef
;   var $pointer: ptr = undef
;   var $vector: <4 x i32> = undef
;   var $aggregate: %pair = undef
;   var $bit: i1 = undef
;   var $scalable: <vscale x 2 x i64> = undef
;   var $far: ptr addrspace(3) = undef
;   var $unused: i64 = undef
; entry:
;   write $float, %f
;   write $pointer, %p
;   write $vector, %v
;   write $aggregate, %a
;   write $bit, %b
;   write $scalable, %s
;   write $far, %q
;   %x: %pair = read $aggregate
;   ret %x
; }

; The type of the accesses need not be that of the memory, as long as it is one.
func @one_access_type(%v: i64) -> i64 {
entry:
  %bytes: ptr = alloca [8 x i8], i32 1, align 8
  store %v, %bytes, align 8
  %r: i64 = load %bytes, align 8
  ret %r
}
; check: promote
; func @one_access_type(%v: i64) -> i64 {
;   var $bytes: i64 = undef
; entry:
;   write $bytes, %v
;   %r: i64 = read $bytes
;   ret %r
; }

; Several elements, of which only the first can be reached.
func @several_elements(%n: i32, %v: i32) -> i32 {
entry:
  %array: ptr = alloca i32, %n, align 4
  store %v, %array, align 4
  %r: i32 = load %array, align 4
  ret %r
}
; check: promote
; func @several_elements(%n: i32, %v: i32) -> i32 {
;   var $array: i32 = undef
; entry:
;   write $array, %v
;   %r: i32 = read $array
;   ret %r
; }

; Nobody else can see an atomic access.
func @atomic(%v: i32) -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  store release %v, %slot, align 4
  %r: i32 = load seq_cst %slot, align 4
  ret %r
}
; check: promote
; func @atomic(%v: i32) -> i32 {
;   var $slot: i32 = undef
; entry:
;   write $slot, %v
;   %r: i32 = read $slot
;   ret %r
; }

; Markers of lifetimes go with the memory.
func @lifetimes(%c: i1, %v: i32) -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  %kept: ptr = alloca i32, i32 1, align 4
  br %c, inside, outside
inside:
  call @llvm.lifetime.start.p0(4, %slot)
  call @llvm.lifetime.start.p0(4, %kept)
  store %v, %slot, align 4
  call @use(%kept)
  %r: i32 = load %slot, align 4
  call @llvm.lifetime.end.p0(4, %kept)
  call @llvm.lifetime.end.p0(4, %slot)
  ret %r
outside:
  ret 0
}
; check: promote
; kept %kept: its address is passed to a call (`call`)
; func @lifetimes(%c: i1, %v: i32) -> i32 {
;   var $slot: i32 = undef
; entry:
;   %kept: ptr = alloca i32, i32 1, align 4
;   br %c, inside, outside
; inside:
;   call @llvm.lifetime.start.p0(4, %kept)
;   write $slot, %v
;   call @use(%kept)
;   %r: i32 = read $slot
;   call @llvm.lifetime.end.p0(4, %kept)
;   ret %r
; outside:
;   ret 0
; }

; The address of one is stored in the other, which holds addresses: the other goes, and the one may go in another round.
func @address_in_a_variable(%v: i32) -> i32 {
entry:
  %x: ptr = alloca i32, i32 1, align 4
  %p: ptr = alloca ptr, i32 1, align 8
  store %x, %p, align 8
  %q: ptr = load %p, align 8
  store %v, %q, align 4
  %r: i32 = load %x, align 4
  ret %r
}
; check: promote
; kept %x: its address is stored (`write`)
; func @address_in_a_variable(%v: i32) -> i32 {
;   var $p: ptr = undef
; entry:
;   %x: ptr = alloca i32, i32 1, align 4
;   write $p, %x
;   %q: ptr = read $p
;   store %v, %q, align 4
;   %r: i32 = load %x, align 4
;   ret %r
; }

; Reads in unreachable blocks change, too.
func @unreachable_read(%v: i32) -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  store %v, %slot, align 4
  ret %v
dead:
  %r: i32 = load %slot, align 4
  ret %r
}
; check: promote
; func @unreachable_read(%v: i32) -> i32 {
;   var $slot: i32 = undef
; entry:
;   write $slot, %v
;   ret %v
; dead:
;   %r: i32 = read $slot
;   ret %r
; }

func @volatile_load() -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  %r: i32 = load volatile %slot, align 4 !1
  ret %r
}
; check: promote
; kept %slot: an access is volatile (`load` at promote.c:2:3)
; func @volatile_load() -> i32 {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   %r: i32 = load volatile %slot, align 4 !1
;   ret %r
; }

func @volatile_store(%v: i32) {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  store volatile %v, %slot, align 4
  ret
}
; check: promote
; kept %slot: an access is volatile (`store`)
; func @volatile_store(%v: i32) {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   store volatile %v, %slot, align 4
;   ret
; }

; Written as an integer, read as a number: bits that change their meaning stay in memory.
func @another_type(%v: i32) -> float {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  store %v, %slot, align 4
  %r: float = load %slot, align 4
  ret %r
}
; check: promote
; kept %slot: it is accessed with another type (`load`)
; func @another_type(%v: i32) -> float {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   store %v, %slot, align 4
;   %r: float = load %slot, align 4
;   ret %r
; }

func @address_passed() {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  call @use(%slot)
  ret
}
; check: promote
; kept %slot: its address is passed to a call (`call`)
; func @address_passed() {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   call @use(%slot)
;   ret
; }

func @address_stored(%p: ptr) {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  store %slot, %p, align 8
  ret
}
; check: promote
; kept %slot: its address is stored (`store`)
; func @address_stored(%p: ptr) {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   store %slot, %p, align 8
;   ret
; }

func @address_stored_in_itself() {
entry:
  %slot: ptr = alloca ptr, i32 1, align 8
  store %slot, %slot, align 8
  ret
}
; check: promote
; kept %slot: its address is stored (`store`)
; func @address_stored_in_itself() {
; entry:
;   %slot: ptr = alloca ptr, i32 1, align 8
;   store %slot, %slot, align 8
;   ret
; }

func @address_stored_in_the_callee_of_an_indirect_call(%f: ptr) {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  call %f(%slot) [unknown]
  ret
}
; check: promote
; kept %slot: its address is passed to a call (`call`)
; func @address_stored_in_the_callee_of_an_indirect_call(%f: ptr) {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   call %f(%slot) [unknown]
;   ret
; }

func @address_computed(%i: i64) -> i32 {
entry:
  %array: ptr = alloca [4 x i32], i32 1, align 4
  %at: ptr = getelementptr inbounds i32, %array, %i
  %r: i32 = load %at, align 4
  ret %r
}
; check: promote
; kept %array: another address is computed from its address (`getelementptr`)
; func @address_computed(%i: i64) -> i32 {
; entry:
;   %array: ptr = alloca [4 x i32], i32 1, align 4
;   %at: ptr = getelementptr inbounds i32, %array, %i
;   %r: i32 = load %at, align 4
;   ret %r
; }

func @address_converted() -> i64 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  %r: i64 = ptrtoint %slot
  ret %r
}
; check: promote
; kept %slot: another address is computed from its address (`ptrtoint`)
; func @address_converted() -> i64 {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   %r: i64 = ptrtoint %slot
;   ret %r
; }

func @address_compared(%p: ptr) -> i1 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  %r: i1 = icmp eq %slot, %p
  ret %r
}
; check: promote
; kept %slot: its address is used as a value (`icmp`)
; func @address_compared(%p: ptr) -> i1 {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   %r: i1 = icmp eq %slot, %p
;   ret %r
; }

func @address_in_a_phi(%c: i1, %p: ptr) -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  br %c, join(%slot), other
other:
  br join(%p)
join:
  %q: ptr = phi
  %r: i32 = load %q, align 4
  ret %r
}
; check: promote
; kept %slot: its address is used as a value (`phi`)
; func @address_in_a_phi(%c: i1, %p: ptr) -> i32 {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   br %c, join(%slot), other
; other:
;   br join(%p)
; join:
;   %q: ptr = phi
;   %r: i32 = load %q, align 4
;   ret %r
; }

func @address_returned() -> ptr {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  ret %slot
}
; check: promote
; kept %slot: its address is used as a value (`ret`)
; func @address_returned() -> ptr {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   ret %slot
; }

; Each round makes a new object.
func @in_a_loop(%n: i32) -> i32 {
entry:
  br loop(0)
loop:
  %i: i32 = phi
  %slot: ptr = alloca i32, i32 1, align 4
  store %i, %slot, align 4
  %v: i32 = load %slot, align 4
  %next: i32 = add %v, 1
  %c: i1 = icmp ult %next, %n
  br %c, loop(%next), done
done:
  ret %v
}
; check: promote
; kept %slot: it is not in the entry block
; func @in_a_loop(%n: i32) -> i32 {
; entry:
;   br loop(0)
; loop:
;   %i: i32 = phi
;   %slot: ptr = alloca i32, i32 1, align 4
;   store %i, %slot, align 4
;   %v: i32 = load %slot, align 4
;   %next: i32 = add %v, 1
;   %c: i1 = icmp ult %next, %n
;   br %c, loop(%next), done
; done:
;   ret %v
; }

func @another_address_space(%v: i32) {
entry:
  %slot: ptr addrspace(3) = alloca i32, i32 1, align 4
  store %v, %slot, align 4
  ret
}
; check: promote
; kept %slot: it is not in the address space of the stack
; func @another_address_space(%v: i32) {
; entry:
;   %slot: ptr addrspace(3) = alloca i32, i32 1, align 4
;   store %v, %slot, align 4
;   ret
; }

func @carried_allocation(%v: i32) {
entry:
  %slot: ptr = opaque "alloca" i32 1 [unknown]
  store %v, %slot, align 4
  ret
}
; check: promote
; kept %slot: it is carried, not modelled
; func @carried_allocation(%v: i32) {
; entry:
;   %slot: ptr = opaque "alloca" i32 1 [unknown]
;   store %v, %slot, align 4
;   ret
; }

func @carried_call() {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  opaque "call" %slot [unknown]
  ret
}
; check: promote
; kept %slot: its address is passed to a call (`call`)
; func @carried_call() {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   opaque "call" %slot [unknown]
;   ret
; }

!0 = "promote.c":1:12
!1 = "promote.c":2:3
