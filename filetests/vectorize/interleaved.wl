; test: lower

; Backwards: one load from the last lane's address, and a shuffle.
func @reversed(%i: i64, %ua: ptr, %uo: ptr) {
entry:
  %n: i64 = sub 100, %i
  %p: ptr = getelementptr float, %ua, %n
  %x: float = load %p, align 4
  %q: ptr = getelementptr float, %uo, %i
  store %x, %q, align 4
  ret
}
; check: lower
; func @reversed_x4(%i: i64, %ua: ptr, %uo: ptr) phase vector {
; entry:
;   %v4: i64 = sub 100, %i
;   %v5: ptr = getelementptr float, %ua, %v4
;   %v7: ptr = getelementptr i8, %v5, i64 -12
;   %v8: <4 x float> = load %v7, align 4
;   %v10: <4 x float> = shufflevector %v8, poison [3, 2, 1, 0]
;   %v11: ptr = getelementptr float, %uo, %i
;   store %v10, %v11, align 4
;   ret
; }

; Three fields of a structure: one load of all of them. The stores fill two of three fields, so they have a mask.
func @fields(%i: i64, %ua: ptr, %uo: ptr) {
entry:
  %p: ptr = getelementptr { float, float, float }, %ua, %i
  %x: float = load %p, align 16
  %q: ptr = getelementptr { float, float, float }, %ua, %i, i32 1
  %y: float = load %q, align 4
  %r: ptr = getelementptr { float, float, float }, %ua, %i, i32 2
  %z: float = load %r, align 4
  %a: float = fadd %x, %y
  %b: float = fadd %a, %z
  %s: ptr = getelementptr { float, float, float }, %uo, %i, i32 2
  store %a, %s, align 4
  %t: ptr = getelementptr { float, float, float }, %uo, %i
  store %b, %t, align 4
  ret
}
; check: lower
; func @fields_x4(%i: i64, %ua: ptr, %uo: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr { float, float, float }, %ua, %i
;   %v4: <12 x float> = load %v3, align 4
;   %v6: <4 x float> = shufflevector %v4, poison [0, 3, 6, 9]
;   %v7: <4 x float> = shufflevector %v4, poison [1, 4, 7, 10]
;   %v8: <4 x float> = shufflevector %v4, poison [2, 5, 8, 11]
;   %v10: ptr = getelementptr { float, float, float }, %ua, %i, i32 1
;   %v12: ptr = getelementptr { float, float, float }, %ua, %i, i32 2
;   %v13: <4 x float> = fadd %v6, %v7
;   %v14: <4 x float> = fadd %v13, %v8
;   %v15: ptr = getelementptr { float, float, float }, %uo, %i, i32 2
;   %v16: ptr = getelementptr { float, float, float }, %uo, %i
;   %v18: ptr = getelementptr i8, %v15, i64 -8
;   %v19: <8 x float> = shufflevector %v13, %v14 [0, 1, 2, 3, 4, 5, 6, 7]
;   %v21: <12 x float> = shufflevector %v19, poison [4, -1, 0, 5, -1, 1, 6, -1, 2, 7, -1, 3]
;   call @llvm.masked.store.v12f32.p0(%v21, %v18, 4, <true, false, true, true, false, true, true, false, true, true, false, true>)
;   ret
; }

; Under a mask, nothing but elements of active lanes is touched.
func @masked(%c: i1, %i: i64, %ua: ptr) {
entry:
  br %c, then, end
then:
  %p: ptr = getelementptr { i32, i32 }, %ua, %i
  %x: i32 = load %p, align 4
  %q: ptr = getelementptr { i32, i32 }, %ua, %i, i32 1
  store %x, %q, align 4
  br end
end:
  ret
}
; check: lower
; func @masked_x4(%c: <4 x i1>, %i: i64, %ua: ptr) phase vector {
; entry:
;   br then
; then:
;   %v3: ptr = getelementptr { i32, i32 }, %ua, %i
;   %v5: <7 x i1> = shufflevector %c, zero [0, 4, 1, 4, 2, 4, 3]
;   %v8: <7 x i32> = call @llvm.masked.load.v7i32.p0(%v3, 4, %v5, poison)
;   %v9: <4 x i32> = shufflevector %v8, poison [0, 2, 4, 6]
;   %v11: ptr = getelementptr { i32, i32 }, %ua, %i, i32 1
;   %v13: <7 x i32> = shufflevector %v9, poison [0, -1, 1, -1, 2, -1, 3]
;   %v14: <7 x i1> = shufflevector %c, zero [0, 4, 1, 4, 2, 4, 3]
;   call @llvm.masked.store.v7i32.p0(%v13, %v11, 4, %v14)
;   br end
; end:
;   ret
; }

