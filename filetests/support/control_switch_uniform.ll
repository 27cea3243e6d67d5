;@ group Control flow
;@ construct `switch` on a uniform value
;@ happens once: stays a switch
;@ args index, uniform=2
;@ range 0..50
;@ result 4
;@ contains switch
;@ divergent 0
;@ kept 1
define i32 @kernel(i32 %i, i32 %u) {
entry:
  switch i32 %u, label %d [ i32 1, label %a
                            i32 2, label %b ]
a:
  br label %end
b:
  %y = mul i32 %i, 3
  br label %end
d:
  br label %end
end:
  %r = phi i32 [ %i, %a ], [ %y, %b ], [ 7, %d ]
  ret i32 %r
}
