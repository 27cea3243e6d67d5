; test: linearize

; Construct by construct: what is uniform stays a branch, in divergent code too. Parameters that begin with `u` are uniform.

; `if (u && v)`: the branch on `u` stays, that on `v` is folded.
func @uniform_and_varying(%u: i1, %v: i1, %p: ptr) {
entry:
  br %u, second, out
second:
  br %v, then, out
then:
  store i32 1, %p, align 4
  br out
out:
  ret
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @uniform_and_varying(%u: i1, %v: i1, %p: ptr) phase linearized {
; entry:
;   br %u, second, edge
; second:
;   br then
; then mask %v:
;   store i32 1, %p, align 4
;   br out
; edge:
;   br out
; out:
;   ret
; }

; A uniform `if` in a divergent one.
func @uniform_if_in_divergent_if(%v: i1, %u: i1, %p: ptr) {
entry:
  br %v, then, out
then:
  br %u, a, b
a:
  store i32 1, %p, align 4
  br out
b:
  store i32 2, %p, align 4
  br out
out:
  ret
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @uniform_if_in_divergent_if(%v: i1, %u: i1, %p: ptr) phase linearized {
; entry:
;   %v11: i1 = mask_any %v
;   br %v11, rest, out
; rest:
;   br then
; then mask %v:
;   br %u, a, b
; a mask %v:
;   store i32 1, %p, align 4
;   br out
; b mask %v:
;   store i32 2, %p, align 4
;   br out
; out:
;   ret
; }

; A uniform loop with `break` and `continue` on uniform conditions, in divergent code.
func @uniform_loop_in_divergent_if(%v: i1, %un: i32, %ubreak: i32, %p: ptr) {
entry:
  br %v, head(0), out
head:
  %k: i32 = phi
  %more: i1 = icmp ult %k, %un
  br %more, body, out
body:
  %stop: i1 = icmp eq %k, %ubreak
  br %stop, out, rest
rest:
  %odd: i1 = icmp eq %k, 3
  br %odd, next, work
work:
  store %k, %p, align 4
  br next
next:
  %k1: i32 = add %k, 1
  br head(%k1)
out:
  ret
}
; check: linearize
; branches: 1 divergent, 3 kept, 0 lost; loops: 1 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @uniform_loop_in_divergent_if(%v: i1, %un: i32, %ubreak: i32, %p: ptr) phase linearized {
; entry:
;   %v20: i1 = mask_any %v
;   br %v20, rest, out
; rest:
;   br preheader
; preheader mask %v:
;   br head(0)
; head mask %v:
;   %k: i32 = phi
;   %more: i1 = icmp ult %k, %un
;   br %more, body, b9
; body mask %v:
;   %stop: i1 = icmp eq %k, %ubreak
;   br %stop, b10, b3
; b3 mask %v:
;   %odd: i1 = icmp eq %k, 3
;   br %odd, edge, work
; work mask %v:
;   store %k, %p, align 4
;   br next
; edge mask %v:
;   br next
; next mask %v:
;   %k1: i32 = add %k, 1
;   br head(%k1)
; b9 mask %v:
;   br loop.exit
; b10 mask %v:
;   br loop.exit
; loop.exit mask %v:
;   br out
; out:
;   ret
; }

; A uniform switch in divergent code, two of its edges in parallel.
func @uniform_switch_in_divergent_if(%v: i1, %us: i32, %p: ptr) {
entry:
  br %v, then, out
then:
  switch %us, out [0: a, 1: b, 2: a]
a:
  store i32 1, %p, align 4
  br out
b:
  store i32 2, %p, align 4
  br out
out:
  ret
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @uniform_switch_in_divergent_if(%v: i1, %us: i32, %p: ptr) phase linearized {
; entry:
;   %v11: i1 = mask_any %v
;   br %v11, rest, out
; rest:
;   br then
; then mask %v:
;   switch %us, b5 [0: edge, 1: b, 2: b7]
; edge mask %v:
;   br a
; b7 mask %v:
;   br a
; a mask %v:
;   store i32 1, %p, align 4
;   br out
; b mask %v:
;   store i32 2, %p, align 4
;   br out
; b5 mask %v:
;   br out
; out:
;   ret
; }

; A divergent switch: parallel edges with the same and with different operands.
func @divergent_switch(%s: i32, %p: ptr) -> i32 {
entry:
  switch %s, out(0) [0: a, 1: b, 2: a, 3: out(7)]
a:
  store i32 1, %p, align 4
  br out(1)
b:
  store i32 2, %p, align 4
  br out(2)
out:
  %r: i32 = phi
  ret %r
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @divergent_switch(%s: i32, %p: ptr) -> i32 phase linearized {
; entry:
;   %v13: i1 = icmp eq %s, 0
;   %v14: i1 = icmp eq %s, 1
;   %v15: i1 = icmp eq %s, 2
;   %v17: i1 = icmp eq %s, 3
;   %v18: i1 = or %v13, %v14
;   %v19: i1 = or %v18, %v15
;   %v20: i1 = or %v19, %v17
;   %v22: i1 = icmp eq %s, 0
;   %v26: i1 = icmp eq %s, 1
;   %v30: i1 = icmp eq %s, 2
;   %v33: i1 = mask_or %v22, %v30
;   %v34: i1 = icmp eq %s, 3
;   br edge
; a mask %v33:
;   store i32 1, %p, align 4
;   %v39: i32 = blend %v33, 1, %v41
;   br out
; b mask %v26:
;   store i32 2, %p, align 4
;   %v41: i32 = blend %v26, 2, %v43
;   br a
; edge mask %v34:
;   %v43: i32 = blend %v34, 7, 0
;   br b
; out:
;   ret %v39
; }

; A uniform return out of a divergent loop: a kill exit, that stays a branch.
func @kill_exit(%n: i32, %u: ptr, %p: ptr) -> i32 {
entry:
  br head(0)
head:
  %k: i32 = phi
  %more: i1 = icmp ult %k, %n
  br %more, body, done
body:
  store %k, %p, align 4
  %stop: i1 = icmp eq %k, 100
  br %stop, killed, next
next:
  %k1: i32 = add %k, 1
  br head(%k1)
killed:
  ret -1
done:
  ret %k
}
; check: linearize
; branches: 1 divergent, 1 kept, 0 lost; loops: 0 uniform, 1 divergent; tests: 1 mandatory, 0 chosen
; func @kill_exit(%n: i32, %u: ptr, %p: ptr) -> i32 phase linearized {
; entry:
;   br head(0, false, false, poison, true)
; head mask %loop:
;   %k: i32 = phi
;   %exit: i1 = phi
;   %v50: i1 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %more: i1 = icmp ult %k, %n
;   %v25: i1 = mask_and %loop, %more
;   %v28: i1 = mask_andnot %loop, %more
;   %v30: i32 = blend %v28, %k, %out
;   %v32: i1 = mask_or %exit, %v28
;   %v33: i1 = mask_any %v25
;   br %v33, rest, latch(false, poison, %v50)
; rest mask %loop:
;   br body
; body mask %v25:
;   store %k, %p, align 4
;   %stop: i1 = icmp eq %k, 100
;   br %stop, edge, next
; next mask %v25:
;   %k1: i32 = add %k, 1
;   br latch(%v25, %k1, %v50)
; killed mask %v44:
;   br done
; done mask %v32:
;   %v37: i32 = blend %v32, %v30, -1
;   br exit
; exit:
;   ret %v37
; edge mask %v25:
;   %v39: i1 = mask_or %v50, %v25
;   br latch(false, poison, %v39)
; latch mask %loop:
;   %live: i1 = phi
;   %next: i32 = phi
;   %v51: i1 = phi
;   %v17: i1 = mask_any %live
;   br %v17, head(%next, %v32, %v51, %v30, %live), dispatch
; dispatch:
;   %v44: i1 = mask_andnot true, %v32
;   br b9
; b9 mask %v44:
;   br killed
; }

; `break`, `continue` and `return` on varying conditions, out of two loops.
func @varying_exits(%n: i32, %x: i32, %um: i32, %p: ptr) -> i32 {
entry:
  br outer(0)
outer:
  %i: i32 = phi
  %again: i1 = icmp ult %i, %um
  br %again, inner(0), done
inner:
  %j: i32 = phi
  %cj: i1 = icmp ult %j, %n
  br %cj, body, next
body:
  %s: i32 = add %i, %j
  %leave: i1 = icmp eq %s, %x
  br %leave, found, go
go:
  %skip: i1 = icmp eq %j, %x
  br %skip, next, work
work:
  store %s, %p, align 4
  %j1: i32 = add %j, 1
  br inner(%j1)
next:
  %i1: i32 = add %i, 1
  br outer(%i1)
found:
  ret %s
done:
  ret -1
}
; check: linearize
; branches: 3 divergent, 1 kept, 0 lost; loops: 0 uniform, 2 divergent
; func @varying_exits(%n: i32, %x: i32, %um: i32, %p: ptr) -> i32 phase linearized {
; entry:
;   br outer(0, false, false, poison, true)
; outer mask %loop:
;   %i: i32 = phi
;   %exit: i1 = phi
;   %v94: i1 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %again: i1 = icmp ult %i, %um
;   br %again, preheader, edge
; preheader mask %loop:
;   br inner(0, false, false, poison, %loop)
; inner mask %v99:
;   %j: i32 = phi
;   %v87: i1 = phi
;   %v88: i1 = phi
;   %v89: i32 = phi
;   %v99: i1 = phi
;   %cj: i1 = icmp ult %j, %n
;   %v41: i1 = mask_and %v99, %cj
;   %v44: i1 = mask_andnot %v99, %cj
;   %v46: i1 = mask_or %v87, %v44
;   br body
; body mask %v41:
;   %s: i32 = add %i, %j
;   %leave: i1 = icmp eq %s, %x
;   %v47: i1 = mask_and %v41, %leave
;   %v49: i32 = blend %v47, %s, %v89
;   %v51: i1 = mask_or %v88, %v47
;   %v52: i1 = mask_andnot %v41, %leave
;   br go
; go mask %v52:
;   %skip: i1 = icmp eq %j, %x
;   %v55: i1 = mask_and %v52, %skip
;   %v57: i1 = mask_or %v46, %v55
;   %v58: i1 = mask_andnot %v52, %skip
;   br work
; work mask %v58:
;   store %s, %p, align 4
;   %j1: i32 = add %j, 1
;   br latch
; next mask %v68:
;   %i1: i32 = add %i, 1
;   br b14(%v68, %i1, %exit, %v77, %v75)
; found mask %v84:
;   br done
; done mask %v93:
;   %v66: i32 = blend %v93, -1, %v97
;   br exit
; exit:
;   ret %v66
; latch mask %v99:
;   %v23: i1 = mask_any %v58
;   br %v23, inner(%j1, %v57, %v51, %v49, %v58), dispatch
; dispatch mask %loop:
;   %v68: i1 = mask_and %loop, %v57
;   %v71: i1 = mask_andnot %loop, %v57
;   br b13
; b13 mask %v71:
;   %v75: i32 = blend %v71, %v49, %out
;   %v77: i1 = mask_or %v94, %v71
;   br next
; edge mask %loop:
;   %v79: i1 = mask_or %exit, %loop
;   br b14(false, poison, %v79, %v94, %out)
; b14 mask %loop:
;   %live: i1 = phi
;   %next: i32 = phi
;   %v93: i1 = phi
;   %v95: i1 = phi
;   %v97: i32 = phi
;   %v28: i1 = mask_any %live
;   br %v28, outer(%next, %v93, %v95, %v97, %live), b15
; b15:
;   %v84: i1 = mask_andnot true, %v93
;   br b16
; b16 mask %v84:
;   br found
; }

; A loop without exit, entered by the lanes for which `%v` holds only.
func @endless_for_some(%v: i1, %p: ptr) {
entry:
  br %v, spin, out
spin:
  store volatile i32 1, %p, align 4
  br spin
out:
  ret
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 1 uniform, 0 divergent; tests: 1 mandatory, 0 chosen
; func @endless_for_some(%v: i1, %p: ptr) phase linearized {
; entry:
;   %v10: i1 = mask_andnot true, %v
;   %v13: i1 = mask_any %v
;   br %v13, rest, out
; rest:
;   br preheader
; latch mask %v:
;   br true, spin, loop.exit
; preheader mask %v:
;   br spin
; spin mask %v:
;   store volatile i32 1, %p, align 4
;   br latch
; out mask %v10:
;   br exit
; loop.exit mask %v:
;   br out
; exit:
;   ret
; }

; `unreachable` is never reached, so the branch to it is none.
func @unreachable_default(%s: i32, %p: ptr) -> i32 {
entry:
  switch %s, never [0: a, 1: b]
never:
  unreachable
a:
  ret 1
b:
  ret 2
}
; check: linearize
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @unreachable_default(%s: i32, %p: ptr) -> i32 phase linearized {
; entry:
;   %v10: i1 = icmp eq %s, 1
;   %v11: i1 = mask_andnot true, %v10
;   %v14: i1 = icmp eq %s, 1
;   br b
; a mask %v11:
;   %v19: i32 = blend %v11, 1, 2
;   br exit
; b mask %v14:
;   br a
; exit:
;   ret %v19
; }
