;@ group Control flow
;@ construct `if` on a varying condition
;@ happens vector code: folded, masks and blends
;@ args index, varying:4=random, buffer:256=zero
;@ range 0..50
;@ contains llvm.masked.store
;@ divergent 1
define void @kernel(i32 %i, i32 %x, ptr %out) {
entry:
  %c = icmp ugt i32 %x, 1000000
  br i1 %c, label %then, label %end
then:
  %k = zext i32 %i to i64
  %p = getelementptr i32, ptr %out, i64 %k
  store i32 %x, ptr %p
  br label %end
end:
  ret void
}
