;@ group Control flow
;@ construct `invoke` of functions that may unwind, landing pads
;@ happens refused
;@ refused calls a function that may unwind, and lanes cannot unwind separately
;@ args index, varying:4=random
;@ range 0..50
declare void @log_call(i32, i32)
declare i32 @__gxx_personality_v0(...)

define void @kernel(i32 %i, i32 %x) personality ptr @__gxx_personality_v0 {
entry:
  invoke void @log_call(i32 %i, i32 %x) to label %end unwind label %clean

clean:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad

end:
  ret void
}
