; test: null-pointers

; Paper 4, Figure 4: what is dereferenced twice cannot be null the second time; where ways join it may be again.
declare @malloc(i64) -> ptr

func @twice(%n: i64) -> i32 {
entry:
  %p: ptr = call @malloc(%n)
  %a: i32 = load %p, align 4
  %b: i32 = load %p, align 4
  %s: i32 = add %a, %b
  ret %s
}
; check: null-pointers
;   dereferences: 2, never of null: 1, of what may be null as far as the program knows: 1
;   load of %p, which may be null: the call of malloc may fail

func @join(%c: i1, %n: i64) -> i32 {
entry:
  %p: ptr = call @malloc(%n)
  br %c, then, join
then:
  store i32 1, %p, align 4
  br join
join:
  %a: i32 = load %p, align 4
  ret %a
}
; check: null-pointers
;   dereferences: 2, never of null: 0, of what may be null as far as the program knows: 2
;   store of %p, which may be null: the call of malloc may fail
;   load of %p, which may be null: the call of malloc may fail

; A test before the dereference makes it safe; one behind it is superfluous.
func @tested(%n: i64) -> i32 {
entry:
  %p: ptr = call @malloc(%n)
  %null: i1 = icmp eq %p, null
  br %null, fail, use
fail:
  ret 0
use:
  %a: i32 = load %p, align 4
  %again: i1 = icmp ne %p, null
  %r: i32 = select %again, %a, 1
  ret %r
}
; check: null-pointers
;   dereferences: 1, never of null: 1, of what may be null as far as the program knows: 0
;   %again is always true

; It is compared with null and dereferenced all the same.
func @wrong_way(%p: ptr) -> i32 {
entry:
  %null: i1 = icmp eq %p, null
  br %null, use, done
use:
  %a: i32 = load %p, align 4
  ret %a
done:
  ret 0
}
; check: null-pointers
;   dereferences: 1, never of null: 0, of what may be null as far as the program knows: 1
;   load of %p, which is null: %p is compared with null

; A list is walked to its end, and one step further.
func @list(%first: ptr) -> i32 {
entry:
  br head(%first)
head:
  %p: ptr = phi
  %more: i1 = icmp ne %p, null
  br %more, body, out
body:
  %next: ptr = load %p, align 8
  br head(%next)
out:
  %last: i32 = load %p, align 4
  ret %last
}
; check: null-pointers
;   dereferences: 2, never of null: 1, of what may be null as far as the program knows: 1
;   load of %p, which is null: %p is compared with null

; What nobody has compared with null may be null, but gives no reason to say so.
func @unknown(%p: ptr) -> i32 {
entry:
  %field: ptr = getelementptr inbounds i8, %p, i64 8
  %a: i32 = load %field, align 4
  ret %a
}
; check: null-pointers
;   dereferences: 1, never of null: 0, of what may be null as far as the program knows: 0
