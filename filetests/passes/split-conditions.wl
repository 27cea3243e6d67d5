; test: passes split-conditions

; `x && u`: all lanes agree on the second part, so it gets a branch of its own, before that on which lanes part.
func @both(%x: i32, %uflag: i1) -> i32 {
entry:
  %first: i1 = icmp sgt %x, 0
  %whole: i1 = and %first, %uflag
  br %whole, yes, no
yes:
  ret 1
no:
  ret 2
}
; check: passes
; func @both(%x: i32, %uflag: i1) -> i32 {
; entry:
;   %first: i1 = icmp sgt %x, 0
;   %whole: i1 = and %first, %uflag
;   br %uflag, and, no
; and:
;   br %first, yes, no
; yes:
;   ret 1
; no:
;   ret 2
; }

; Nothing is uniform in it: it stays.
func @neither(%x: i32, %y: i32) -> i32 {
entry:
  %first: i1 = icmp sgt %x, 0
  %second: i1 = icmp sgt %y, 0
  %whole: i1 = and %first, %second
  br %whole, yes, no
yes:
  ret 1
no:
  ret 2
}
; check: passes
; func @neither(%x: i32, %y: i32) -> i32 {
; entry:
;   %first: i1 = icmp sgt %x, 0
;   %second: i1 = icmp sgt %y, 0
;   %whole: i1 = and %first, %second
;   br %whole, yes, no
; yes:
;   ret 1
; no:
;   ret 2
; }
