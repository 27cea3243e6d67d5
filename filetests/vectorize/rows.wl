; test: lower

; Four fields of a structure that each lane finds elsewhere, one of them an integer: one row of 16 bytes for each lane.
func @fields(%i: i64, %uindex: ptr, %unodes: ptr) -> float {
entry:
  %p: ptr = getelementptr i32, %uindex, %i
  %k: i32 = load %p, align 4
  %wide: i64 = sext %k
  %x.p: ptr = getelementptr [4 x float], %unodes, %wide
  %y.p: ptr = getelementptr i8, %x.p, 4
  %n.p: ptr = getelementptr i8, %x.p, 8
  %z.p: ptr = getelementptr i8, %x.p, 12
  %x: float = load %x.p, align 4
  %y: float = load %y.p, align 4
  %n: i32 = load %n.p, align 4
  %z: float = load %z.p, align 4
  %f: float = sitofp %n
  %xy: float = fadd %x, %y
  %fz: float = fadd %f, %z
  %r: float = fadd %xy, %fz
  ret %r
}

; Two neighbours in double precision, under a mask: lanes that are not active read what nobody looks at. A store between two loads keeps them apart.
func @neighbours(%i: i64, %uindex: ptr, %ugrid: ptr, %uout: ptr) -> double {
entry:
  %p: ptr = getelementptr i64, %uindex, %i
  %k: i64 = load %p, align 8
  %inside: i1 = icmp slt %k, 100
  br %inside, read, end(0x0)
read:
  %a.p: ptr = getelementptr double, %ugrid, %k
  %b.p: ptr = getelementptr i8, %a.p, 8
  %c.p: ptr = getelementptr i8, %a.p, 16
  %b: double = load %b.p, align 8
  %a: double = load %a.p, align 8
  %q: ptr = getelementptr double, %uout, %i
  store %a, %q, align 8
  %c: double = load %c.p, align 8
  %ab: double = fadd %a, %b
  %abc: double = fadd %ab, %c
  br end(%abc)
end:
  %r: double = phi
  ret %r
}