; The second load of the first field reads what was stored to it, so the store of that field does not wait for the store of the
; other one, and the load does not come before it.
func @stored_between(%i: i64, %ua: ptr) {
entry:
  %p: ptr = getelementptr { i32, i32 }, %ua, %i
  %q: ptr = getelementptr { i32, i32 }, %ua, %i, i32 1
  store i32 7, %p, align 4
  %y: i32 = load %q, align 4
  store %y, %q, align 4
  %x: i32 = load %p, align 4
  store %x, %q, align 4
  ret
}
; check: lower
; func @stored_between_x4(%i: i64, %ua: ptr) phase vector {
; entry:
;   %v2: ptr = getelementptr { i32, i32 }, %ua, %i
;   %v4: ptr = getelementptr { i32, i32 }, %ua, %i, i32 1
;   %v5: <7 x i32> = load %v4, align 4
;   %v7: <4 x i32> = shufflevector %v5, poison [0, 2, 4, 6]
;   %v9: <8 x i32> = shufflevector <4 x i32> <7, 7, 7, 7>, %v7 [0, 1, 2, 3, 4, 5, 6, 7]
;   %v11: <8 x i32> = shufflevector %v9, poison [0, 4, 1, 5, 2, 6, 3, 7]
;   store %v11, %v2, align 4
;   %v12: <7 x i32> = load %v2, align 4
;   %v13: <4 x i32> = shufflevector %v12, poison [0, 2, 4, 6]
;   %v15: <7 x i32> = shufflevector %v13, poison [0, -1, 1, -1, 2, -1, 3]
;   call @llvm.masked.store.v7i32.p0(%v15, %v4, 4, <true, false, true, false, true, false, true>)
;   ret
; }

; An alignment that is more than a step allows is that of single elements, and not of the first.
func @aligned_elements(%c: i1, %i: i64, %ua: ptr) {
entry:
  br %c, then, end
then:
  %p: ptr = getelementptr float, %ua, %i
  %x: float = load %p, align 16
  store %x, %p, align 16
  br end
end:
  ret
}
; check: lower
; func @aligned_elements_x4(%c: <4 x i1>, %i: i64, %ua: ptr) phase vector {
; entry:
;   br then
; then:
;   %v3: ptr = getelementptr float, %ua, %i
;   %v6: <4 x float> = call @llvm.masked.load.v4f32.p0(%v3, 4, %c, poison)
;   call @llvm.masked.store.v4f32.p0(%v6, %v3, 4, %c)
;   br end
; end:
;   ret
; }

; Elements of two neighbouring lanes are the same: two groups, stored in the order of the program.
func @overlapping(%i: i64, %ua: ptr) {
entry:
  %k: i64 = shl %i, 1
  %p: ptr = getelementptr i32, %ua, %k
  store i32 1, %p, align 4
  %k2: i64 = add %k, 2
  %q: ptr = getelementptr i32, %ua, %k2
  store i32 2, %q, align 4
  ret
}
; check: lower
; func @overlapping_x4(%i: i64, %ua: ptr) phase vector {
; entry:
;   %v3: i64 = shl %i, 1
;   %v4: ptr = getelementptr i32, %ua, %v3
;   %v7: <7 x i32> = shufflevector <4 x i32> <1, 1, 1, 1>, poison [0, -1, 1, -1, 2, -1, 3]
;   call @llvm.masked.store.v7i32.p0(%v7, %v4, 4, <true, false, true, false, true, false, true>)
;   %v11: i64 = add %v3, 2
;   %v12: ptr = getelementptr i32, %ua, %v11
;   %v14: <7 x i32> = shufflevector <4 x i32> <2, 2, 2, 2>, poison [0, -1, 1, -1, 2, -1, 3]
;   call @llvm.masked.store.v7i32.p0(%v14, %v12, 4, <true, false, true, false, true, false, true>)
;   ret
; }

; The stores of the first and the third field are made together where the second of them is; the load of the first field may then not
; be made where that of the second field is.
func @waiting_store(%i: i64, %ua: ptr, %uo: ptr) {
entry:
  %p: ptr = getelementptr { i32, i32, i32 }, %ua, %i
  %q: ptr = getelementptr { i32, i32, i32 }, %ua, %i, i32 1
  %r: ptr = getelementptr { i32, i32, i32 }, %ua, %i, i32 2
  store i32 7, %p, align 4
  %y: i32 = load %q, align 4
  store i32 8, %r, align 4
  %x: i32 = load %p, align 4
  %s: i32 = add %x, %y
  %o: ptr = getelementptr i32, %uo, %i
  store %s, %o, align 4
  ret
}
; check: lower
; func @waiting_store_x4(%i: i64, %ua: ptr, %uo: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr { i32, i32, i32 }, %ua, %i
;   %v5: ptr = getelementptr { i32, i32, i32 }, %ua, %i, i32 1
;   %v7: ptr = getelementptr { i32, i32, i32 }, %ua, %i, i32 2
;   %v8: <10 x i32> = load %v5, align 4
;   %v10: <4 x i32> = shufflevector %v8, poison [0, 3, 6, 9]
;   %v13: <8 x i32> = shufflevector <4 x i32> <7, 7, 7, 7>, <8, 8, 8, 8> [0, 1, 2, 3, 4, 5, 6, 7]
;   %v15: <12 x i32> = shufflevector %v13, poison [0, -1, 4, 1, -1, 5, 2, -1, 6, 3, -1, 7]
;   call @llvm.masked.store.v12i32.p0(%v15, %v3, 4, <true, false, true, true, false, true, true, false, true, true, false, true>)
;   %v18: <10 x i32> = load %v3, align 4
;   %v19: <4 x i32> = shufflevector %v18, poison [0, 3, 6, 9]
;   %v20: <4 x i32> = add %v19, %v10
;   %v21: ptr = getelementptr i32, %uo, %i
;   store %v20, %v21, align 4
;   ret
; }

