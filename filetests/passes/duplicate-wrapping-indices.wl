; test: passes duplicate-wrapping-indices

; What accesses memory by an index modulo 2^32 is made twice: once for when no index wraps from lane to lane.
func @copy(%ui: i32, %uoffset: i32, %ua: ptr, %ub: ptr) {
entry:
  %lane: i32 = lane_index
  %i: i32 = add nsw %ui, %lane
  %sum: i32 = add %i, %uoffset
  %wide: i64 = zext %sum
  %from: ptr = getelementptr inbounds i32, %ub, %wide
  %v: i32 = load %from, align 4
  %to: ptr = getelementptr inbounds i32, %ua, %wide
  store %v, %to, align 4
  ret
}
; check: passes
; func @copy(%ui: i32, %uoffset: i32, %ua: ptr, %ub: ptr) {
; entry:
;   %lane: i32 = lane_index
;   %i: i32 = add nsw %ui, %lane
;   %sum: i32 = add %i, %uoffset
;   %wide: i64 = zext %sum
;   %from: ptr = getelementptr inbounds i32, %ub, %wide
;   %v13: i32 = add %ui, %lane
;   %v14: i32 = add %v13, %uoffset
;   %v15: i32 = lane_index
;   %v17: i32 = mul %v15, 1
;   %v18: i32 = sub %v14, %v17
;   %v19: i64 = zext %v18
;   %v20: i32 = lane_index
;   %v21: i64 = zext %v20
;   %v23: i64 = mul nsw %v21, 1
;   %v24: i64 = add nsw %v19, %v23
;   %v28: i1 = icmp ule %v18, -64
;   br %v28, beside weight 2000, apart weight 1
; apart:
;   %v: i32 = load %from, align 4
;   %to: ptr = getelementptr inbounds i32, %ua, %wide
;   store %v, %to, align 4
;   br behind
; behind:
;   ret
; beside:
;   %v26: ptr = getelementptr inbounds i32, %ub, %v24
;   %v11: i32 = load %v26, align 4
;   %v12: ptr = getelementptr inbounds i32, %ua, %wide
;   %v25: ptr = getelementptr inbounds i32, %ua, %v24
;   store %v11, %v25, align 4
;   br behind
; }

; Downwards and signed, in a loop; what is loaded is used behind both.
func @rows(%ui: i32, %un: i32, %uw: i32, %ua: ptr) -> i32 {
entry:
  %lane: i32 = lane_index
  %i: i32 = sub %ui, %lane
  br head(0, 0)
head:
  %k: i32 = phi
  %s: i32 = phi
  %go: i1 = icmp slt %k, %un
  br %go, body, end
body:
  %row: i32 = mul %k, %uw
  %at: i32 = add %row, %i
  %wide: i64 = sext %at
  %from: ptr = getelementptr inbounds i32, %ua, %wide
  %v: i32 = load %from, align 4
  %t: i32 = add %s, %v
  %next: i32 = add nsw %k, 1
  br head(%next, %t)
end:
  ret %s
}
; check: passes
; func @rows(%ui: i32, %un: i32, %uw: i32, %ua: ptr) -> i32 {
;   var $v: i32
; entry:
;   %lane: i32 = lane_index
;   %i: i32 = sub %ui, %lane
;   br head(0, 0)
; head:
;   %k: i32 = phi
;   %s: i32 = phi
;   %go: i1 = icmp slt %k, %un
;   br %go, body, end
; body:
;   %row: i32 = mul %k, %uw
;   %at: i32 = add %row, %i
;   %wide: i64 = sext %at
;   %from: ptr = getelementptr inbounds i32, %ua, %wide
;   %v21: i32 = lane_index
;   %v23: i32 = mul %v21, -1
;   %v24: i32 = sub %at, %v23
;   %v25: i64 = sext %v24
;   %v26: i32 = lane_index
;   %v27: i64 = zext %v26
;   %v29: i64 = mul nsw %v27, -1
;   %v30: i64 = add nsw %v25, %v29
;   %v33: i1 = icmp sge %v24, -2147483585
;   br %v33, beside weight 2000, apart weight 1
; apart:
;   %v: i32 = load %from, align 4
;   br behind(%v)
; behind:
;   %v34: i32 = phi
;   %t: i32 = add %s, %v34
;   %next: i32 = add nsw %k, 1
;   br head(%next, %t)
; end:
;   ret %s
; beside:
;   %v31: ptr = getelementptr inbounds i32, %ua, %v30
;   %v19: i32 = load %v31, align 4
;   br behind(%v19)
; }

; Elements that are far apart are gathered all the same. That an index does not wrap in lanes that take part says
; nothing of lane 0, so that is asked, too.
func @far(%ui: i32, %uoffset: i32, %ua: ptr, %ub: ptr) {
entry:
  %lane: i32 = lane_index
  %i: i32 = add nsw %ui, %lane
  %far: i32 = mul %i, 64
  %farther: i32 = add %far, %uoffset
  %wide: i64 = zext %farther
  %from: ptr = getelementptr inbounds i32, %ub, %wide
  %v: i32 = load %from, align 4
  %near: i64 = sext %i
  %to: ptr = getelementptr inbounds i32, %ua, %near
  store %v, %to, align 4
  ret
}
; check: passes
; func @far(%ui: i32, %uoffset: i32, %ua: ptr, %ub: ptr) {
; entry:
;   %lane: i32 = lane_index
;   %i: i32 = add nsw %ui, %lane
;   %far: i32 = mul %i, 64
;   %farther: i32 = add %far, %uoffset
;   %wide: i64 = zext %farther
;   %from: ptr = getelementptr inbounds i32, %ub, %wide
;   %v: i32 = load %from, align 4
;   %near: i64 = sext %i
;   %to: ptr = getelementptr inbounds i32, %ua, %near
;   %v14: i32 = add %ui, %lane
;   %v15: i32 = lane_index
;   %v17: i32 = mul %v15, 1
;   %v18: i32 = sub %v14, %v17
;   %v19: i64 = sext %v18
;   %v20: i32 = lane_index
;   %v21: i64 = zext %v20
;   %v23: i64 = mul nsw %v21, 1
;   %v24: i64 = add nsw %v19, %v23
;   %v27: i1 = icmp sle %v18, 2147483584
;   br %v27, beside weight 2000, apart weight 1
; apart:
;   store %v, %to, align 4
;   br behind
; behind:
;   ret
; beside:
;   %v25: ptr = getelementptr inbounds i32, %ua, %v24
;   store %v, %v25, align 4
;   br behind
; }
