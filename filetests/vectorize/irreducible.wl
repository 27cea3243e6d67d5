; test: linearize

; Lanes enter the loop at `a` or at `b`. A new header would cost a φ and a branch with two ends; to copy `b` costs less.
func @small_side_is_copied(%c: i1, %x: i32) -> i32 {
entry:
  br %c, a(0), b
a:
  %k: i32 = phi
  %k1: i32 = add %k, 1
  %more: i1 = icmp ult %k1, %x
  br %more, b, out
b:
  br a(%x)
out:
  ret %k1
}
; check: linearize
; branches: 2 divergent, 0 kept, 0 lost; loops: 0 uniform, 1 divergent
; func @small_side_is_copied(%c: i1, %x: i32) -> i32 phase linearized {
; entry:
;   %v20: i1 = mask_andnot true, %c
;   br b4
; preheader:
;   br a(%v32, poison, true)
; a mask %loop:
;   %k: i32 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %k1: i32 = add %k, 1
;   %more: i1 = icmp ult %k1, %x
;   %v23: i1 = mask_and %loop, %more
;   %v26: i1 = mask_andnot %loop, %more
;   %v28: i32 = blend %v26, %k1, %out
;   br b
; b mask %v23:
;   br latch
; out:
;   ret %v28
; b4 mask %v20:
;   %v32: i32 = blend %v20, %x, 0
;   br preheader
; latch mask %loop:
;   %v12: i1 = mask_any %v23
;   br %v12, a(%x, %v28, %v23), dispatch
; dispatch:
;   br out
; }

; Both sides are larger than a new header.
func @large_sides_get_a_header(%c: i1, %x: i32, %p: ptr) -> i32 {
entry:
  br %c, a(1), b(2)
a:
  %i: i32 = phi
  %i1: i32 = add %i, 3
  %i2: i32 = mul %i1, %x
  %i3: i32 = xor %i2, %i
  %go: i1 = icmp ult %i3, 1000
  br %go, b(%i3), out(%i3)
b:
  %j: i32 = phi
  %j1: i32 = mul %j, 5
  %j2: i32 = add %j1, %x
  %j3: i32 = xor %j2, %j1
  %on: i1 = icmp ult %j3, 2000
  br %on, a(%j3), out(%j3)
out:
  %r: i32 = phi
  ret %r
}
; check: linearize
; branches: 4 divergent, 0 kept, 0 lost; loops: 0 uniform, 1 divergent
; func @large_sides_get_a_header(%c: i1, %x: i32, %p: ptr) -> i32 phase linearized {
; entry:
;   %v41: i1 = mask_andnot true, %c
;   br edge
; edge mask %v41:
;   %v45: i1 = blend %v41, false, true
;   br preheader
; preheader:
;   br entries(%v45, 1, poison, true)
; entries mask %loop:
;   %v21: i1 = phi
;   %v22: i32 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %v46: i1 = mask_and %loop, %v21
;   %v49: i1 = mask_andnot %loop, %v21
;   br a
; a mask %v46:
;   %i1: i32 = add %v22, 3
;   %i2: i32 = mul %i1, %x
;   %i3: i32 = xor %i2, %v22
;   %go: i1 = icmp ult %i3, 1000
;   %v52: i1 = mask_and %v46, %go
;   %v54: i1 = mask_or %v49, %v52
;   %v56: i32 = blend %v52, %i3, 2
;   %v57: i1 = mask_andnot %v46, %go
;   %v59: i32 = blend %v57, %i3, %out
;   br b
; b mask %v54:
;   %j1: i32 = mul %v56, 5
;   %j2: i32 = add %j1, %x
;   %j3: i32 = xor %j2, %j1
;   %on: i1 = icmp ult %j3, 2000
;   %v60: i1 = mask_and %v54, %on
;   %v63: i1 = mask_andnot %v54, %on
;   %v65: i32 = blend %v63, %j3, %v59
;   br latch
; out:
;   ret %v65
; latch mask %loop:
;   %v32: i1 = mask_any %v60
;   br %v32, entries(true, %j3, %v65, %v60), dispatch
; dispatch:
;   br out
; }