; A field that only some lanes ask for, of structures of which all lanes have read another field: what lies between the
; fields that are read is there, so only the last lane needs its mask.
func @between(%i: i64, %ua: ptr, %uo: ptr) {
entry:
  %p: ptr = getelementptr { i32, i32, i32, i32 }, %ua, %i
  %x: i32 = load %p, align 4
  %c: i1 = icmp sgt %x, 7
  br %c, then, end(0)
then:
  %q: ptr = getelementptr { i32, i32, i32, i32 }, %ua, %i, i32 1
  %y: i32 = load %q, align 4
  br end(%y)
end:
  %z: i32 = phi
  %r: ptr = getelementptr i32, %uo, %i
  store %z, %r, align 4
  ret
}
; check: lower
; func @between_x4(%i: i64, %ua: ptr, %uo: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr { i32, i32, i32, i32 }, %ua, %i
;   %v4: <13 x i32> = load %v3, align 4
;   %v6: <4 x i32> = shufflevector %v4, poison [0, 4, 8, 12]
;   %v8: <4 x i1> = icmp sgt %v6, <7, 7, 7, 7>
;   br then
; then:
;   %v10: ptr = getelementptr { i32, i32, i32, i32 }, %ua, %i, i32 1
;   %v11: <13 x i32> = load %v3, align 4
;   %v12: <4 x i32> = shufflevector %v11, poison [1, 5, 9, -1]
;   %v14: i1 = extractelement %v8, i64 3
;   %v16: ptr = getelementptr i8, %v3, i64 52
;   %v18: ptr = getelementptr i8, %v3, i64 36
;   %v19: ptr = select %v14, %v16, %v18
;   %v20: i32 = load %v19, align 4
;   %v21: <4 x i32> = insertelement %v12, %v20, i64 3
;   %v23: <4 x i32> = select %v8, %v21, <0, 0, 0, 0>
;   br end
; end:
;   %v24: ptr = getelementptr i32, %uo, %i
;   store %v23, %v24, align 4
;   ret
; }

; The field before: the first lane needs its mask.
func @between_first(%i: i64, %ua: ptr, %uo: ptr) {
entry:
  %p: ptr = getelementptr { i32, i32, i32, i32 }, %ua, %i, i32 1
  %x: i32 = load %p, align 4
  %c: i1 = icmp sgt %x, 7
  br %c, then, end(0)
then:
  %q: ptr = getelementptr { i32, i32, i32, i32 }, %ua, %i
  %y: i32 = load %q, align 4
  br end(%y)
end:
  %z: i32 = phi
  %r: ptr = getelementptr i32, %uo, %i
  store %z, %r, align 4
  ret
}
; check: lower
; func @between_first_x4(%i: i64, %ua: ptr, %uo: ptr) phase vector {
; entry:
;   %v4: ptr = getelementptr { i32, i32, i32, i32 }, %ua, %i, i32 1
;   %v5: <13 x i32> = load %v4, align 4
;   %v7: <4 x i32> = shufflevector %v5, poison [0, 4, 8, 12]
;   %v9: <4 x i1> = icmp sgt %v7, <7, 7, 7, 7>
;   br then
; then:
;   %v10: ptr = getelementptr { i32, i32, i32, i32 }, %ua, %i
;   %v11: <13 x i32> = load %v4, align 4
;   %v12: <4 x i32> = shufflevector %v11, poison [-1, 3, 7, 11]
;   %v14: i1 = extractelement %v9, i64 0
;   %v16: ptr = getelementptr i8, %v4, i64 -4
;   %v18: ptr = getelementptr i8, %v4, i64 12
;   %v19: ptr = select %v14, %v16, %v18
;   %v20: i32 = load %v19, align 4
;   %v21: <4 x i32> = insertelement %v12, %v20, i64 0
;   %v23: <4 x i32> = select %v9, %v21, <0, 0, 0, 0>
;   br end
; end:
;   %v24: ptr = getelementptr i32, %uo, %i
;   store %v23, %v24, align 4
;   ret
; }
