;@ group Control flow
;@ construct `switch` on a varying value
;@ happens vector code: a mask per case
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
;@ divergent 1
define i32 @kernel(i32 %i, i32 %x) {
entry:
  switch i32 %x, label %d [ i32 1, label %a
                            i32 2, label %b
                            i32 3, label %a ]
a:
  %z = add i32 %x, %i
  br label %b
b:
  %w = phi i32 [ %x, %entry ], [ %z, %a ]
  %y = mul i32 %w, 3
  br label %end
d:
  br label %end
end:
  %r = phi i32 [ %y, %b ], [ 7, %d ]
  ret i32 %r
}
