; test: linearize-boscc

; The gadget of paper 3, Fig. 13 (a) to (c). Said by the text: the divergent branch of a leads to b, whose only predecessor is a, and
; to c. The block any(b) holds the instructions of a and branches to a if any lane goes to b, else to c. Linearized, a leads to b
; alone, and any(b) still skips it. Our any(b) keeps the name a, and what is left of a is called `rest`. Guessed: that b leads to c.
func @figure13_a_to_c(%x: i32, %p: ptr) {
a:
  %goes: i1 = icmp sgt %x, 4
  br %goes, b, c
b:
  store i32 1, %p, align 4
  br c
c:
  ret
}
; check: linearize-boscc
; branches: 1 divergent, 0 kept, 0 lost; loops: 0 uniform, 0 divergent; tests: 0 mandatory, 1 chosen
; func @figure13_a_to_c(%x: i32, %p: ptr) phase linearized {
; a:
;   %goes: i1 = icmp sgt %x, 4
;   %v11: i1 = mask_any %goes
;   br %v11, rest, c
; rest:
;   br b
; b mask %goes:
;   store i32 1, %p, align 4
;   br c
; c:
;   ret
; }

