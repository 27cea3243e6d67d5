; Terminators, parallel edges, φs, addresses of blocks, unreachable code, and exceptions of three kinds.

@targets = constant [2 x ptr] [ptr blockaddress(@indirect, %one), ptr blockaddress(@indirect, %two)]

define i32 @switching(i32 %x, i8 %y, i256 %z) {
entry:
  switch i32 %x, label %default [
    i32 0, label %same
    i32 1, label %same
    i32 -1, label %same
    i32 7, label %other
  ]

same:                                             ; preds = %entry, %entry, %entry
  %p = phi i32 [ 3, %entry ], [ 3, %entry ], [ 3, %entry ]
  switch i8 %y, label %default [
  ]

other:                                            ; preds = %entry
  switch i256 %z, label %default [
    i256 1, label %done
    i256 115792089237316195423570985008687907853269984665640564039457584007913129639935, label %done
  ]

default:                                          ; preds = %other, %same, %entry
  %q = phi i32 [ %p, %same ], [ 5, %other ], [ 4, %entry ]
  br i1 poison, label %done, label %done

done:                                             ; preds = %default, %default, %other, %other
  %r = phi i32 [ 1, %other ], [ 1, %other ], [ %q, %default ], [ %q, %default ]
  ret i32 %r
}

define i64 @loops(i64 %n) {
entry:
  %c = icmp ult i64 %n, 8
  br i1 %c, label %inner, label %outer, !prof !0

outer:                                            ; preds = %latch, %entry
  %i = phi i64 [ %next, %latch ], [ 0, %entry ]
  br label %inner

inner:                                            ; preds = %inner, %outer, %entry
  %j = phi i64 [ %j.next, %inner ], [ %i, %outer ], [ %n, %entry ]
  %k = phi i64 [ %j, %inner ], [ 0, %outer ], [ 1, %entry ]
  %j.next = add i64 %j, %k
  %d = icmp eq i64 %j.next, 100
  br i1 %d, label %latch, label %inner, !llvm.loop !1

latch:                                            ; preds = %inner
  %next = add i64 %j, 1
  %e = icmp ult i64 %next, %n
  br i1 %e, label %outer, label %exit

exit:                                             ; preds = %latch
  ret i64 %next

nowhere:                                          ; preds = %nowhere
  %self = add i64 %self, %later
  %later = mul i64 %self, 2
  br label %nowhere
}

define void @indirect(i64 %i) {
entry:
  %slot = getelementptr [2 x ptr], ptr @targets, i64 0, i64 %i
  %target = load ptr, ptr %slot, align 8
  indirectbr ptr %target, [label %one, label %two, label %one]

one:                                              ; preds = %entry, %entry
  %p = phi i64 [ %i, %entry ], [ %i, %entry ]
  br label %two

two:                                              ; preds = %one, %entry
  ret void
}

define void @assembly(i32 %x) {
entry:
  %r = call i32 asm sideeffect "bswap $0", "=r,r"(i32 %x)
  %s = call { i32, i32 } asm "cpuid", "={ax},={bx},{ax},~{cx},~{dx}"(i32 %r) #0
  callbr void asm sideeffect "", "r,!i,!i"(i32 %x)
          to label %fallthrough [label %a, label %b]

fallthrough:                                      ; preds = %entry
  ret void

a:                                                ; preds = %entry
  br label %b

b:                                                ; preds = %a, %entry
  unreachable
}

declare i32 @may_throw(i32)

declare i32 @__gxx_personality_v0(...)

define i32 @itanium(i32 %x) personality ptr @__gxx_personality_v0 {
entry:
  %r = invoke i32 @may_throw(i32 %x)
          to label %ok unwind label %bad

ok:                                               ; preds = %entry
  %s = invoke i32 @may_throw(i32 %r)
          to label %done unwind label %bad

done:                                             ; preds = %ok
  ret i32 %s

bad:                                              ; preds = %ok, %entry
  %which = phi i32 [ 0, %entry ], [ %r, %ok ]
  %pad = landingpad { ptr, i32 }
          cleanup
          catch ptr null
          filter [1 x ptr] [ptr @may_throw]
  %selector = extractvalue { ptr, i32 } %pad, 1
  %c = icmp eq i32 %selector, %which
  br i1 %c, label %again, label %ok2

again:                                            ; preds = %bad
  resume { ptr, i32 } %pad

ok2:                                              ; preds = %bad
  ret i32 0
}

declare i32 @__CxxFrameHandler3(...)

define void @funclets() personality ptr @__CxxFrameHandler3 {
entry:
  %r = invoke i32 @may_throw(i32 1)
          to label %done unwind label %dispatch

dispatch:                                         ; preds = %entry
  %switch = catchswitch within none [label %handler] unwind label %cleanup

handler:                                          ; preds = %dispatch
  %pad = catchpad within %switch [ptr null, i32 64, ptr null]
  %t = call i32 @may_throw(i32 2) [ "funclet"(token %pad) ]
  catchret from %pad to label %done

cleanup:                                          ; preds = %dispatch
  %clean = cleanuppad within none []
  call void @nothing() [ "funclet"(token %clean) ]
  cleanupret from %clean unwind to caller

done:                                             ; preds = %handler, %entry
  ret void
}

declare void @nothing()

attributes #0 = { nounwind memory(none) }

!0 = !{!"branch_weights", i32 1, i32 9}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.unroll.disable"}
