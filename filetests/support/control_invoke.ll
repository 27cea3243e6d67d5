;@ group Control flow
;@ construct `invoke` of functions that do not unwind
;@ happens an ordinary call
;@ args index, varying:4=random
;@ range 0..50
;@ simplified
declare void @log_call(i32, i32)
declare i32 @__gxx_personality_v0(...)

define void @kernel(i32 %i, i32 %x) personality ptr @__gxx_personality_v0 {
entry:
  %odd = trunc i32 %x to i1
  br i1 %odd, label %say, label %end

say:
  invoke void @log_call(i32 %i, i32 %x) #0 to label %end unwind label %clean

clean:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad

end:
  ret void
}

attributes #0 = { nounwind }
