; A C function with variables that stay on the stack and others that need not, with debug records.
source_filename = "stack_debug.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; Function Attrs: nounwind uwtable
define dso_local i32 @f(i32 noundef %n) #0 !dbg !9 {
entry:
  %n.addr = alloca i32, align 4
  %kept = alloca i32, align 4
  %sum = alloca i32, align 4
  %i = alloca i32, align 4
  store i32 %n, ptr %n.addr, align 4, !tbaa !20
    #dbg_declare(ptr %n.addr, !15, !DIExpression(), !24)
  call void @llvm.lifetime.start.p0(i64 4, ptr %kept) #3, !dbg !25
    #dbg_declare(ptr %kept, !16, !DIExpression(), !26)
  %0 = load i32, ptr %n.addr, align 4, !dbg !27, !tbaa !20
  store i32 %0, ptr %kept, align 4, !dbg !26, !tbaa !20
  call void @llvm.lifetime.start.p0(i64 4, ptr %sum) #3, !dbg !28
    #dbg_declare(ptr %sum, !17, !DIExpression(), !29)
  store i32 0, ptr %sum, align 4, !dbg !29, !tbaa !20
  call void @llvm.lifetime.start.p0(i64 4, ptr %i) #3, !dbg !30
    #dbg_declare(ptr %i, !18, !DIExpression(), !31)
  store i32 0, ptr %i, align 4, !dbg !31, !tbaa !20
  br label %for.cond, !dbg !30

for.cond:                                         ; preds = %for.inc, %entry
  %1 = load i32, ptr %i, align 4, !dbg !32, !tbaa !20
  %2 = load i32, ptr %n.addr, align 4, !dbg !34, !tbaa !20
  %cmp = icmp slt i32 %1, %2, !dbg !35
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !36

for.cond.cleanup:                                 ; preds = %for.cond
  call void @llvm.lifetime.end.p0(i64 4, ptr %i) #3, !dbg !37
  br label %for.end

for.body:                                         ; preds = %for.cond
  call void @use(ptr noundef %kept), !dbg !38
  %3 = load i32, ptr %kept, align 4, !dbg !40, !tbaa !20
  %4 = load i32, ptr %i, align 4, !dbg !41, !tbaa !20
  %add = add nsw i32 %3, %4, !dbg !42
  %5 = load i32, ptr %sum, align 4, !dbg !43, !tbaa !20
    #dbg_value(i32 %add, !17, !DIExpression(), !42)
  %add1 = add nsw i32 %5, %add, !dbg !43
  store i32 %add1, ptr %sum, align 4, !dbg !43, !tbaa !20
  br label %for.inc, !dbg !44

for.inc:                                          ; preds = %for.body
  %6 = load i32, ptr %i, align 4, !dbg !45, !tbaa !20
  %inc = add nsw i32 %6, 1, !dbg !45
  store i32 %inc, ptr %i, align 4, !dbg !45, !tbaa !20
  br label %for.cond, !dbg !37, !llvm.loop !46

for.end:                                          ; preds = %for.cond.cleanup
  %7 = load i32, ptr %sum, align 4, !dbg !50, !tbaa !20
  call void @llvm.lifetime.end.p0(i64 4, ptr %sum) #3, !dbg !51
  call void @llvm.lifetime.end.p0(i64 4, ptr %kept) #3, !dbg !51
  ret i32 %7, !dbg !52
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

declare !dbg !53 void @use(ptr noundef) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

attributes #0 = { nounwind }
attributes #1 = { nounwind }
attributes #2 = { "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #3 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6, !7}
!llvm.ident = !{!8}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "clang", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "stack_debug.c", directory: "/src")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 8, !"PIC Level", i32 2}
!6 = !{i32 7, !"PIE Level", i32 2}
!7 = !{i32 7, !"uwtable", i32 2}
!8 = !{!"clang"}
!9 = distinct !DISubprogram(name: "f", scope: !10, file: !10, line: 2, type: !11, scopeLine: 2, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !14)
!10 = !DIFile(filename: "sd.c", directory: "/src")
!11 = !DISubroutineType(types: !12)
!12 = !{!13, !13}
!13 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!14 = !{!15, !16, !17, !18}
!15 = !DILocalVariable(name: "n", arg: 1, scope: !9, file: !10, line: 2, type: !13)
!16 = !DILocalVariable(name: "kept", scope: !9, file: !10, line: 3, type: !13)
!17 = !DILocalVariable(name: "sum", scope: !9, file: !10, line: 4, type: !13)
!18 = !DILocalVariable(name: "i", scope: !19, file: !10, line: 5, type: !13)
!19 = distinct !DILexicalBlock(scope: !9, file: !10, line: 5, column: 3)
!20 = !{!21, !21, i64 0}
!21 = !{!"int", !22, i64 0}
!22 = !{!"omnipotent char", !23, i64 0}
!23 = !{!"Simple C/C++ TBAA"}
!24 = !DILocation(line: 2, column: 11, scope: !9)
!25 = !DILocation(line: 3, column: 3, scope: !9)
!26 = !DILocation(line: 3, column: 7, scope: !9)
!27 = !DILocation(line: 3, column: 14, scope: !9)
!28 = !DILocation(line: 4, column: 3, scope: !9)
!29 = !DILocation(line: 4, column: 7, scope: !9)
!30 = !DILocation(line: 5, column: 8, scope: !19)
!31 = !DILocation(line: 5, column: 12, scope: !19)
!32 = !DILocation(line: 5, column: 19, scope: !33)
!33 = distinct !DILexicalBlock(scope: !19, file: !10, line: 5, column: 3)
!34 = !DILocation(line: 5, column: 23, scope: !33)
!35 = !DILocation(line: 5, column: 21, scope: !33)
!36 = !DILocation(line: 5, column: 3, scope: !19)
!37 = !DILocation(line: 5, column: 3, scope: !33)
!38 = !DILocation(line: 6, column: 5, scope: !39)
!39 = distinct !DILexicalBlock(scope: !33, file: !10, line: 5, column: 31)
!40 = !DILocation(line: 7, column: 12, scope: !39)
!41 = !DILocation(line: 7, column: 19, scope: !39)
!42 = !DILocation(line: 7, column: 17, scope: !39)
!43 = !DILocation(line: 7, column: 9, scope: !39)
!44 = !DILocation(line: 8, column: 3, scope: !39)
!45 = !DILocation(line: 5, column: 27, scope: !33)
!46 = distinct !{!46, !36, !47, !48, !49}
!47 = !DILocation(line: 8, column: 3, scope: !19)
!48 = !{!"llvm.loop.mustprogress"}
!49 = !{!"llvm.loop.unroll.disable"}
!50 = !DILocation(line: 9, column: 10, scope: !9)
!51 = !DILocation(line: 10, column: 1, scope: !9)
!52 = !DILocation(line: 9, column: 3, scope: !9)
!53 = !DISubprogram(name: "use", scope: !10, file: !10, line: 1, type: !54, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized)
!54 = !DISubroutineType(types: !55)
!55 = !{null, !56}
!56 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !13, size: 64)
