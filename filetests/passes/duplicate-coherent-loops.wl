; test: passes duplicate-coherent-loops

; Lanes walk along lists. A second body is for iterations in which all of them are at the same node.
func @walk(%start: ptr) -> i32 {
entry:
  br loop(%start, 0)
loop:
  %node: ptr = phi
  %sum: i32 = phi
  %value: i32 = load %node, align 4
  %more: i32 = add %sum, %value
  %at: ptr = getelementptr i8, %node, i64 8
  %next: ptr = load %at, align 8
  %last: i1 = icmp eq %next, null
  br %last, end, loop(%next, %more)
end:
  ret %more
}
; check: passes
; func @walk(%start: ptr) -> i32 {
;   var $more: i32
; entry:
;   br loop(%start, 0)
; loop:
;   %node: ptr = phi
;   %sum: i32 = phi
;   %v18: ptr = freeze %node
;   %v20: ptr = first %v18, true
;   %v21: i1 = icmp eq %v18, %v20
;   %v22: i1 = all %v21
;   br %v22, together, apart
; apart:
;   %value: i32 = load %node, align 4
;   %more: i32 = add %sum, %value
;   %at: ptr = getelementptr i8, %node, i64 8
;   %next: ptr = load %at, align 8
;   %last: i1 = icmp eq %next, null
;   br %last, end(%more), loop(%next, %more)
; end:
;   %v24: i32 = phi
;   ret %v24
; together:
;   %v13: i32 = load %v20, align 4
;   %v14: i32 = add %sum, %v13
;   %v15: ptr = getelementptr i8, %v20, i64 8
;   %v16: ptr = load %v15, align 8
;   %v17: i1 = icmp eq %v16, null
;   br %v17, end(%v14), loop(%v16, %v14)
; }
