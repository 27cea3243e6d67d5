; test: lower-one-by-one

; Where nothing gathers or scatters under a mask, lanes that are not active read and write a place on the stack, and there is no branch.
func @under_a_mask(%i: i64, %uindex: ptr, %utable: ptr) {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %inside: i1 = icmp ult %k, 100
  br %inside, there, end
there:
  %wide: i64 = zext %k
  %q: ptr = getelementptr i32, %utable, %wide
  %x: i32 = load %q, align 4
  %y: i32 = add %x, 1
  store %y, %q, align 4
  br end
end:
  ret
}
