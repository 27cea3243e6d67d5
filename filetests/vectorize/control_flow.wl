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
; func @uniform_and_varying(%u: i1, %v: i1, %p: ptr) {
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
; func @uniform_if_in_divergent_if(%v: i1, %u: i1, %p: ptr) {
; entry:
;   %v10: i1 = mask_any %v
;   br %v10, rest, out
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
; func @uniform_loop_in_divergent_if(%v: i1, %un: i32, %ubreak: i32, %p: ptr) {
; entry:
;   %v19: i1 = mask_any %v
;   br %v19, rest, out
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
; func @uniform_switch_in_divergent_if(%v: i1, %us: i32, %p: ptr) {
; entry:
;   %v10: i1 = mask_any %v
;   br %v10, rest, out
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
; func @divergent_switch(%s: i32, %p: ptr) -> i32 {
; entry:
;   %v10: i1 = icmp eq %s, 0
;   %v11: i1 = icmp eq %s, 1
;   %v12: i1 = icmp eq %s, 2
;   %v14: i1 = icmp eq %s, 3
;   %v15: i1 = or %v10, %v11
;   %v16: i1 = or %v15, %v12
;   %v17: i1 = or %v16, %v14
;   %v19: i1 = icmp eq %s, 0
;   %v23: i1 = icmp eq %s, 1
;   %v27: i1 = icmp eq %s, 2
;   %v30: i1 = mask_or %v19, %v27
;   %v31: i1 = icmp eq %s, 3
;   br edge
; a mask %v30:
;   store i32 1, %p, align 4
;   %v37: i32 = blend %v30, 1, %v40
;   br out
; b mask %v23:
;   store i32 2, %p, align 4
;   %v40: i32 = blend %v23, 2, %v43
;   br a
; edge mask %v31:
;   %v43: i32 = blend %v31, 7, 0
;   br b
; out:
;   ret %v37
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
; func @kill_exit(%n: i32, %u: ptr, %p: ptr) -> i32 {
; entry:
;   br head(0, false, false, poison, true)
; head mask %loop:
;   %k: i32 = phi
;   %exit: i1 = phi
;   %v55: i1 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %more: i1 = icmp ult %k, %n
;   %v22: i1 = mask_and %loop, %more
;   %v25: i1 = mask_andnot %loop, %more
;   %v27: i32 = blend %v25, %k, %out
;   %v29: i1 = mask_or %exit, %v25
;   %v30: i1 = mask_any %v22
;   br %v30, rest, latch(false, poison, %v55)
; rest mask %loop:
;   br body
; body mask %v22:
;   store %k, %p, align 4
;   %stop: i1 = icmp eq %k, 100
;   br %stop, edge, next
; next mask %v22:
;   %k1: i32 = add %k, 1
;   br latch(%v22, %k1, %v55)
; killed mask %v48:
;   br done
; done mask %v29:
;   %v39: i32 = blend %v29, %v27, -1
;   br exit
; exit:
;   ret %v39
; edge mask %v22:
;   %v42: i1 = mask_or %v55, %v22
;   br latch(false, poison, %v42)
; latch mask %loop:
;   %live: i1 = phi
;   %next: i32 = phi
;   %v56: i1 = phi
;   %v17: i1 = mask_any %live
;   br %v17, head(%next, %v29, %v56, %v27, %live), dispatch
; dispatch:
;   %v48: i1 = mask_andnot true, %v29
;   br b9
; b9 mask %v48:
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
; func @varying_exits(%n: i32, %x: i32, %um: i32, %p: ptr) -> i32 {
; entry:
;   br outer(0, false, false, poison, true)
; outer mask %loop:
;   %i: i32 = phi
;   %exit: i1 = phi
;   %v100: i1 = phi
;   %out: i32 = phi
;   %loop: i1 = phi
;   %again: i1 = icmp ult %i, %um
;   br %again, preheader, edge
; preheader mask %loop:
;   br inner(0, false, false, poison, %loop)
; inner mask %v105:
;   %j: i32 = phi
;   %v93: i1 = phi
;   %v94: i1 = phi
;   %v95: i32 = phi
;   %v105: i1 = phi
;   %cj: i1 = icmp ult %j, %n
;   %v35: i1 = mask_and %v105, %cj
;   %v38: i1 = mask_andnot %v105, %cj
;   %v40: i1 = mask_or %v93, %v38
;   br body
; body mask %v35:
;   %s: i32 = add %i, %j
;   %leave: i1 = icmp eq %s, %x
;   %v42: i1 = mask_and %v35, %leave
;   %v44: i32 = blend %v42, %s, %v95
;   %v46: i1 = mask_or %v94, %v42
;   %v47: i1 = mask_andnot %v35, %leave
;   br go
; go mask %v47:
;   %skip: i1 = icmp eq %j, %x
;   %v51: i1 = mask_and %v47, %skip
;   %v53: i1 = mask_or %v40, %v51
;   %v54: i1 = mask_andnot %v47, %skip
;   br work
; work mask %v54:
;   store %s, %p, align 4
;   %j1: i32 = add %j, 1
;   br latch
; next mask %v70:
;   %i1: i32 = add %i, 1
;   br b14(%v70, %i1, %exit, %v80, %v78)
; found mask %v89:
;   br done
; done mask %v99:
;   %v66: i32 = blend %v99, -1, %v103
;   br exit
; exit:
;   ret %v66
; latch mask %v105:
;   %v23: i1 = mask_any %v54
;   br %v23, inner(%j1, %v53, %v46, %v44, %v54), dispatch
; dispatch mask %loop:
;   %v70: i1 = mask_and %loop, %v53
;   %v73: i1 = mask_andnot %loop, %v53
;   br b13
; b13 mask %v73:
;   %v78: i32 = blend %v73, %v44, %out
;   %v80: i1 = mask_or %v100, %v73
;   br next
; edge mask %loop:
;   %v83: i1 = mask_or %exit, %loop
;   br b14(false, poison, %v83, %v100, %out)
; b14 mask %loop:
;   %live: i1 = phi
;   %next: i32 = phi
;   %v99: i1 = phi
;   %v101: i1 = phi
;   %v103: i32 = phi
;   %v28: i1 = mask_any %live
;   br %v28, outer(%next, %v99, %v101, %v103, %live), b15
; b15:
;   %v89: i1 = mask_andnot true, %v99
;   br b16
; b16 mask %v89:
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
; func @endless_for_some(%v: i1, %p: ptr) {
; entry:
;   %v8: i1 = mask_andnot true, %v
;   %v11: i1 = mask_any %v
;   br %v11, rest, out
; rest:
;   br preheader
; latch mask %v:
;   br true, spin, loop.exit
; preheader mask %v:
;   br spin
; spin mask %v:
;   store volatile i32 1, %p, align 4
;   br latch
; out mask %v8:
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
; func @unreachable_default(%s: i32, %p: ptr) -> i32 {
; entry:
;   %v8: i1 = icmp eq %s, 1
;   %v9: i1 = mask_andnot true, %v8
;   %v12: i1 = icmp eq %s, 1
;   br b
; a mask %v9:
;   %v18: i32 = blend %v9, 1, 2
;   br exit
; b mask %v12:
;   br a
; exit:
;   ret %v18
; }
