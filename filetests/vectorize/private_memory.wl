; test: linearize

; Private memory that one object cannot stand for, although addresses and stored values are uniform: lanes that do not come
; by the store load behind the join.
func @missed_store(%c: i1, %u: i32) -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  store i32 0, %slot, align 4
  br %c, writes, join
writes:
  store %u, %slot, align 4
  br join
join:
  %x: i32 = load %slot, align 4
  ret %x
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @missed_store(%c: i1, %u: i32) -> i32 phase linearized {
; entry:
;   %slot: ptr = alloca i8, i64 16, align 16
;   store i32 0, %slot, align 4
;   br writes
; writes mask %c:
;   store %u, %slot, align 4
;   br join
; join:
;   %x: i32 = load %slot, align 4
;   ret %x
; }

; The same with the load on the other way, behind which the lanes never come together with those that store before they
; return.
func @loads_apart(%c: i1, %u: i32) -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  store i32 0, %slot, align 4
  br %c, writes, reads
writes:
  store %u, %slot, align 4
  ret 7
reads:
  %x: i32 = load %slot, align 4
  ret %x
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @loads_apart(%c: i1, %u: i32) -> i32 phase linearized {
; entry:
;   %slot: ptr = alloca i8, i64 16, align 16
;   store i32 0, %slot, align 4
;   %v17: i1 = mask_andnot true, %c
;   br reads
; writes mask %c:
;   store %u, %slot, align 4
;   %v21: i32 = blend %c, 7, %x
;   br exit
; reads mask %v17:
;   %x: i32 = load %slot, align 4
;   br writes
; exit:
;   ret %v21
; }

; One object does: whoever loads has stored, and the load is of a uniform value.
func @shared(%c: i1, %u: i32) -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  br %c, uses, join(0)
uses:
  store %u, %slot, align 4
  %x: i32 = load %slot, align 4
  br join(%x)
join:
  %y: i32 = phi
  ret %y
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @shared(%c: i1, %u: i32) -> i32 phase linearized {
; entry:
;   %slot: ptr = alloca i32, i32 1, align 4
;   %v15: i1 = mask_any %c
;   br %v15, rest, join(0)
; rest:
;   br uses
; uses mask %c:
;   store %u, %slot, align 4
;   %x: i32 = load %slot, align 4
;   %v17: i32 = blend %c, %x, 0
;   br join(%v17)
; join:
;   %phi: i32 = phi
;   ret %phi
; }

; One object cannot hold a varying value.
func @varying_value(%x: i32) -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  store %x, %slot, align 4
  %y: i32 = load %slot, align 4
  ret %y
}
; check: linearize
; branches: 0 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @varying_value(%x: i32) -> i32 phase linearized {
; entry:
;   %slot: ptr = alloca i8, i64 16, align 16
;   store %x, %slot, align 4
;   %y: i32 = load %slot, align 4
;   ret %y
; }
