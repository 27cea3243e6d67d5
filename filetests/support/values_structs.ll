;@ group Values
;@ construct structures in values
;@ happens per member
;@ args index, varying:4=random
;@ range 0..50
;@ result 4
define i32 @kernel(i32 %i, i32 %x) {
  %s = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %x, i32 -30000000)
  %v = extractvalue { i32, i1 } %s, 0
  %o = extractvalue { i32, i1 } %s, 1
  %r = select i1 %o, i32 %v, i32 %i
  ret i32 %r
}
declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)
