; test: linearize

; Branches whose arms access the same memory. Parameters that begin with `u` are uniform.

; A traversal pushes one child and goes to the other: what is pushed is selected, and one push is left. The load is made whatever the condition.
func @push(%x: i32, %unodes: ptr, %n: i32, %top: i32) -> i32 {
entry:
  %stack: ptr = alloca [16 x i32], i32 1, align 4
  %first: i1 = icmp slt %x, 0
  br %first, near, far
near:
  %next: i32 = add nsw %n, 1
  %k: i64 = sext %top
  %p: ptr = getelementptr i32, %stack, %k
  store %next, %p, align 4
  %m: i64 = sext %n
  %q: ptr = getelementptr i32, %unodes, %m
  %child: i32 = load %q, align 4
  br join(%child)
far:
  %m2: i64 = sext %n
  %q2: ptr = getelementptr i32, %unodes, %m2
  %child2: i32 = load %q2, align 4
  %k2: i64 = sext %top
  %p2: ptr = getelementptr i32, %stack, %k2
  store %child2, %p2, align 4
  %next2: i32 = add %n, 1
  br join(%next2)
join:
  %to: i32 = phi
  %l: i64 = sext %top
  %r: ptr = getelementptr i32, %stack, %l
  %pushed: i32 = load %r, align 4
  %y: i32 = sub %pushed, %to
  ret %y
}
; check: linearize
; branches: 0 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @push(%x: i32, %unodes: ptr, %n: i32, %top: i32) -> i32 phase linearized {
; entry:
;   %stack: ptr = alloca i8, i64 256, align 16
;   %first: i1 = icmp slt %x, 0
;   %next: i32 = add %n, 1
;   %k: i64 = sext %top
;   %v28: i64 = sext %top
;   %v30: i64 = mul %v28, 16
;   %p: ptr = getelementptr i8, %stack, %v30
;   %m: i64 = sext %n
;   %q: ptr = getelementptr i32, %unodes, %m
;   %child: i32 = load %q, align 4
;   %v26: i32 = select %first, %next, %child
;   store %v26, %p, align 4
;   %v27: i32 = select %first, %child, %next
;   br join
; join:
;   %l: i64 = sext %top
;   %v31: i64 = sext %top
;   %v32: i64 = mul %v31, 16
;   %r: ptr = getelementptr i8, %stack, %v32
;   %pushed: i32 = load %r, align 4
;   %y: i32 = sub %pushed, %v27
;   ret %y
; }

; Lanes that agree on a branch execute one arm: it stays.
func @agree(%x: i32, %u: i1, %p: ptr) {
entry:
  br %u, a, b
a:
  store %x, %p, align 4
  br end
b:
  store i32 1, %p, align 4
  br end
end:
  ret
}
; check: linearize
; branches: 0 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @agree(%x: i32, %u: i1, %p: ptr) phase linearized {
; entry:
;   br %u, a, b
; a:
;   store %x, %p, align 4
;   br end
; b:
;   store i32 1, %p, align 4
;   br end
; end:
;   ret
; }

; The store may change what is loaded behind it, in one arm only.
func @may_meet(%x: i32, %p: ptr, %q: ptr) -> i32 {
entry:
  %c: i1 = icmp slt %x, 0
  br %c, a, b
a:
  store %x, %p, align 4
  %y: i32 = load %q, align 4
  br end(%y)
b:
  %z: i32 = load %q, align 4
  store i32 1, %p, align 4
  br end(%z)
end:
  %r: i32 = phi
  ret %r
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @may_meet(%x: i32, %p: ptr, %q: ptr) -> i32 phase linearized {
; entry:
;   %c: i1 = icmp slt %x, 0
;   %v17: i1 = mask_andnot true, %c
;   br b
; a mask %c:
;   store %x, %p, align 4
;   %y: i32 = load %q, align 4
;   %v21: i32 = blend %c, %y, %z
;   br end
; b mask %v17:
;   %z: i32 = load %q, align 4
;   store i32 1, %p, align 4
;   br a
; end:
;   ret %v21
; }

; What only one arm loads may not be there for the other.
func @one_loads(%x: i32, %p: ptr, %q: ptr) {
entry:
  %c: i1 = icmp slt %x, 0
  br %c, a, b
a:
  %y: i32 = load %q, align 4
  store %y, %p, align 4
  br end
b:
  store i32 1, %p, align 4
  br end
end:
  ret
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @one_loads(%x: i32, %p: ptr, %q: ptr) phase linearized {
; entry:
;   %c: i1 = icmp slt %x, 0
;   %v16: i1 = mask_andnot true, %c
;   br b
; a mask %c:
;   %y: i32 = load %q, align 4
;   %v20: i32 = blend %c, %y, 1
;   br end
; b mask %v16:
;   br a
; end:
;   store %v20, %p, align 4
;   ret
; }

; Other addresses, and another order of the same: two stores each.
func @other_order(%x: i32, %p: ptr, %q: ptr) {
entry:
  %c: i1 = icmp slt %x, 0
  br %c, a, b
a:
  store i32 1, %p, align 4
  store i32 2, %q, align 4
  br end
b:
  store i32 3, %q, align 4
  store i32 4, %p, align 4
  br end
end:
  ret
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @other_order(%x: i32, %p: ptr, %q: ptr) phase linearized {
; entry:
;   %c: i1 = icmp slt %x, 0
;   %v16: i1 = mask_andnot true, %c
;   br b
; a mask %c:
;   store i32 1, %p, align 4
;   store i32 2, %q, align 4
;   br end
; b mask %v16:
;   store i32 3, %q, align 4
;   store i32 4, %p, align 4
;   br a
; end:
;   ret
; }

; A division that traps for the other arm.
func @may_trap(%x: i32, %d: i32, %p: ptr) {
entry:
  %c: i1 = icmp slt %x, 0
  br %c, a, b
a:
  %y: i32 = sdiv %x, %d
  store %y, %p, align 4
  br end
b:
  store i32 1, %p, align 4
  br end
end:
  ret
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @may_trap(%x: i32, %d: i32, %p: ptr) phase linearized {
; entry:
;   %c: i1 = icmp slt %x, 0
;   %v16: i1 = mask_andnot true, %c
;   br b
; a mask %c:
;   %y: i32 = sdiv %x, %d
;   %v20: i32 = blend %c, %y, 1
;   br end
; b mask %v16:
;   br a
; end:
;   store %v20, %p, align 4
;   ret
; }
