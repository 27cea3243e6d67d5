; test: lower

global @gain: float align 16

; What the parameter points to is there, whatever lanes are active, so it is read without a test, with the alignment that is known.
func @promised(%i: i64, %up: ptr align 8 dereferenceable 24, %uo: ptr) {
entry:
  %q: ptr = getelementptr float, %uo, %i
  %x: float = load %q, align 4
  %c: i1 = fcmp ogt %x, 0
  br %c, then, end
then:
  %g: ptr = getelementptr inbounds i8, %up, i64 20
  %y: float = load %g, align 4
  %z: float = fmul %x, %y
  store %z, %q, align 4
  br end
end:
  ret
}
; check: lower
; func @promised_x4(%i: i64, %up: ptr align 8, %uo: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr float, %uo, %i
;   %v4: <4 x float> = load %v3, align 4
;   %v6: <4 x i1> = fcmp ogt %v4, <0.0, 0.0, 0.0, 0.0>
;   br then
; then:
;   %v8: ptr = getelementptr inbounds i8, %up, i64 20
;   %v9: ptr = getelementptr i8, %up, i64 20
;   %v10: float = load %v9, align 4
;   %v13: <4 x float> = insertelement poison, %v10, i64 0
;   %v14: <4 x float> = shufflevector %v13, poison [0, 0, 0, 0]
;   %v15: <4 x float> = fmul %v4, %v14
;   call @llvm.masked.store.v4f32.p0(%v15, %v3, 4, %v6)
;   br end
; end:
;   ret
; }

; One byte more than what is promised: a test.
func @beyond(%i: i64, %up: ptr align 8 dereferenceable 23, %uo: ptr) {
entry:
  %q: ptr = getelementptr float, %uo, %i
  %x: float = load %q, align 4
  %c: i1 = fcmp ogt %x, 0
  br %c, then, end
then:
  %g: ptr = getelementptr inbounds i8, %up, i64 20
  %y: float = load %g, align 4
  %z: float = fmul %x, %y
  store %z, %q, align 4
  br end
end:
  ret
}
; check: lower
; func @beyond_x4(%i: i64, %up: ptr align 8, %uo: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr float, %uo, %i
;   %v4: <4 x float> = load %v3, align 4
;   %v6: <4 x i1> = fcmp ogt %v4, <0.0, 0.0, 0.0, 0.0>
;   %v7: i1 = call @llvm.vector.reduce.or.v4i1(%v6)
;   br %v7, rest, end
; rest:
;   br then
; then:
;   %v9: ptr = getelementptr inbounds i8, %up, i64 20
;   %v10: float = load %v9, align 4
;   %v13: <4 x float> = insertelement poison, %v10, i64 0
;   %v14: <4 x float> = shufflevector %v13, poison [0, 0, 0, 0]
;   %v15: <4 x float> = fmul %v4, %v14
;   call @llvm.masked.store.v4f32.p0(%v15, %v3, 4, %v6)
;   br end
; end:
;   ret
; }

; Someone may have freed it.
declare @unknown() [unknown]
func @freed(%i: i64, %up: ptr align 8 dereferenceable 24, %uo: ptr) {
entry:
  call @unknown()
  %q: ptr = getelementptr float, %uo, %i
  %x: float = load %q, align 4
  %c: i1 = fcmp ogt %x, 0
  br %c, then, end
then:
  %y: float = load %up, align 4
  %z: float = fmul %x, %y
  store %z, %q, align 4
  br end
end:
  ret
}
; check: lower
; func @freed_x4(%i: i64, %up: ptr align 8, %uo: ptr) phase vector {
; entry:
;   call @unknown()
;   call @unknown()
;   call @unknown()
;   call @unknown()
;   %v3: ptr = getelementptr float, %uo, %i
;   %v4: <4 x float> = load %v3, align 4
;   %v6: <4 x i1> = fcmp ogt %v4, <0.0, 0.0, 0.0, 0.0>
;   %v7: i1 = call @llvm.vector.reduce.or.v4i1(%v6)
;   br %v7, rest, end
; rest:
;   br then
; then:
;   %v8: float = load %up, align 4
;   %v11: <4 x float> = insertelement poison, %v8, i64 0
;   %v12: <4 x float> = shufflevector %v11, poison [0, 0, 0, 0]
;   %v13: <4 x float> = fmul %v4, %v12
;   call @llvm.masked.store.v4f32.p0(%v13, %v3, 4, %v6)
;   br end
; end:
;   ret
; }

