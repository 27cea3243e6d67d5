;@ group Memory
;@ construct non-temporal loads and stores
;@ happens vector code: non-temporal where elements lie side by side
;@ args index, buffer:256=random, buffer:256=zero
;@ range 0..60
;@ contains load nontemporal
;@ contains store nontemporal
define void @kernel(i32 %i, ptr %a, ptr noalias %b) {
  %k = zext nneg i32 %i to i64
  %p = getelementptr i32, ptr %a, i64 %k
  %x = load i32, ptr %p, !nontemporal !0
  %y = add i32 %x, 1
  %q = getelementptr i32, ptr %b, i64 %k
  store i32 %y, ptr %q, !nontemporal !0
  ret void
}
!0 = !{i32 1}
