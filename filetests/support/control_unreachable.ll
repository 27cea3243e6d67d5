;@ group Control flow
;@ construct `unreachable` on a path that no lane takes
;@ happens vector code: nothing is executed for it
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
define i32 @kernel(i32 %i, i32 %x) {
entry:
  switch i32 %x, label %never [ i32 0, label %a
    i32 1, label %b
    i32 2, label %a
    i32 3, label %b
    i32 4, label %a
    i32 5, label %b
    i32 6, label %a
    i32 7, label %b ]
never:
  unreachable
a:
  %y = add i32 %i, 5
  br label %end
b:
  br label %end
end:
  %r = phi i32 [ %y, %a ], [ %x, %b ]
  ret i32 %r
}
