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

; One object cannot hold a varying value.
func @varying_value(%x: i32) -> i32 {
entry:
  %slot: ptr = alloca i32, i32 1, align 4
  store %x, %slot, align 4
  %y: i32 = load %slot, align 4
  ret %y
}
