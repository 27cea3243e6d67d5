; test: uniformity i=index,u=uniform,p=uniform

; `a[i + 1]` in C: the sum does not wrap, so the address is contiguous, and lane 0 cannot wrap where others do not.
func @stencil(%i: i32, %u: i32, %p: ptr) -> float {
entry:
  %j: i32 = add nsw %i, 1
  %w: i64 = sext %j
  %q: ptr = getelementptr inbounds float, %p, %w
  %r: float = load %q, align 4
  ret %r
}
; check: uniformity
; function stencil: 1 block, 5 instructions
;   arguments: %i index, %u uniform, %p uniform
;   divergent: 4 of 4 values (3 strided), 0 of 0 branches, 0 of 0 loops
; %j: stride(1) nsw
; %w: stride(1) nsw
; %q: stride(4)
; %r: varying

; `a[i - 1]`: contiguous too, but lane 0 might be the one lane that wraps, so it cannot stand for the others.
func @stencil_back(%i: i32, %u: i32, %p: ptr) -> float {
entry:
  %j: i32 = add nsw %i, -1
  %w: i64 = sext %j
  %q: ptr = getelementptr inbounds float, %p, %w
  %r: float = load %q, align 4
  ret %r
}
; check: uniformity
; function stencil_back: 1 block, 5 instructions
;   arguments: %i index, %u uniform, %p uniform
;   divergent: 4 of 4 values (3 strided), 0 of 0 branches, 0 of 0 loops
; %j: stride(1) nsw
; %w: stride(1) nsw, not from lane 0
; %q: stride(4), not from lane 0
; %r: varying

; The sum may wrap between two lanes: not contiguous once it is wide.
func @may_wrap(%i: i32, %u: i32, %p: ptr) -> float {
entry:
  %j: i32 = add %i, %u
  %w: i64 = zext %j
  %q: ptr = getelementptr float, %p, %w
  %r: float = load %q, align 4
  ret %r
}
; check: uniformity
; function may_wrap: 1 block, 5 instructions
;   arguments: %i index, %u uniform, %p uniform
;   divergent: 4 of 4 values (1 strided), 0 of 0 branches, 0 of 0 loops
; %j: stride(1)
; %w: varying
; %q: varying
; %r: varying

; Fields of structures: the step is the structure's size.
func @fields(%i: i64, %u: i32, %p: ptr) -> float {
entry:
  %q: ptr = getelementptr inbounds { float, float, float }, %p, %i, i32 2
  %r: float = load %q, align 4
  ret %r
}
; check: uniformity
; function fields: 1 block, 3 instructions
;   arguments: %i index, %u uniform, %p uniform
;   divergent: 2 of 2 values (1 strided), 0 of 0 branches, 0 of 0 loops
; %q: stride(12)
; %r: varying

; The low bits of an aligned index are uniform, and so is the branch on them.
func @aligned(%i: i32, %u: i32, %p: ptr) -> i32 {
entry:
  %j: i32 = shl %i, 3
  %k: i32 = add %j, %u
  %low: i32 = and %k, 7
  %c: i1 = icmp eq %low, 0
  br %c, then, end(0)
then:
  br end(1)
end:
  %x: i32 = phi
  ret %x
}
; check: uniformity
; function aligned: 3 blocks, 8 instructions
;   arguments: %i index, %u uniform, %p uniform
;   divergent: 2 of 5 values (2 strided), 0 of 1 branch, 0 of 0 loops
; %j: stride(8)
; %k: stride(8)
