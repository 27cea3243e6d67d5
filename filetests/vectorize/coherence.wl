; test: linearize-coherent

; A list that all lanes begin at its first node, and leave where each finds what it wants: the body is made a second time, where `%n` is that of the
; first lane.
func @list(%ufirst: ptr, %q: i32) -> i32 {
entry:
  br head(%ufirst, 0)
head:
  %n: ptr = phi
  %sum: i32 = phi
  %b.p: ptr = getelementptr i8, %n, i64 4
  %next.p: ptr = getelementptr i8, %n, i64 8
  %a: i32 = load %n, align 4
  %b: i32 = load %b.p, align 4
  %found: i1 = icmp eq %a, %q
  br %found, done, go
go:
  %new: i32 = add %sum, %b
  %next: ptr = load %next.p, align 8
  br head(%next, %new)
done:
  ret %sum
}
; check: linearize-coherent
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 1 divergent; tests: 1 mandatory, 0 chosen
; func @list(%ufirst: ptr, %q: i32) -> i32 phase linearized {
; entry:
;   br head(%ufirst, 0, poison, true)
; head mask %loop:
;   %n: ptr = phi
;   %sum: i32 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %b.p: ptr = getelementptr i8, %n, i64 4
;   %next.p: ptr = getelementptr i8, %n, i64 8
;   %a: i32 = load %n, align 4
;   %b: i32 = load %b.p, align 4
;   %found: i1 = icmp eq %a, %q
;   %v26: i1 = mask_and %loop, %found
;   %v28: i32 = blend %v26, %sum, %out
;   %v29: i1 = mask_andnot %loop, %found
;   %v32: i1 = mask_any %v29
;   br %v32, rest, latch(false, poison, poison)
; rest mask %loop:
;   br go
; go mask %v29:
;   %new: i32 = add %sum, %b
;   %next: ptr = load %next.p, align 8
;   br latch(%v29, %next, %new)
; done:
;   ret %v28
; latch mask %loop:
;   %live: i1 = phi
;   %v37: ptr = phi
;   %v38: i32 = phi
;   %v19: i1 = mask_any %live
;   br %v19, head(%v37, %v38, %v28, %live), dispatch
; dispatch:
;   br done
; }