; A variable of the module is always there, also after a call.
func @variable(%i: i64, %uo: ptr) {
entry:
  call @unknown()
  %q: ptr = getelementptr float, %uo, %i
  %x: float = load %q, align 4
  %c: i1 = fcmp ogt %x, 0
  br %c, then, end
then:
  %y: float = load @gain, align 4
  %z: float = fmul %x, %y
  store %z, %q, align 4
  br end
end:
  ret
}
; check: lower
; func @variable_x4(%i: i64, %uo: ptr) phase vector {
; entry:
;   call @unknown()
;   call @unknown()
;   call @unknown()
;   call @unknown()
;   %v2: ptr = getelementptr float, %uo, %i
;   %v3: <4 x float> = load %v2, align 4
;   %v5: <4 x i1> = fcmp ogt %v3, <0.0, 0.0, 0.0, 0.0>
;   br then
; then:
;   %v7: float = load @gain, align 16
;   %v10: <4 x float> = insertelement poison, %v7, i64 0
;   %v11: <4 x float> = shufflevector %v10, poison [0, 0, 0, 0]
;   %v12: <4 x float> = fmul %v3, %v11
;   call @llvm.masked.store.v4f32.p0(%v12, %v2, 4, %v5)
;   br end
; end:
;   ret
; }

; Volatile: nothing may be read that no lane asks for.
func @volatile(%i: i64, %uo: ptr) {
entry:
  %q: ptr = getelementptr float, %uo, %i
  %x: float = load %q, align 4
  %c: i1 = fcmp ogt %x, 0
  br %c, then, end
then:
  %y: float = load volatile @gain, align 4
  %z: float = fmul %x, %y
  store %z, %q, align 4
  br end
end:
  ret
}
; check: lower
; func @volatile_x4(%i: i64, %uo: ptr) phase vector {
; entry:
;   %v2: ptr = getelementptr float, %uo, %i
;   %v3: <4 x float> = load %v2, align 4
;   %v5: <4 x i1> = fcmp ogt %v3, <0.0, 0.0, 0.0, 0.0>
;   %v6: i1 = call @llvm.vector.reduce.or.v4i1(%v5)
;   br %v6, rest, end
; rest:
;   br then
; then:
;   %v9: i1 = extractelement %v5, i64 0
;   br %v9, lane, b5(poison)
; end:
;   ret
; lane:
;   %v11: float = load volatile @gain, align 4
;   %v12: <4 x float> = insertelement poison, %v11, i64 0
;   br b5(%v12)
; b5:
;   %v13: <4 x float> = phi
;   %v15: i1 = extractelement %v5, i64 1
;   br %v15, b6, b7(%v13)
; b6:
;   %v16: float = load volatile @gain, align 4
;   %v17: <4 x float> = insertelement %v13, %v16, i64 1
;   br b7(%v17)
; b7:
;   %v18: <4 x float> = phi
;   %v20: i1 = extractelement %v5, i64 2
;   br %v20, b8, b9(%v18)
; b8:
;   %v21: float = load volatile @gain, align 4
;   %v22: <4 x float> = insertelement %v18, %v21, i64 2
;   br b9(%v22)
; b9:
;   %v23: <4 x float> = phi
;   %v25: i1 = extractelement %v5, i64 3
;   br %v25, b10, b11(%v23)
; b10:
;   %v26: float = load volatile @gain, align 4
;   %v27: <4 x float> = insertelement %v23, %v26, i64 3
;   br b11(%v27)
; b11:
;   %v28: <4 x float> = phi
;   %v29: <4 x float> = fmul %v3, %v28
;   call @llvm.masked.store.v4f32.p0(%v29, %v2, 4, %v5)
;   br end
; }

