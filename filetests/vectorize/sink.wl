; test: linearize

; Stores to one address at the ends of all ways to a block. Parameters that begin with `u` are uniform.

; Behind a cascade, lanes that took one way or the other store together; what is stored is still computed where it is wanted.
func @cascade(%x: float, %i: i64, %uout: ptr, %ulogs: ptr) {
entry:
  %high: i1 = fcmp ogt %x, 0.5
  br %high, one, other
one:
  %l: float = load %ulogs, align 4
  %a: float = fdiv %l, %x
  %p: ptr = getelementptr float, %uout, %i
  store %a, %p, align 4
  br join
other:
  %low: i1 = fcmp olt %x, 0.25
  br %low, two, three
two:
  %b: float = fdiv %x, 3.0
  %p2: ptr = getelementptr float, %uout, %i
  store %b, %p2, align 4
  br inner
three:
  %c: float = fadd %x, %x
  %p3: ptr = getelementptr float, %uout, %i
  store %c, %p3, align 2
  br inner
inner:
  br join
join:
  ret
}
; check: linearize
; branches: 2 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @cascade(%x: float, %i: i64, %uout: ptr, %ulogs: ptr) phase linearized {
; entry:
;   %high: i1 = fcmp ogt %x, 0.5
;   %v30: i1 = mask_andnot true, %high
;   %v33: i1 = mask_any %high
;   br %v33, rest, other(poison)
; rest:
;   br one
; one mask %high:
;   %l: float = load %ulogs, align 4
;   %a: float = fdiv %l, %x
;   %p: ptr = getelementptr float, %uout, %i
;   br other(%a)
; other mask %v30:
;   %phi: float = phi
;   %low: i1 = fcmp olt %x, 0.25
;   %v34: i1 = mask_and %v30, %low
;   %v37: i1 = mask_andnot %v30, %low
;   br three
; two mask %v34:
;   %b: float = fdiv %x, 3.0
;   %p2: ptr = getelementptr float, %uout, %i
;   %v41: float = blend %v34, %b, %c
;   br inner
; three mask %v37:
;   %c: float = fadd %x, %x
;   %p3: ptr = getelementptr float, %uout, %i
;   br two
; inner mask %v30:
;   %v18: ptr = getelementptr float, %uout, %i
;   %v43: float = blend %v30, %v41, %phi
;   br join
; join:
;   %v20: ptr = getelementptr float, %uout, %i
;   store %v43, %v20, align 2
;   ret
; }

; Two stores, in their order. What is frozen twice may be two numbers.
func @two(%x: i32, %n: i32, %uout: ptr) {
entry:
  %positive: i1 = icmp sgt %x, 0
  br %positive, yes, no
yes:
  %y: i32 = udiv 100, %x
  %q: ptr = getelementptr i32, %uout, %n
  store %x, %q, align 4
  %q1: ptr = getelementptr i32, %q, i32 1
  store %y, %q1, align 4
  br join
no:
  %z: i32 = mul %x, %n
  %r: ptr = getelementptr i32, %uout, %n
  store %z, %r, align 4
  %r1: ptr = getelementptr i32, %r, i32 1
  store %n, %r1, align 4
  br join
join:
  %again: i1 = icmp sgt %n, 0
  br %again, more, less
more:
  %f: i32 = freeze %n
  %w: i32 = udiv 7, %n
  %g: ptr = getelementptr i32, %uout, %f
  store %w, %g, align 4
  br end
less:
  %f2: i32 = freeze %n
  %g2: ptr = getelementptr i32, %uout, %f2
  store i32 3, %g2, align 4
  br end
end:
  ret
}
; check: linearize
; branches: 2 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @two(%x: i32, %n: i32, %uout: ptr) phase linearized {
; entry:
;   %positive: i1 = icmp sgt %x, 0
;   %v36: i1 = mask_andnot true, %positive
;   br no
; yes mask %positive:
;   %y: i32 = udiv 100, %x
;   %q: ptr = getelementptr i32, %uout, %n
;   %q1: ptr = getelementptr i32, %q, i32 1
;   %v40: i32 = blend %positive, %y, %n
;   %v42: i32 = blend %positive, %x, %z
;   br join
; no mask %v36:
;   %z: i32 = mul %x, %n
;   %r: ptr = getelementptr i32, %uout, %n
;   %r1: ptr = getelementptr i32, %r, i32 1
;   br yes
; join:
;   %v26: ptr = getelementptr i32, %uout, %n
;   store %v42, %v26, align 4
;   %v23: ptr = getelementptr i32, %uout, %n
;   %v24: ptr = getelementptr i32, %v23, i32 1
;   store %v40, %v24, align 4
;   %again: i1 = icmp sgt %n, 0
;   %v46: i1 = mask_andnot true, %again
;   br less
; more mask %again:
;   %f: i32 = freeze %n
;   %w: i32 = udiv 7, %n
;   %g: ptr = getelementptr i32, %uout, %f
;   store %w, %g, align 4
;   br end
; less mask %v46:
;   %f2: i32 = freeze %n
;   %g2: ptr = getelementptr i32, %uout, %f2
;   store i32 3, %g2, align 4
;   br more
; end:
;   ret
; }

; Each way ends in another store, or in one that must not be moved.
func @kept(%x: i32, %i: i64, %uout: ptr, %uother: ptr) -> i32 {
entry:
  %positive: i1 = icmp sgt %x, 0
  br %positive, yes, no
yes:
  %y: i32 = udiv 100, %x
  %q: ptr = getelementptr i32, %uout, %i
  store %y, %q, align 4
  %seen: i32 = load %uother, align 4
  br join(%seen)
no:
  %r: ptr = getelementptr i32, %uout, %i
  store %x, %r, align 4
  br join(0)
join:
  %m: i32 = phi
  %odd: i1 = icmp eq %x, 3
  br %odd, three, other
three:
  %d: i32 = udiv 5, %x
  %s: ptr = getelementptr i32, %uout, %i
  store %d, %s, align 4
  br end
other:
  %t: ptr = getelementptr i32, %uother, %i
  store %x, %t, align 4
  br end
end:
  ret %m
}
; check: linearize
; branches: 2 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @kept(%x: i32, %i: i64, %uout: ptr, %uother: ptr) -> i32 phase linearized {
; entry:
;   %positive: i1 = icmp sgt %x, 0
;   %v28: i1 = mask_andnot true, %positive
;   %v31: i1 = mask_any %positive
;   br %v31, rest, no(poison)
; rest:
;   br yes
; yes mask %positive:
;   %y: i32 = udiv 100, %x
;   %q: ptr = getelementptr i32, %uout, %i
;   store %y, %q, align 4
;   %seen: i32 = load %uother, align 4
;   br no(%seen)
; no mask %v28:
;   %phi: i32 = phi
;   %r: ptr = getelementptr i32, %uout, %i
;   store %x, %r, align 4
;   %v33: i32 = blend %v28, 0, %phi
;   br join
; join:
;   %odd: i1 = icmp eq %x, 3
;   %v37: i1 = mask_andnot true, %odd
;   br other
; three mask %odd:
;   %d: i32 = udiv 5, %x
;   %s: ptr = getelementptr i32, %uout, %i
;   store %d, %s, align 4
;   br end
; other mask %v37:
;   %t: ptr = getelementptr i32, %uother, %i
;   store %x, %t, align 4
;   br three
; end:
;   ret %v33
; }
