; Memory accesses of every kind, addresses, aggregates, and constants that refer to globals.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-p1:32:32-i64:64-i128:128-f80:128-n8:16:32:64-S128"

%pair = type { i32, [3 x i64] }
%packed = type <{ i8, ptr, %pair }>

@table = private unnamed_addr constant [4 x i16] [i16 1, i16 2, i16 3, i16 -1], align 2
@text = constant [6 x i8] c"hello\00"
@mixed = global %packed <{ i8 7, ptr @table, %pair { i32 1, [3 x i64] [i64 1, i64 2, i64 3] } }>
@big = external addrspace(1) global [1000000 x i32]
@local = thread_local global i32 5
@0 = private constant i32 17
@1 = private constant i32 18
@inside = global ptr getelementptr inbounds (i8, ptr @table, i64 2)
@other = alias i32, ptr @local
@resolved = ifunc i32 (i32), ptr @resolver

define internal ptr @resolver() {
  ret ptr null
}

define i64 @accesses(ptr %p, ptr addrspace(1) %q, i64 %i) {
  %a = alloca i32, align 4
  %b = alloca %pair, i32 4, align 16
  %c = alloca i8, i64 %i, align 32
  %1 = load i64, ptr %p, align 8, !range !0, !noundef !1
  %2 = load volatile i32, ptr addrspace(1) %q, align 1
  %3 = load atomic i32, ptr %p acquire, align 4
  %4 = load atomic volatile i32, ptr %p syncscope("singlethread") seq_cst, align 4
  %5 = load atomic i32, ptr %p unordered, align 4
  %6 = load atomic i32, ptr %p monotonic, align 4
  store i32 %2, ptr %a, align 4, !nontemporal !2
  store volatile i32 %3, ptr %p, align 2
  store atomic i32 %4, ptr %p release, align 4
  store atomic i32 %4, ptr %p syncscope("agent") monotonic, align 4
  %7 = getelementptr inbounds %pair, ptr %b, i64 %i, i32 1, i64 2
  %8 = getelementptr nuw i8, ptr %p, i64 3
  %9 = getelementptr nusw i32, ptr %8, i64 %1
  %10 = getelementptr i32, ptr %9, <2 x i64> <i64 1, i64 2>
  %11 = getelementptr inbounds [4 x i16], ptr @table, i64 0, i64 %i
  %12 = load i16, ptr %11, align 2, !tbaa !3
  %13 = load i32, ptr @0, align 4
  %14 = load i32, ptr @1, align 4
  %15 = addrspacecast ptr addrspace(1) %q to ptr
  %16 = ptrtoint ptr %15 to i64
  %17 = inttoptr i64 %16 to ptr
  %18 = inttoptr i64 42 to ptr
  store ptr %17, ptr %18, align 8
  %19 = load ptr, ptr getelementptr (i8, ptr @inside, i64 8), align 8
  store ptr addrspacecast (ptr addrspace(1) @big to ptr), ptr %19, align 8
  store i64 ptrtoint (ptr @mixed to i64), ptr %19, align 8
  store ptr @other, ptr %7, align 8
  ret i64 %1
}

define i32 @atomics(ptr %p, i32 %x, float %f) {
  %1 = atomicrmw add ptr %p, i32 %x seq_cst, align 4
  %2 = atomicrmw volatile xchg ptr %p, i32 %1 syncscope("singlethread") monotonic, align 4
  %3 = atomicrmw fadd ptr %p, float %f acq_rel, align 4
  %4 = cmpxchg weak ptr %p, i32 %2, i32 %x acq_rel acquire, align 4
  %5 = extractvalue { i32, i1 } %4, 0
  fence acquire
  fence syncscope("singlethread") seq_cst
  ret i32 %5
}

define { i32, { float, [2 x ptr] } } @aggregates({ i32, { float, [2 x ptr] } } %x, ptr %p) {
  %1 = extractvalue { i32, { float, [2 x ptr] } } %x, 1, 1, 0
  %2 = extractvalue { i32, { float, [2 x ptr] } } %x, 1
  %3 = extractvalue { float, [2 x ptr] } %2, 0
  %4 = insertvalue { i32, { float, [2 x ptr] } } %x, ptr %1, 1, 1, 1
  %5 = insertvalue { i32, { float, [2 x ptr] } } %4, i32 3, 0
  %6 = insertvalue { i32, { float, [2 x ptr] } } { i32 1, { float, [2 x ptr] } { float 2.0, [2 x ptr] [ptr @table, ptr null] } }, float %3, 1, 0
  %7 = freeze { i32, { float, [2 x ptr] } } %6
  %8 = select i1 true, { i32, { float, [2 x ptr] } } %5, { i32, { float, [2 x ptr] } } zeroinitializer
  ret { i32, { float, [2 x ptr] } } %8
}

define void @swift(ptr swifterror %e) {
  %1 = alloca swifterror ptr, align 8
  store ptr null, ptr %1, align 8
  call void @swift(ptr swifterror %1)
  ret void
}

!0 = !{i64 0, i64 10}
!1 = !{}
!2 = !{i32 1}
!3 = !{!4, !4, i64 0}
!4 = !{!"short", !5, i64 0}
!5 = !{!"root"}
