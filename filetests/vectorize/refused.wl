; test: linearize

; Control flow that cannot be vectorized, with what to do about it.

func @invoke_that_may_unwind(%x: i32, %p: ptr) -> i32 {
entry:
  %r: i32 = opaque_term "invoke" %x [unknown] -> fine, pad
fine:
  ret %r
pad:
  %l: ptr = opaque "landingpad" [unknown]
  ret -1
}
; check: linearize
; error: function `invoke_that_may_unwind`, `%r = invoke`: `invoke` calls a function that may unwind, and lanes cannot unwind separately: a function by its address; if it never throws, declare it `noexcept` (`nounwind`)

func @resume(%c: i1, %p: ptr) -> i32 {
entry:
  br %c, pad, fine
fine:
  ret 1
pad:
  opaque_term "resume" %p [unwinds]
}
; check: linearize
; error: function `resume`, `resume`: `resume` is for code that unwinds, and lanes cannot unwind separately

func @computed_goto(%x: i32, %p: ptr) -> i32 {
entry:
  opaque_term "indirectbr" %p [] -> a, b
a:
  ret 1
b:
  ret 2
}
; check: linearize
; error: function `computed_goto`, `indirectbr`: `indirectbr` jumps to a computed address; use a `switch`

func @asm_goto(%x: i32, %p: ptr) -> i32 {
entry:
  opaque_term "callbr asm" %p [unknown] -> a, b
a:
  ret 1
b:
  ret 2
}
; check: linearize
; error: function `asm_goto`, `callbr asm`: `callbr asm` is assembly that jumps; use a function call

; All lanes would do the same.
func @no_lane(%u: i32, %up: ptr) -> i32 {
entry:
  %s: i32 = add %u, 1
  store %s, %up, align 4
  ret %s
}
; check: linearize
; error: function `no_lane`: nothing in it depends on the lane, so all lanes would do the same; say which parameters are an index or vary (`--args NAME=index` or `NAME=varying`), or ask for `warpline_lane_index` in it; its parameters are: %u, %up

; An index that nobody looks at makes no difference.
func @unused_index(%i: i32, %up: ptr) {
entry:
  store i32 1, %up, align 4
  ret
}
; check: linearize
; error: function `unused_index`: nothing in it depends on the lane, so all lanes would do the same; say which parameters are an index or vary (`--args NAME=index` or `NAME=varying`), or ask for `warpline_lane_index` in it; its parameters are: %i, %up

; The lane may be asked for.
func @asks_for_the_lane(%up: ptr) -> i32 {
entry:
  %k: i32 = lane_index
  ret %k
}
; check: linearize
; branches: 0 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent
; func @asks_for_the_lane(%up: ptr) -> i32 phase linearized {
; entry:
;   %k: i32 = lane_index
;   ret %k
; }
