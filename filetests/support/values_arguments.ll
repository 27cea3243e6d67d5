;@ group Values
;@ construct structures and vectors as arguments and results
;@ happens a vector per element
;@ args index, varying:8=random, varying:16=random
;@ range 0..50
;@ result 8
;@ machine
define { i32, i32 } @kernel(i32 %i, { i32, i32 } %pair, <4 x i32> %four) {
  %x = extractvalue { i32, i32 } %pair, 0
  %y = extractvalue { i32, i32 } %pair, 1
  %f = extractelement <4 x i32> %four, i32 2
  %less = icmp slt i32 %x, %y
  %first = select i1 %less, i32 %f, i32 %i
  %swapped = insertvalue { i32, i32 } %pair, i32 %first, 0
  %result = insertvalue { i32, i32 } %swapped, i32 %x, 1
  ret { i32, i32 } %result
}