; All lanes have read the same address before: the first access' address is taken, since the second one's may be poison without a lane.
func @read_before(%i: i64, %up: ptr, %uj: i64, %uo: ptr) {
entry:
  %q: ptr = getelementptr float, %uo, %i
  %g: ptr = getelementptr float, %up, %uj
  %x: float = load %g, align 4
  store %x, %q, align 4
  %c: i1 = fcmp ogt %x, 0
  %n: i1 = icmp ult %i, 50
  br %n, then, end
then:
  %h: ptr = getelementptr inbounds float, %up, %uj
  %y: float = load %h, align 8
  %z: float = fmul %x, %y
  store %z, %q, align 4
  br end
end:
  ret
}
; check: lower
; func @read_before_x4(%i: i64, %up: ptr, %uj: i64, %uo: ptr) phase vector {
; entry:
;   %v4: ptr = getelementptr float, %uo, %i
;   %v5: ptr = getelementptr float, %up, %uj
;   %v6: float = load %v5, align 4
;   %v9: <4 x float> = insertelement poison, %v6, i64 0
;   %v10: <4 x float> = shufflevector %v9, poison [0, 0, 0, 0]
;   store %v10, %v4, align 4
;   %v12: i1 = fcmp ogt %v6, 0.0
;   %v15: <4 x i64> = insertelement poison, %i, i64 0
;   %v16: <4 x i64> = shufflevector %v15, poison [0, 0, 0, 0]
;   %v17: <4 x i64> = add %v16, <0, 1, 2, 3>
;   %v19: <4 x i1> = icmp ult %v17, <50, 50, 50, 50>
;   br then
; then:
;   %v20: ptr = getelementptr inbounds float, %up, %uj
;   %v21: float = load %v5, align 4
;   %v22: float = fmul %v6, %v21
;   %v23: <4 x float> = insertelement poison, %v22, i64 0
;   %v24: <4 x float> = shufflevector %v23, poison [0, 0, 0, 0]
;   call @llvm.masked.store.v4f32.p0(%v24, %v4, 4, %v19)
;   br end
; end:
;   ret
; }

; What all lanes have set, some add to: the load has no mask, the store has one.
func @set_before(%i: i64, %ua: ptr, %uo: ptr) {
entry:
  %p: ptr = getelementptr i8, %ua, %i
  %q: ptr = getelementptr i8, %uo, %i
  %x: i8 = load %p, align 1
  store i8 7, %q, align 1
  %c: i1 = icmp sgt %x, 0
  br %c, then, end
then:
  %y: i8 = load %q, align 1
  %z: i8 = add %x, %y
  store %z, %q, align 1
  br end
end:
  ret
}
; check: lower
; func @set_before_x4(%i: i64, %ua: ptr, %uo: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr i8, %ua, %i
;   %v4: ptr = getelementptr i8, %uo, %i
;   %v5: <4 x i8> = load %v3, align 1
;   store <4 x i8> <7, 7, 7, 7>, %v4, align 1
;   %v8: <4 x i1> = icmp sgt %v5, <0, 0, 0, 0>
;   br then
; then:
;   %v9: <4 x i8> = load %v4, align 1
;   %v10: <4 x i8> = add %v5, %v9
;   call @llvm.masked.store.v4i8.p0(%v10, %v4, 1, %v8)
;   br end
; end:
;   ret
; }

