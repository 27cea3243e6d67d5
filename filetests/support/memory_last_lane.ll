;@ group Memory
;@ construct a varying value stored to a uniform address
;@ happens once: the last active lane's
;@ args index, varying:4=small, buffer:4=zero
;@ range 0..50
define void @kernel(i32 %i, i32 %x, ptr %out) {
entry:
  %c = icmp ult i32 %x, 4
  br i1 %c, label %then, label %end
then:
  store i32 %i, ptr %out
  br label %end
end:
  ret void
}