; All lanes enter at the same place: the branch of the new header is uniform.
func @uniform_entry(%u: i1, %x: i32, %uc: i32) -> i32 {
entry:
  br %u, a(1), b(2)
a:
  %i: i32 = phi
  %i1: i32 = add %i, 3
  %i2: i32 = mul %i1, 7
  %i3: i32 = xor %i2, %i
  %go: i1 = icmp ult %i3, %uc
  br %go, b(%i3), out(%i3)
b:
  %j: i32 = phi
  %j1: i32 = mul %j, 5
  %j2: i32 = add %j1, 9
  %j3: i32 = xor %j2, %j1
  %on: i1 = icmp ult %j3, %uc
  br %on, a(%j3), out(%j3)
out:
  %r: i32 = phi
  %s: i32 = add %r, %x
  ret %s
}
; check: linearize
; branches: 0 divergent, 4 kept, 0 lost; loops: 1 uniform, 0 divergent
; func @uniform_entry(%u: i1, %x: i32, %uc: i32) -> i32 phase linearized {
; entry:
;   br %u, b7, edge
; edge:
;   br preheader(false)
; b7:
;   br preheader(true)
; preheader:
;   %v28: i1 = phi
;   br entries(%v28, 1)
; entries:
;   %v22: i1 = phi
;   %v23: i32 = phi
;   br %v22, a, b8
; a:
;   %i1: i32 = add %v23, 3
;   %i2: i32 = mul %i1, 7
;   %i3: i32 = xor %i2, %v23
;   %go: i1 = icmp ult %i3, %uc
;   br %go, b9, b10
; b8:
;   br b(2)
; b9:
;   br b(%i3)
; b:
;   %j: i32 = phi
;   %j1: i32 = mul %j, 5
;   %j2: i32 = add %j1, 9
;   %j3: i32 = xor %j2, %j1
;   %on: i1 = icmp ult %j3, %uc
;   br %on, entries(true, %j3), b11
; b10:
;   br out(%i3)
; b11:
;   br out(%j3)
; out:
;   %r: i32 = phi
;   %s: i32 = add %r, %x
;   ret %s
; }

; `%v` is used behind the loop: original and copy of `b` both define it.
func @value_of_the_copied_side_used_behind(%c: i1, %x: i32) -> i32 {
entry:
  br %c, a(0, 1, 2), b(3)
a:
  %k: i32 = phi
  %l: i32 = phi
  %m: i32 = phi
  %k1: i32 = add %k, %l
  %k2: i32 = add %k1, %m
  br b(%k2)
b:
  %n: i32 = phi
  %v: i32 = mul %n, %x
  %more: i1 = icmp ult %v, 100
  br %more, a(%v, %n, 1), out
out:
  %r: i32 = add %v, %n
  ret %r
}
; check: linearize
; branches: 3 divergent, 0 kept, 0 lost; loops: 0 uniform, 1 divergent; tests: 1 mandatory, 0 chosen
; func @value_of_the_copied_side_used_behind(%c: i1, %x: i32) -> i32 phase linearized {
; entry:
;   %v44: i1 = mask_andnot true, %c
;   br b4
; preheader mask %v61:
;   %v70: i1 = mask_any %v61
;   br %v70, guarded, out(3, %v18)
; guarded mask %v61:
;   br a(%v63, %v65, %v67, poison, poison, %v61)
; a mask %loop:
;   %k: i32 = phi
;   %l: i32 = phi
;   %m: i32 = phi
;   %out: i32 = phi
;   %v72: i32 = phi
;   %loop: i1 = phi
;   %k1: i32 = add %k, %l
;   %k2: i32 = add %k1, %m
;   br b
; b mask %loop:
;   %v: i32 = mul %k2, %x
;   %more: i1 = icmp ult %v, 100
;   %v47: i1 = mask_and %loop, %more
;   %v50: i1 = mask_andnot %loop, %more
;   %v52: i32 = blend %v50, %k2, %out
;   %v54: i32 = blend %v50, %v, %v72
;   br latch
; loop.exit mask %v61:
;   %v56: i32 = blend %v61, %v52, 3
;   %v58: i32 = blend %v61, %v54, %v18
;   br out(%v56, %v58)
; out:
;   %phi: i32 = phi
;   %v75: i32 = phi
;   %r: i32 = add %v75, %phi
;   ret %r
; b4 mask %v44:
;   %v18: i32 = mul 3, %x
;   %v19: i1 = icmp ult %v18, 100
;   %v59: i1 = mask_and %v44, %v19
;   %v61: i1 = mask_or %c, %v59
;   %v63: i32 = blend %v59, %v18, 0
;   %v65: i32 = blend %v59, 3, 1
;   %v67: i32 = blend %v59, 1, 2
;   br preheader
; latch mask %loop:
;   %v32: i1 = mask_any %v47
;   br %v32, a(%v, %k2, 1, %v52, %v54, %v47), dispatch
; dispatch mask %v61:
;   br loop.exit
; }