; Only some have: a mask.
func @set_by_some(%i: i64, %ua: ptr, %uo: ptr) {
entry:
  %p: ptr = getelementptr i8, %ua, %i
  %q: ptr = getelementptr i8, %uo, %i
  %x: i8 = load %p, align 1
  %c: i1 = icmp sgt %x, 0
  br %c, then, end
then:
  store i8 7, %q, align 1
  %d: i1 = icmp sgt %x, 9
  br %d, more, end
more:
  %y: i8 = load %q, align 1
  %z: i8 = add %x, %y
  store %z, %q, align 1
  br end
end:
  ret
}
; check: lower
; func @set_by_some_x4(%i: i64, %ua: ptr, %uo: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr i8, %ua, %i
;   %v4: ptr = getelementptr i8, %uo, %i
;   %v5: <4 x i8> = load %v3, align 1
;   %v7: <4 x i1> = icmp sgt %v5, <0, 0, 0, 0>
;   br then
; then:
;   call @llvm.masked.store.v4i8.p0(<7, 7, 7, 7>, %v4, 1, %v7)
;   %v11: <4 x i1> = icmp sgt %v5, <9, 9, 9, 9>
;   %v14: <4 x i1> = select %v7, %v11, <false, false, false, false>
;   br more
; more:
;   %v16: <4 x i8> = call @llvm.masked.load.v4i8.p0(%v4, 1, %v14, poison)
;   %v17: <4 x i8> = add %v5, %v16
;   call @llvm.masked.store.v4i8.p0(%v17, %v4, 1, %v14)
;   br end
; end:
;   ret
; }

; A table with an entry for each lane.
constant @table: [64 x i16] align 32
func @table_of_lanes(%i: i64, %ua: ptr) {
entry:
  %p: ptr = getelementptr i16, %ua, %i
  %x: i16 = load %p, align 2
  %c: i1 = icmp sgt %x, 0
  br %c, then, end
then:
  %l: i32 = lane_index
  %w: i64 = zext %l
  %t: ptr = getelementptr inbounds [64 x i16], @table, i64 0, %w
  %y: i16 = load %t, align 2
  store %y, %p, align 2
  br end
end:
  ret
}
; check: lower
; func @table_of_lanes_x4(%i: i64, %ua: ptr) phase vector {
; entry:
;   %v2: ptr = getelementptr i16, %ua, %i
;   %v3: <4 x i16> = load %v2, align 2
;   %v5: <4 x i1> = icmp sgt %v3, <0, 0, 0, 0>
;   br then
; then:
;   %v7: i64 = zext i32 0
;   %v10: ptr = getelementptr [64 x i16], @table, i64 0, %v7
;   %v11: <4 x i16> = load @table, align 32
;   call @llvm.masked.store.v4i16.p0(%v11, %v2, 2, %v5)
;   br end
; end:
;   ret
; }

; Alignment: of a parameter, of a variable, of a pointer that a loop advances by 32 bytes.
func @aligned(%i: i64, %ua: ptr align 32, %un: i64) {
entry:
  br loop(%ua, 0)
loop:
  %p: ptr = phi
  %k: i64 = phi
  %l: i32 = lane_index
  %w: i64 = zext %l
  %q: ptr = getelementptr float, %p, %w
  %x: float = load %q, align 4
  %y: float = fadd %x, 1
  store %y, %q, align 4
  %next: ptr = getelementptr i8, %p, i64 32
  %more: i64 = add %k, 1
  %c: i1 = icmp ult %more, %un
  br %c, loop(%next, %more), end
end:
  ret
}
; check: lower
; func @aligned_x4(%i: i64, %ua: ptr align 32, %un: i64) phase vector {
; entry:
;   br loop(%ua, 0)
; loop:
;   %v3: ptr = phi
;   %v5: i64 = phi
;   %v8: i64 = zext i32 0
;   %v9: ptr = getelementptr float, %v3, %v8
;   %v10: <4 x float> = load %v9, align 32
;   %v12: <4 x float> = fadd %v10, <1.0, 1.0, 1.0, 1.0>
;   store %v12, %v9, align 32
;   %v14: ptr = getelementptr i8, %v3, i64 32
;   %v16: i64 = add %v5, 1
;   %v17: i1 = icmp ult %v16, %un
;   br %v17, loop(%v14, %v16), end
; end:
;   ret
; }
