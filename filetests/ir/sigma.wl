; test: roundtrip
; test: verify
; test: simplify
; test: destruct
; test: destruct-coalesced
; σs give values names on the edges out of a block. They are printed before the terminator and take effect behind it.

func @clamp(%x: i32, %n: i32) -> i32 {
entry:
  %c: i1 = icmp slt %x, %n
  %x.lt: i32, %x.ge: i32 = sigma %x
  %n.lt: i32, %n.ge: i32 = sigma %n
  br %c, below, join(%n.ge)
below:
  %y: i32 = add nsw %x.lt, 1
  %k: i32 = sub %n.lt, %y
  br join(%y)
join:
  %r: i32 = phi
  ret %r
}
; check: verify
; sound
; check: simplify
; func @clamp(%x: i32, %n: i32) -> i32 {
; entry:
;   %c: i1 = icmp slt %x, %n
;   br %c, below, join(%n)
; below:
;   %y: i32 = add nsw %x, 1
;   %k: i32 = sub %n, %y
;   br join(%y)
; join:
;   %r: i32 = phi
;   ret %r
; }
; check: destruct
; func @clamp(%x: i32, %n: i32) -> i32 {
;   var $r: i32
; entry:
;   %c: i1 = icmp slt %x, %n
;   %x.lt: i32, %x.ge: i32 = sigma %x
;   %n.lt: i32, %n.ge: i32 = sigma %n
;   br %c, below, b3
; below:
;   %y: i32 = add nsw %x.lt, 1
;   %k: i32 = sub %n.lt, %y
;   write $r, %y
;   br join
; b3:
;   write $r, %n.ge
;   br join
; join:
;   %r: i32 = read $r
;   ret %r
; }
; check: destruct-coalesced
; func @clamp(%x: i32, %n: i32) -> i32 {
;   var $r: i32
; entry:
;   %c: i1 = icmp slt %x, %n
;   %x.lt: i32, %x.ge: i32 = sigma %x
;   %n.lt: i32, %n.ge: i32 = sigma %n
;   br %c, below, b3
; below:
;   %y: i32 = add nsw %x.lt, 1
;   write $r, %y
;   %k: i32 = sub %n.lt, %y
;   br join
; b3:
;   write $r, %n.ge
;   br join
; join:
;   %r: i32 = read $r
;   ret %r
; }

func @loop(%n: i32) -> i32 {
entry:
  %m: i32 = sigma %n
  br head(0)
head:
  %i: i32 = phi
  %c: i1 = icmp ult %i, %m
  %i.in: i32, %i.out: i32 = sigma %i
  br %c, body, exit
body:
  %next: i32 = add nuw %i.in, 1
  %back: i32 = sigma %next
  br head(%back)
exit:
  ret %i.out
}
; check: verify
; sound
; check: simplify
; func @loop(%n: i32) -> i32 {
; entry:
;   br head(0)
; head:
;   %i: i32 = phi
;   %c: i1 = icmp ult %i, %n
;   br %c, body, exit
; body:
;   %next: i32 = add nuw %i, 1
;   br head(%next)
; exit:
;   ret %i
; }
; check: destruct
; func @loop(%n: i32) -> i32 {
;   var $i: i32
; entry:
;   write $i, 0
;   %m: i32 = sigma %n
;   br head
; b4:
;   write $i, %back
;   br head
; head:
;   %i: i32 = read $i
;   %c: i1 = icmp ult %i, %m
;   %i.in: i32, %i.out: i32 = sigma %i
;   br %c, body, exit
; body:
;   %next: i32 = add nuw %i.in, 1
;   %back: i32 = sigma %next
;   br b4
; exit:
;   ret %i.out
; }
; check: destruct-coalesced
; func @loop(%n: i32) -> i32 {
;   var $i: i32
; entry:
;   %m: i32 = sigma %n
;   br b4
; b4:
;   write $i, 0
;   br head
; b5:
;   write $i, %back
;   br head
; head:
;   %i: i32 = read $i
;   %c: i1 = icmp ult %i, %m
;   %i.in: i32, %i.out: i32 = sigma %i
;   br %c, body, exit
; body:
;   %next: i32 = add nuw %i.in, 1
;   %back: i32 = sigma %next
;   br b5
; exit:
;   ret %i.out
; }

func @of_terminator(%p: ptr) -> i32 {
entry:
  %v.fine: i32, %v.unwind: i32 = sigma %v
  %v: i32 = opaque_term "invoke" %p [unknown] -> fine, unwind
fine:
  %w: i32 = freeze %v.fine
  %a: i32, %b: i32, %c: i32 = sigma %w
  switch %v, out(%a) [1: out(%b), 2: other]
other:
  ret %c
out:
  %r: i32 = phi
  ret %r
unwind:
  ret 0
}
; check: verify
; sound
; check: simplify
; func @of_terminator(%p: ptr) -> i32 {
; entry:
;   %v: i32 = opaque_term "invoke" %p [unknown] -> fine, unwind
; fine:
;   %w: i32 = freeze %v
;   switch %v, out [1: out, 2: other]
; other:
;   ret %w
; out:
;   ret %w
; unwind:
;   ret 0
; }
; check: destruct
; func @of_terminator(%p: ptr) -> i32 {
;   var $r: i32
; entry:
;   %v.fine: i32, %v.unwind: i32 = sigma %v
;   %v: i32 = opaque_term "invoke" %p [unknown] -> fine, unwind
; fine:
;   %w: i32 = freeze %v.fine
;   %a: i32, %b: i32, %c: i32 = sigma %w
;   switch %v, b5 [1: b6, 2: other]
; other:
;   ret %c
; b5:
;   write $r, %a
;   br out
; b6:
;   write $r, %b
;   br out
; out:
;   %r: i32 = read $r
;   ret %r
; unwind:
;   ret 0
; }
; check: destruct-coalesced
; func @of_terminator(%p: ptr) -> i32 {
;   var $r: i32
; entry:
;   %v.fine: i32, %v.unwind: i32 = sigma %v
;   %v: i32 = opaque_term "invoke" %p [unknown] -> fine, unwind
; fine:
;   %w: i32 = freeze %v.fine
;   %a: i32, %b: i32, %c: i32 = sigma %w
;   switch %v, b5 [1: b6, 2: other]
; other:
;   ret %c
; b5:
;   write $r, %a
;   br out
; b6:
;   write $r, %b
;   br out
; out:
;   %r: i32 = read $r
;   ret %r
; unwind:
;   ret 0
; }