; A tree with a stack that is popped first: where not all lanes are at one node, those with the most on their stacks go, and the others wait.
func @tree(%unodes: ptr, %q: i32) -> i32 {
entry:
  %stack: ptr = alloca [64 x i32], i32 1, align 4
  store i32 0, %stack, align 4
  br head(1, 0)
head:
  %top: i64 = phi
  %sum: i32 = phi
  %empty: i1 = icmp eq %top, 0
  br %empty, done, pop
pop:
  %down: i64 = add %top, -1
  %slot: ptr = getelementptr i32, %stack, %down
  %node: i32 = load %slot, align 4
  %wide: i64 = zext %node
  %p: ptr = getelementptr [3 x i32], %unodes, %wide
  %b.p: ptr = getelementptr i8, %p, i64 4
  %c.p: ptr = getelementptr i8, %p, i64 8
  %a: i32 = load %p, align 4
  %b: i32 = load %b.p, align 4
  %c: i32 = load %c.p, align 4
  %wanted: i1 = icmp sgt %a, %q
  br %wanted, push, head(%down, %sum)
push:
  %new: i32 = add %sum, %a
  %second: ptr = getelementptr i8, %slot, i64 4
  store %b, %slot, align 4
  store %c, %second, align 4
  %up: i64 = add %top, 1
  br head(%up, %new)
done:
  ret %sum
}
; check: linearize-coherent
; branches: 4 divergent, 2 kept, 0 lost; loops: 0 uniform, 1 divergent; tests: 2 mandatory, 0 chosen
; func @tree(%unodes: ptr, %q: i32) -> i32 phase linearized {
; entry:
;   %stack: ptr = alloca i8, i64 1024, align 16
;   store i32 0, %stack, align 4
;   br head(1, 0, 0, poison, true)
; latch mask %v97:
;   %phi: i64 = phi
;   %v146: i32 = phi
;   br b12(%v97, %phi, %v146, %v70)
; head mask %loop:
;   %top: i64 = phi
;   %sum: i32 = phi
;   %v45: i32 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %empty: i1 = icmp eq %top, 0
;   %v94: i1 = mask_and %loop, %empty
;   %v96: i32 = blend %v94, %sum, %out
;   %v97: i1 = mask_andnot %loop, %empty
;   %v100: i1 = mask_any %v97
;   br %v100, rest, b12(false, poison, poison, poison)
; rest mask %loop:
;   br pop
; pop mask %v97:
;   %down: i64 = add %top, -1
;   %v76: i64 = mul %top, 16
;   %v78: ptr = getelementptr i8, %stack, %v76
;   %slot: ptr = getelementptr i8, %v78, i64 -16
;   %node: i32 = load %slot, align 4
;   %v40: i32 = freeze %node
;   %v42: i32 = first %v40, true
;   %v43: i1 = icmp eq %v40, %v42
;   %v44: i1 = all %v43
;   br %v44, edge, scattered
; apart mask %v97:
;   %wide: i64 = zext %node
;   %p: ptr = getelementptr [3 x i32], %unodes, %wide
;   %b.p: ptr = getelementptr i8, %p, i64 4
;   %c.p: ptr = getelementptr i8, %p, i64 8
;   %a: i32 = load %p, align 4
;   %b: i32 = load %b.p, align 4
;   %c: i32 = load %c.p, align 4
;   %wanted: i1 = icmp sgt %a, %q
;   %v101: i1 = mask_and %v97, %wanted
;   br push
; push mask %v101:
;   %new: i32 = add %sum, %a
;   %second: ptr = getelementptr i8, %slot, i64 16
;   store %b, %slot, align 4
;   store %c, %second, align 4
;   %up: i64 = add %top, 1
;   %v106: i64 = blend %v101, %up, %down
;   %v108: i32 = blend %v101, %new, %sum
;   br latch(%v106, %v108)
; done:
;   ret %v96
; together mask %v127:
;   %v29: i64 = zext %v60
;   %v30: ptr = getelementptr [3 x i32], %unodes, %v29
;   %v31: ptr = getelementptr i8, %v30, i64 4
;   %v32: ptr = getelementptr i8, %v30, i64 8
;   %v33: i32 = load %v30, align 4
;   %v34: i32 = load %v31, align 4
;   %v35: i32 = load %v32, align 4
;   %v36: i1 = icmp sgt %v33, %q
;   %v111: i1 = mask_and %v127, %v36
;   %v114: i1 = mask_andnot %v127, %v36
;   %v116: i64 = blend %v114, %down, %top
;   br b7
; b7 mask %v111:
;   %v37: i32 = add %sum, %v33
;   %v38: ptr = getelementptr i8, %slot, i64 16
;   store %v34, %slot, align 4
;   store %v35, %v38, align 4
;   %v39: i64 = add %top, 1
;   %v122: i64 = blend %v111, %v39, %v116
;   %v124: i32 = blend %v111, %v37, %sum
;   br latch(%v122, %v124)
; scattered mask %v97:
;   %v46: i64 = freeze %top
;   %v47: i64 = reduce_max %v46
;   %v48: i1 = icmp eq %v46, %v47
;   %v49: i32 = first %v40, %v48
;   %v50: i1 = icmp eq %v40, %v49
;   %v51: i32 = popcount %v50
;   %v52: i32 = popcount true
;   %v53: i1 = icmp eq %v52, 0
;   %v54: i32 = select %v53, 1, %v52
;   %v56: i32 = mul %v51, 52
;   %v57: i32 = udiv %v56, %v54
;   %v59: i32 = sub %v57, 108
;   br decided(%v49, %v50, %v59)
; edge mask %v97:
;   br decided(%v42, true, 8)
; decided mask %v97:
;   %v60: i32 = phi
;   %v61: i1 = phi
;   %v63: i32 = phi
;   %v66: i32 = add %v45, %v63
;   %v67: i1 = icmp sge %v66, 0
;   %v68: i1 = icmp sgt %v66, 832
;   %v69: i32 = select %v68, 832, %v66
;   %v70: i32 = select %v67, %v69, %v45
;   br %v67, some, apart
; some mask %v97:
;   %v127: i1 = mask_and %v97, %v61
;   %v137: i1 = mask_any %v127
;   br %v137, b16, latch(%top, %sum)
; b16 mask %v97:
;   br together
; b12 mask %loop:
;   %live: i1 = phi
;   %next: i64 = phi
;   %v141: i32 = phi
;   %v142: i32 = phi
;   %v82: i1 = mask_any %live
;   br %v82, head(%next, %v141, %v142, %v96, %live), dispatch
; dispatch:
;   br done
; }

; Other lanes could see who waits: as it was.
func @seen(%ufirst: ptr, %uout: ptr, %q: i32) -> i32 {
entry:
  br head(%ufirst, 0)
head:
  %n: ptr = phi
  %sum: i32 = phi
  %b.p: ptr = getelementptr i8, %n, i64 4
  %next.p: ptr = getelementptr i8, %n, i64 8
  %a: i32 = load %n, align 4
  %b: i32 = load %b.p, align 4
  %found: i1 = icmp eq %a, %q
  br %found, done, go
go:
  %new: i32 = add %sum, %b
  store %new, %uout, align 4
  %next: ptr = load %next.p, align 8
  br head(%next, %new)
done:
  ret %sum
}
; check: linearize-coherent
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 1 divergent; tests: 1 mandatory, 0 chosen
; func @seen(%ufirst: ptr, %uout: ptr, %q: i32) -> i32 phase linearized {
; entry:
;   br head(%ufirst, 0, poison, true)
; head mask %loop:
;   %n: ptr = phi
;   %sum: i32 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %b.p: ptr = getelementptr i8, %n, i64 4
;   %next.p: ptr = getelementptr i8, %n, i64 8
;   %a: i32 = load %n, align 4
;   %b: i32 = load %b.p, align 4
;   %found: i1 = icmp eq %a, %q
;   %v27: i1 = mask_and %loop, %found
;   %v29: i32 = blend %v27, %sum, %out
;   %v30: i1 = mask_andnot %loop, %found
;   %v33: i1 = mask_any %v30
;   br %v33, rest, latch(false, poison, poison)
; rest mask %loop:
;   br go
; go mask %v30:
;   %new: i32 = add %sum, %b
;   store %new, %uout, align 4
;   %next: ptr = load %next.p, align 8
;   br latch(%v30, %next, %new)
; done:
;   ret %v29
; latch mask %loop:
;   %live: i1 = phi
;   %v38: ptr = phi
;   %v39: i32 = phi
;   %v20: i1 = mask_any %live
;   br %v20, head(%v38, %v39, %v29, %live), dispatch
; dispatch:
;   br done
; }
