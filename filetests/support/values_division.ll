;@ group Values
;@ construct integer division and remainder by a value that is no constant
;@ happens vector code by floating-point arithmetic; of 64 bits, for numbers below 2⁴⁸, and once for each lane otherwise
;@ args index, varying:4=small
;@ range 0..50
;@ result 4
define i32 @kernel(i32 %i, i32 %x) {
entry:
  %c = icmp eq i32 %x, 0
  br i1 %c, label %end, label %then
then:
  %q = udiv i32 1000, %x
  br label %end
end:
  %r = phi i32 [ 0, %entry ], [ %q, %then ]
  ret i32 %r
}
