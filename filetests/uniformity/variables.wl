; test: uniformity i=varying,n=uniform

; Functions with variables: each read has an answer of its own.

; Figure 1a of paper 1: x is uniform in each arm and divergent behind them; z, which no arm writes, stays uniform.
func @figure_1a(%i: i32, %n: i32) -> i32 {
  var $x: i32
  var $z: i32
entry:
  %c: i1 = icmp slt %i, %n
  write $z, %n
  br %c, left, right
left:
  write $x, 1
  %in.left: i32 = read $x
  br join
right:
  write $x, 2
  %in.right: i32 = read $x
  br join
join:
  %x: i32 = read $x
  %z: i32 = read $z
  %y: i32 = add %x, %z
  ret %y
}
; check: uniformity
; function figure_1a: 4 blocks, 13 instructions
;   arguments: %i varying, %n uniform
;   divergent: 3 of 6 values (0 strided), 1 of 1 branch, 0 of 0 loops
;   divergent branch entry: depends on the argument %i (varying)
; %c: varying
; %x: varying
; %y: varying

; Figure 1b: x counts, the same for all lanes in each iteration, and differs behind the loop, which lanes leave on their own.
func @figure_1b(%i: i32, %n: i32) -> i32 {
  var $x: i32
entry:
  write $x, 0
  br loop
loop:
  %x: i32 = read $x
  %x.next: i32 = add nuw nsw %x, 1
  write $x, %x.next
  %again: i32 = read $x
  %c: i1 = icmp slt %again, %i
  br %c, loop, exit
exit:
  %behind: i32 = read $x
  ret %behind
}
; check: uniformity
; function figure_1b: 3 blocks, 10 instructions
;   arguments: %i varying, %n uniform
;   divergent: 2 of 5 values (0 strided), 1 of 1 branch, 1 of 1 loop
;   divergent branch loop: depends on the argument %i (varying)
;   divergent loop loop: lanes leave the loop at block loop in different iterations by the edge loop → exit: they diverge at the branch of block loop
; %c: varying
; %behind: varying

; The same with a uniform bound.
func @uniform_loop(%i: i32, %n: i32) -> i32 {
  var $x: i32
entry:
  write $x, 0
  br loop
loop:
  %x: i32 = read $x
  %x.next: i32 = add nuw nsw %x, 1
  write $x, %x.next
  %c: i1 = icmp slt %x.next, %n
  br %c, loop, exit
exit:
  %behind: i32 = read $x
  ret %behind
}
; check: uniformity
; function uniform_loop: 3 blocks, 9 instructions
;   arguments: %i varying, %n uniform
;   divergent: 0 of 4 values (0 strided), 0 of 1 branch, 0 of 1 loop

; A branch on what a variable holds in a join is divergent, and the reason leads through the variable.
func @branch_on_a_variable(%i: i32, %n: i32) -> i32 {
  var $x: i1
entry:
  %c: i1 = icmp slt %i, %n
  br %c, left, join
left:
  write $x, true
  br join2
join:
  write $x, false
  br join2
join2:
  %x: i1 = read $x
  br %x, a, b
a:
  br b
b:
  ret 0
}
; check: uniformity
; function branch_on_a_variable: 6 blocks, 10 instructions
;   arguments: %i varying, %n uniform
;   divergent: 2 of 2 values (0 strided), 2 of 2 branches, 0 of 0 loops
;   divergent branch entry: depends on the argument %i (varying)
;   divergent branch join2: the variable $x at the start of block join2 merges lanes that diverge at the branch of block entry
; %c: varying
; %x: varying

; What was never written may be anything, and so the same for all lanes.
func @unwritten(%i: i32, %n: i32) -> i32 {
  var $x: i32
entry:
  %c: i1 = icmp slt %i, %n
  br %c, left, join
left:
  write $x, %n
  br join
join:
  %x: i32 = read $x
  ret %x
}
; check: uniformity
; function unwritten: 3 blocks, 6 instructions
;   arguments: %i varying, %n uniform
;   divergent: 1 of 2 values (0 strided), 1 of 1 branch, 0 of 0 loops
;   divergent branch entry: depends on the argument %i (varying)
; %c: varying

; An irreducible cycle that lanes enter apart: reads in it are given up, those before it are not.
func @irreducible(%i: i32, %n: i32) -> i32 {
  var $x: i32
entry:
  write $x, %n
  %before: i32 = read $x
  %c: i1 = icmp slt %i, %n
  br %c, a, b
a:
  %at.a: i32 = read $x
  %next: i32 = add %at.a, 1
  write $x, %next
  br b
b:
  %at.b: i32 = read $x
  %d: i1 = icmp slt %at.b, %n
  br %d, a, exit
exit:
  %behind: i32 = read $x
  ret %behind
}
; check: uniformity
; function irreducible: 4 blocks, 13 instructions
;   arguments: %i varying, %n uniform
;   divergent: 6 of 7 values (0 strided), 2 of 2 branches, 1 of 1 loop
;   divergent branch entry: depends on the argument %i (varying)
;   divergent branch b: since %d = icmp is computed in the irreducible cycle at block a, which is conservatively treated as divergent
;   divergent loop a: the irreducible cycle at block a is conservatively treated as divergent: lanes that diverge at the branch of block entry enter it at different blocks
; %c: varying
; %at.a: varying
; %next: varying
; %at.b: varying
; %d: varying
; %behind: varying
