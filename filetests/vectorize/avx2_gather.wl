; test: lower-avx2

; AVX2 gathers elements of 32 bits at indices of 32 bits by an instruction, whether there is a mask or not; it has no scatters, and its
; gathers of wider elements take longer than loads.
func @table(%i: i64, %uindex: ptr, %utable: ptr) {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %inside: i1 = icmp ult %k, 100
  %always: i64 = sext %k
  %o: ptr = getelementptr float, %utable, %always
  %f: float = load %o, align 4
  store %f, %p, align 4
  br %inside, there, end
there:
  %wide: i64 = sext %k
  %q: ptr = getelementptr i32, %utable, %wide
  %x: i32 = load %q, align 4
  store %x, %p, align 4
  br end
end:
  ret
}
; check: lower-avx2
; func @table_x4(%i: i64, %uindex: ptr, %utable: ptr) phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v6: <4 x i1> = icmp ult %v4, <100, 100, 100, 100>
;   %v7: <4 x i64> = sext %v4
;   %v8: <4 x ptr> = getelementptr float, %utable, %v7
;   %v12: <4 x i32> = call @llvm.x86.avx2.gather.d.d(poison, %utable, %v4, <-1, -1, -1, -1>, 4)
;   %v13: <4 x float> = bitcast %v12
;   store %v13, %v3, align 4
;   br there
; there:
;   %v14: <4 x i64> = sext %v4
;   %v15: <4 x ptr> = getelementptr i32, %utable, %v14
;   %v16: <4 x i32> = sext %v6
;   %v17: <4 x i32> = call @llvm.x86.avx2.gather.d.d(poison, %utable, %v4, %v16, 4)
;   call @llvm.masked.store.v4i32.p0(%v17, %v3, 4, %v6)
;   br end
; end:
;   ret
; }

func @wider_elements(%i: i64, %uindex: ptr, %utable: ptr) -> i64 {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %q: ptr = getelementptr i64, %utable, %wide
  %x: i64 = load %q, align 8
  ret %x
}
; check: lower-avx2
; func @wider_elements_x4(%i: i64, %uindex: ptr, %utable: ptr) -> <4 x i64> phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v5: <4 x i64> = sext %v4
;   %v6: <4 x ptr> = getelementptr i64, %utable, %v5
;   %v7: <4 x ptr> = getelementptr i64, %utable, %v4
;   %v11: <4 x i64> = call @llvm.masked.gather.v4i64.v4p0(%v7, 8, <true, true, true, true>, poison)
;   ret %v11
; }

; An element of 16 bits is the upper half of a word, of which the lane has loaded the other half.
func @half_a_word(%i: i64, %uindex: ptr, %utable: ptr) -> i16 {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %x.p: ptr = getelementptr i32, %utable, %wide
  %x: i8 = load %x.p, align 4
  %some: i1 = icmp ne %x, 0
  br %some, read, end(0)
read:
  %y.p: ptr = getelementptr i8, %x.p, i64 2
  %y: i16 = load %y.p, align 2
  br end(%y)
end:
  %r: i16 = phi
  ret %r
}
; check: lower-avx2
; func @half_a_word_x4(%i: i64, %uindex: ptr, %utable: ptr) -> <4 x i16> phase vector {
; entry:
;   %v3: ptr = getelementptr i32, %uindex, %i
;   %v4: <4 x i32> = load %v3, align 4
;   %v5: <4 x i64> = sext %v4
;   %v6: <4 x ptr> = getelementptr i32, %utable, %v5
;   %v7: <4 x ptr> = getelementptr i32, %utable, %v4
;   %v11: <4 x i8> = call @llvm.masked.gather.v4i8.v4p0(%v7, 4, <true, true, true, true>, poison)
;   %v13: <4 x i1> = icmp ne %v11, <0, 0, 0, 0>
;   br read
; read:
;   %v15: <4 x ptr> = getelementptr i8, %v6, i64 2
;   %v16: ptr = getelementptr i8, %utable, i64 2
;   %v18: ptr = getelementptr i8, %v16, i64 -2
;   %v19: <4 x i32> = sext %v13
;   %v22: <4 x i32> = call @llvm.x86.avx2.gather.d.d(poison, %v18, %v4, %v19, 4)
;   %v24: <4 x i32> = lshr %v22, <16, 16, 16, 16>
;   %v25: <4 x i16> = trunc %v24
;   %v27: <4 x i16> = select %v13, %v25, <0, 0, 0, 0>
;   br end
; end:
;   ret %v27
; }
