;@ group What has gone wrong elsewhere
;@ construct RV: `volatile` under a mask
;@ happens stays volatile, once per active lane
;@ args index, varying:4=small, buffer:4=zero
;@ range 0..50
;@ contains store volatile
;@ lockstep
define void @kernel(i32 %i, i32 %x, ptr %p) {
entry:
  %c = icmp ult i32 %x, 4
  br i1 %c, label %then, label %end
then:
  %y = load volatile i32, ptr %p
  %z = add i32 %y, 1
  store volatile i32 %z, ptr %p
  br label %end
end:
  ret void
}