; Three entries, one of them by parallel edges with different operands.
func @three_entries(%c: i32, %x: i32) -> i32 {
entry:
  switch %c, a(1) [0: b(2), 1: b(3), 2: d]
a:
  %i: i32 = phi
  %i1: i32 = add %i, %x
  %ca: i1 = icmp ult %i1, 50
  br %ca, b(%i1), out(%i1)
b:
  %j: i32 = phi
  %j1: i32 = mul %j, 3
  %cb: i1 = icmp ult %j1, %x
  br %cb, d, a(%j1)
d:
  br a(7)
out:
  %r: i32 = phi
  ret %r
}
; check: linearize
; branches: 4 divergent, 0 kept, 0 lost; loops: 0 uniform, 1 divergent
; func @three_entries(%c: i32, %x: i32) -> i32 phase linearized {
; entry:
;   %v33: i1 = icmp eq %c, 0
;   %v34: i1 = icmp eq %c, 1
;   %v35: i1 = icmp eq %c, 2
;   %v36: i1 = or %v33, %v34
;   %v37: i1 = or %v36, %v35
;   %v39: i1 = icmp eq %c, 0
;   %v43: i1 = icmp eq %c, 1
;   %v47: i1 = icmp eq %c, 2
;   br edge
; latch mask %v53:
;   br b10
; preheader:
;   br a(%v76, poison, true)
; a mask %loop:
;   %i: i32 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %i1: i32 = add %i, %x
;   %ca: i1 = icmp ult %i1, 50
;   %v53: i1 = mask_and %loop, %ca
;   %v56: i1 = mask_andnot %loop, %ca
;   %v58: i32 = blend %v56, %i1, %out
;   br b
; b mask %v53:
;   %j1: i32 = mul %i1, 3
;   %cb: i1 = icmp ult %j1, %x
;   %v59: i1 = mask_and %v53, %cb
;   br d
; d mask %v59:
;   %v64: i32 = blend %v59, 7, %j1
;   br latch
; out:
;   ret %v58
; edge mask %v43:
;   %v66: i1 = mask_or %v39, %v43
;   %v68: i32 = blend %v43, 3, 2
;   br b5
; b5 mask %v66:
;   %v16: i32 = mul %v68, 3
;   %v17: i1 = icmp ult %v16, %x
;   %v69: i1 = mask_and %v66, %v17
;   %v71: i1 = mask_or %v47, %v69
;   %v72: i1 = mask_andnot %v66, %v17
;   %v74: i32 = blend %v72, %v16, 1
;   br b6
; b6 mask %v71:
;   %v76: i32 = blend %v71, 7, %v74
;   br preheader
; b10 mask %loop:
;   %v22: i1 = mask_any %v53
;   br %v22, a(%v64, %v58, %v53), dispatch
; dispatch:
;   br out
; }

