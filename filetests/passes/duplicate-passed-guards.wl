; test: passes duplicate-passed-guards

; What `i < n` guards is made twice: once for when all lanes pass.
func @guard(%ui: i32, %un: i32, %ux: ptr) {
entry:
  %lane: i32 = lane_index
  %i: i32 = add nsw %ui, %lane
  %c: i1 = icmp slt %i, %un
  br %c, body, end
body:
  %wide: i64 = sext %i
  %at: ptr = getelementptr i8, %ux, %wide
  %v: i8 = load %at, align 1
  %w: i8 = add %v, 1
  store %w, %at, align 1
  br end
end:
  ret
}
; check: passes
; func @guard(%ui: i32, %un: i32, %ux: ptr) {
; entry:
;   %lane: i32 = lane_index
;   %i: i32 = add nsw %ui, %lane
;   %c: i1 = icmp slt %i, %un
;   %v16: i1 = xor %c, true
;   %v17: i1 = any %v16
;   br %v17, apart weight 1, all weight 15
; apart:
;   %v18: i1 = any %c
;   br %v18, some, end
; some:
;   br %c, body, end
; body:
;   %wide: i64 = sext %i
;   %at: ptr = getelementptr i8, %ux, %wide
;   %v: i8 = load %at, align 1
;   %w: i8 = add %v, 1
;   store %w, %at, align 1
;   br end
; end:
;   ret
; all:
;   %v11: i64 = sext %i
;   %v12: ptr = getelementptr i8, %ux, %v11
;   %v13: i8 = load %v12, align 1
;   %v14: i8 = add %v13, 1
;   store %v14, %v12, align 1
;   br end
; }

; A condition of which nothing is known is no guard.
func @unknown(%ui: i32, %x: i32, %ux: ptr) {
entry:
  %lane: i32 = lane_index
  %i: i32 = add nsw %ui, %lane
  %c: i1 = icmp slt %x, 7
  br %c, body, end
body:
  %wide: i64 = sext %i
  %at: ptr = getelementptr i8, %ux, %wide
  store i8 7, %at, align 1
  br end
end:
  ret
}
; check: passes
; func @unknown(%ui: i32, %x: i32, %ux: ptr) {
; entry:
;   %lane: i32 = lane_index
;   %i: i32 = add nsw %ui, %lane
;   %c: i1 = icmp slt %x, 7
;   br %c, body, end
; body:
;   %wide: i64 = sext %i
;   %at: ptr = getelementptr i8, %ux, %wide
;   store i8 7, %at, align 1
;   br end
; end:
;   ret
; }
