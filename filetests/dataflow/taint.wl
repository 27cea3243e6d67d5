; test: taint is_valid:0,clean,wash:*0

; Paper 4, Figure 3: what is read is checked; only where the check fails may it do harm.
declare @getchar() -> i32
declare @malloc(i64) -> ptr
declare @is_valid(i64) -> i1
declare @clean(i64) -> i64
declare @wash(ptr)
declare @gets(ptr) -> ptr
declare @system(ptr) -> i32
declare @keep(ptr, i64)
constant @date: [5 x i8] align 1 = "date\00"

func @figure_3() {
entry:
  %r: i32 = call @getchar()
  %v: i64 = zext %r
  %e1: ptr = call @malloc(%v)
  %ok: i1 = call @is_valid(%v)
  br %ok, then, else
then:
  %e5: ptr = call @malloc(%v)
  br join
else:
  %e4: ptr = call @malloc(%v)
  br join
join:
  %e6: ptr = call @malloc(%v)
  ret
}
; check: taint
;   argument 0 of the call of malloc may be chosen from outside
;     in figure_3: %v depends on %r: the zext
;     in figure_3: %r is data from outside: the call of getchar
;   argument 0 of the call of malloc may be chosen from outside
;     in figure_3: %v depends on %r: the zext
;     in figure_3: %r is data from outside: the call of getchar
;   argument 0 of the call of malloc may be chosen from outside
;     in figure_3: %v depends on %r: the zext
;     in figure_3: %r is data from outside: the call of getchar

func @results_may_be_clean() {
entry:
  %r: i32 = call @getchar()
  %v: i64 = zext %r
  %w: i64 = call @clean(%v)
  %p: ptr = call @malloc(%w)
  ret
}
; check: taint

func @constants_stay_clean() {
entry:
  %b: ptr = alloca [64 x i8], i32 1, align 1
  %c: ptr = alloca [64 x i8], i32 1, align 1
  store i8 0, %c, align 1
  %g: ptr = call @gets(%b)
  %s: i32 = call @system(@date)
  %t: i32 = call @system(%c)
  %u: i32 = call @system(%b)
  ret
}
; check: taint
;   argument 0 of the call of system may be chosen from outside
;     in constants_stay_clean: the call of gets writes data from outside to memory

; What is washed is clean until it is read again.
func @in_place() {
entry:
  %b: ptr = alloca [64 x i8], i32 1, align 1
  br head
head:
  %g: ptr = call @gets(%b)
  %s: i32 = call @system(%b)
  call @wash(%b)
  %t: i32 = call @system(%b)
  br head
}
; check: taint
;   argument 0 of the call of system may be chosen from outside
;     in in_place: the call of gets writes data from outside to memory

func @keep(%p: ptr, %x: i64) {
entry:
  store %x, %p, align 8
  ret
}
; check: taint

func @through_memory_of_another_function() {
entry:
  %p: ptr = alloca i64, i32 1, align 8
  %r: i32 = call @getchar()
  %v: i64 = zext %r
  call @keep(%p, %v)
  %w: i64 = load %p, align 8
  %m: ptr = call @malloc(%w)
  ret
}
; check: taint
;   argument 0 of the call of malloc may be chosen from outside
;     in through_memory_of_another_function: %w depends on what is behind %p: the load
;     in keep: the store writes %x to memory
;     in through_memory_of_another_function: the call of keep gives %v to %x
;     in through_memory_of_another_function: %v depends on %r: the zext
;     in through_memory_of_another_function: %r is data from outside: the call of getchar

; Memory that nobody here reads or writes but functions of the library.
declare @read(i32, ptr, i64) -> i64

func @library_only() {
entry:
  %b: ptr = alloca [64 x i8], i32 1, align 1
  %n: i64 = call @read(i32 0, %b, i64 64)
  %s: i32 = call @system(%b)
  ret
}
; check: taint
;   argument 0 of the call of system may be chosen from outside
;     in library_only: the call of read writes data from outside to memory