; An irreducible loop in an irreducible loop, and a jump from outside of both into the inner one.
func @nested(%c: i32, %x: i32) -> i32 {
entry:
  switch %c, a(1) [0: b(2), 1: in1(5), 2: in2(6)]
a:
  %i: i32 = phi
  %i1: i32 = add %i, %x
  %i2: i32 = mul %i1, %i
  %i3: i32 = xor %i2, %x
  br in1(%i3)
in1:
  %k: i32 = phi
  %k1: i32 = add %k, 11
  %k2: i32 = mul %k1, %k
  %k3: i32 = xor %k2, %x
  %ck: i1 = icmp ult %k3, 50
  br %ck, in2(%k3), b(%k1)
in2:
  %l: i32 = phi
  %l1: i32 = add %l, 13
  %l2: i32 = mul %l1, %l
  %l3: i32 = xor %l2, %x
  %cl: i1 = icmp ult %l3, 60
  br %cl, in1(%l3), b(%l1)
b:
  %j: i32 = phi
  %j1: i32 = mul %j, 3
  %j2: i32 = mul %j1, %j
  %j3: i32 = xor %j2, %x
  %cb: i1 = icmp ult %j3, %x
  br %cb, a(%j3), out
out:
  ret %j3
}
; check: linearize
; branches: 6 divergent, 0 kept, 0 lost; loops: 0 uniform, 2 divergent; tests: 1 mandatory, 0 chosen
; func @nested(%c: i32, %x: i32) -> i32 phase linearized {
; entry:
;   %v77: i1 = icmp eq %c, 0
;   %v78: i1 = icmp eq %c, 1
;   %v79: i1 = icmp eq %c, 2
;   %v80: i1 = or %v77, %v78
;   %v81: i1 = or %v80, %v79
;   %v83: i1 = icmp eq %c, 0
;   %v87: i1 = icmp eq %c, 1
;   %v91: i1 = icmp eq %c, 2
;   br b10
; edge mask %v83:
;   %v96: i32 = blend %v83, 1, %v98
;   br preheader
; b9 mask %v87:
;   %v98: i32 = blend %v87, 2, %v100
;   br edge
; b10 mask %v91:
;   %v100: i32 = blend %v91, 3, 0
;   br b9
; preheader:
;   br entries(%v96, 1, poison, true)
; entries mask %loop:
;   %v31: i32 = phi
;   %v32: i32 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %v101: i1 = icmp eq %v31, 1
;   %v102: i1 = icmp eq %v31, 2
;   %v103: i1 = icmp eq %v31, 3
;   %v104: i1 = or %v101, %v102
;   %v105: i1 = or %v104, %v103
;   %v106: i1 = mask_andnot %loop, %v105
;   %v109: i1 = icmp eq %v31, 1
;   %v111: i1 = icmp eq %v31, 2
;   %v112: i1 = mask_and %loop, %v111
;   %v115: i1 = icmp eq %v31, 3
;   %v116: i1 = mask_and %loop, %v115
;   br b11
; a mask %v106:
;   %i1: i32 = add %v32, %x
;   %i2: i32 = mul %i1, %v32
;   %i3: i32 = xor %i2, %x
;   %v120: i1 = mask_or %v126, %v106
;   %v122: i1 = blend %v106, true, %v128
;   %v124: i32 = blend %v106, %i3, 5
;   br b13
; b11 mask %v116:
;   %v126: i1 = mask_or %v112, %v116
;   %v128: i1 = blend %v116, false, true
;   br a
; b13 mask %v120:
;   %v159: i1 = mask_any %v120
;   br %v159, guarded, b(2)
; guarded mask %v120:
;   br b7(%v122, %v124, poison, %v120)
; b7 mask %v163:
;   %v37: i1 = phi
;   %v38: i32 = phi
;   %v160: i32 = phi
;   %v163: i1 = phi
;   %v129: i1 = mask_and %v163, %v37
;   %v132: i1 = mask_andnot %v163, %v37
;   br in1
; in1 mask %v129:
;   %k1: i32 = add %v38, 11
;   %k2: i32 = mul %k1, %v38
;   %k3: i32 = xor %k2, %x
;   %ck: i1 = icmp ult %k3, 50
;   %v135: i1 = mask_and %v129, %ck
;   %v137: i1 = mask_or %v132, %v135
;   %v139: i32 = blend %v135, %k3, 6
;   %v140: i1 = mask_andnot %v129, %ck
;   %v142: i32 = blend %v140, %k1, %v160
;   br in2
; in2 mask %v137:
;   %l1: i32 = add %v139, 13
;   %l2: i32 = mul %l1, %v139
;   %l3: i32 = xor %l2, %x
;   %cl: i1 = icmp ult %l3, 60
;   %v143: i1 = mask_and %v137, %cl
;   %v146: i1 = mask_andnot %v137, %cl
;   %v148: i32 = blend %v146, %l1, %v142
;   br latch
; loop.exit mask %v120:
;   %v150: i32 = blend %v120, %v148, 2
;   br b(%v150)
; b mask %loop:
;   %phi: i32 = phi
;   %j1: i32 = mul %phi, 3
;   %j2: i32 = mul %j1, %phi
;   %j3: i32 = xor %j2, %x
;   %cb: i1 = icmp ult %j3, %x
;   %v151: i1 = mask_and %loop, %cb
;   %v154: i1 = mask_andnot %loop, %cb
;   %v156: i32 = blend %v154, %j3, %out
;   br b17
; out:
;   ret %v156
; latch mask %v163:
;   %v55: i1 = mask_any %v143
;   br %v55, b7(true, %l3, %v148, %v143), dispatch
; dispatch mask %v120:
;   br loop.exit
; b17 mask %loop:
;   %v61: i1 = mask_any %v151
;   br %v61, entries(0, %j3, %v156, %v151), b18
; b18:
;   br out
; }

; Which lanes are together in `b` is not defined.
func @asks_other_lanes(%c: i1, %x: i32) -> i32 {
entry:
  br %c, a(0), b
a:
  %k: i32 = phi
  %k1: i32 = add %k, 1
  %more: i1 = icmp ult %k1, %x
  br %more, b, out
b:
  %any: i1 = any %c
  %n: i32 = select %any, 1, 2
  br a(%n)
out:
  ret %k1
}
; check: linearize
; error: function `asks_other_lanes`, `%any = any`: a loop that is entered at several places must not ask about other lanes: which lanes are together there is not defined; enter the loop at one place
