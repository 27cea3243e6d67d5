; test: roundtrip
; Every kind of line, in the printer's own form.
module "everything.ll"
triple "x86_64-unknown-linux-gnu"
layout "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
type %pair = { i32, float }
type %"struct.with space" = <{ i8, [3 x %pair] }>
type %hidden = opaque
global @counter: i32 align 4
constant @table: [4 x i8] align 1 = "\00\ffok"
declare @sinf(float) -> float [reads]
declare @printf(ptr, ...) -> i32 [unknown]
declare @free(ptr) [writes traps] #o2
symbol @alias

func @numbers(%n: i32, %p: ptr addrspace(3), ...) -> i32 #o1 !0 {
entry:
  %a: i32 = add nuw nsw %n, -2147483648 !1
  %b: i1 = icmp samesign ult %a, 7
  %c: i1 = fcmp fast oeq float 0.1, 0x7fc00000
  %d: double = fdiv nnan arcp -0.0, 5e-324
  %e: half = fneg 0x3c00
  %f: x86_fp80 = freeze 0x3fff8000000000000000
  %wide: i200 = shl 0x00000000000000000000000000000000000000000000000001, poison
  %t: i16 = trunc nuw %a
  %cast: ptr = addrspacecast %p
  %sel: i1 = select %b, %c, undef
  ret -1
}

func @memory(%p: ptr, %pair: %pair) -> %pair {
entry:
  %slot: ptr = alloca [4 x i8], i32 1, align 16
  %at: ptr = getelementptr nuw inbounds %pair, %p, i64 1, i32 0
  %v: i32 = load volatile acquire %at, align 4
  store %v, @counter+4, align 4 #o7
  %vec: <4 x i32> = insertelement <0, 1, undef, poison>, %v, i32 2
  %sh: <2 x i32> = shufflevector %vec, zero [3, -1]
  %x: i32 = extractelement %sh, i64 0
  %m: float = extractvalue %pair [1]
  %r: %pair = insertvalue {1, 0.5}, %m [1]
  %s: float = call @sinf(%m)
  %k: i32 = call @printf(@table from #o9, %m) variadic 1
  %l: i32 = call %p(%k) [reads]
  call @free(null) [writes] #o3
  %q: i32 = opaque "atomicrmw" %p, i32 1 [reads writes atomic] #o12
  %w: other "token" = opaque "cleanuppad" [] #o13
  ret %r
}

func @flow(%x: i8, %c: i1) phase linearized {
  var $i: i32
  var $f: float
  var $x2: i1
entry:
  write $i, 0
  br %c, loop(1, true), "b1"(%x)
loop mask %m:
  %i: i32 = phi
  %m: i1 = phi
  %v9: i32 = read $i
  %any: i1 = mask_any %m
  %blend: i32 = blend %m, %i, %v9
  %y: i32, %z: i32 = copy %v9, %i
  switch %x, b7 [-1: loop(%y, false), 3: loop(%z, %any), 4: b7]
"b1":
  %p: i8 = phi
  opaque_term "invoke" %p [unknown] -> b7, "un wind" #o20
b7:
  ret
"un wind":
  unreachable
}

func @weights(%x: i8, %c: i1) {
entry:
  br %c, loop(1) weight 7 groups 3 of 40 by 8, weight weight 0 groups 40 of 40 by 8
loop:
  %i: i32 = phi
  switch %x, weight weight 1 [-1: loop(%i) weight 4294967295, 3: loop(2), 4: weight weight 2]
weight:
  ret
}

!0 = "dir/a.c":1:5
!1 = "dir/a b.c":7:9 at !0
