; test: classes
; test: occurrence-types

; Paper 4, Figure 1: on one way an object of one class is used, on the other it is replaced by one of another class before it is used.
declare @object.new.OX() -> ptr
declare @object.new.OY() -> ptr
declare @object.is.OX(ptr) -> i1
declare @method.m1(ptr, i32)
declare @method.m2(ptr)
declare @method.m3(ptr)
declare @class.OX.m1(ptr, i32)
declare @class.OX.m3(ptr)
declare @class.OY.m2(ptr)
declare @class.OY.m3(ptr)

func @figure_1(%odd: i1, %i: i32) {
entry:
  %v1: ptr = call @object.new.OX()
  br %odd, then, else
then:
  %tmp: i32 = add %i, 1
  call @method.m1(%v1, %tmp)
  br join(%v1)
else:
  %v2: ptr = call @object.new.OY()
  call @method.m2(%v2)
  br join(%v2)
join:
  %v3: ptr = phi
  call @method.m3(%v3)
  ret
}
; check: classes
;   %v1: methods m1, m3; classes that fit: OX
;   %v2: methods m2, m3; classes that fit: OY
;   %v3: methods m3; classes that fit: OX, OY
; check: occurrence-types
;   %v1: methods m1, m3; classes that fit: OX
;   %v2: methods m2, m3; classes that fit: OY
;   %v3: methods m3; classes that fit: OX, OY

; A method that the object's class does not have, which is called on one way only.
func @missing(%c: i1) {
entry:
  %v: ptr = call @object.new.OX()
  br %c, then, join
then:
  call @method.m2(%v)
  br join
join:
  call @method.m3(%v)
  ret
}
; check: classes
;   %v: methods m2, m3; classes that fit: OY; but it is of the class OX
; check: occurrence-types
;   %v: methods m2, m3; classes that fit: OY; but it is of the class OX

; What an object is asked for decides what is called of it.
func @asked(%v: ptr) {
entry:
  %is: i1 = call @object.is.OX(%v)
  br %is, ox, other
ox:
  call @method.m1(%v, i32 1)
  br join
other:
  call @method.m2(%v)
  br join
join:
  call @method.m3(%v)
  ret
}
; check: classes
;   %v: methods m1, m2, m3; classes that fit: none
; check: occurrence-types
;   %v: methods m2, m3; classes that fit: OX, OY

; After the question, too, a class must have what is called of it.
func @asked_for_nothing(%v: ptr) {
entry:
  %is: i1 = call @object.is.OX(%v)
  br %is, ox, other
ox:
  call @method.m2(%v)
  br other
other:
  ret
}
; check: classes
;   %v: methods m2; classes that fit: OY
; check: occurrence-types
;   %v: methods none; classes that fit: OY
