; Debug records stay where they are and follow the values they speak of.
define i32 @debug(i32 %x, i32 %y) !dbg !4 {
entry:
    #dbg_value(i32 %x, !9, !DIExpression(), !11)
  %sum = add i32 %x, %y, !dbg !12
    #dbg_value(i32 %sum, !10, !DIExpression(), !11)
    #dbg_value(!DIArgList(i32 %sum, i32 %y), !9, !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_plus, DW_OP_stack_value), !11)
  %slot = alloca i32, align 4, !dbg !12
    #dbg_declare(ptr %slot, !10, !DIExpression(), !11)
  %c = icmp eq i32 %sum, 3, !dbg !13
  br i1 %c, label %yes, label %no, !dbg !13

yes:                                              ; preds = %entry
    #dbg_label(!14, !11)
  br label %no, !dbg !15

no:                                               ; preds = %yes, %entry
  %r = phi i32 [ %sum, %yes ], [ 0, %entry ], !dbg !15
    #dbg_value(i32 %r, !9, !DIExpression(), !16)
  ret i32 %r, !dbg !13
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "hand", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "debug.c", directory: "/src")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "debug", scope: !1, file: !1, line: 1, type: !5, scopeLine: 1, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !8)
!5 = !DISubroutineType(types: !6)
!6 = !{!7, !7, !7}
!7 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!8 = !{!9, !10}
!9 = !DILocalVariable(name: "x", arg: 1, scope: !4, file: !1, line: 1, type: !7)
!10 = !DILocalVariable(name: "sum", scope: !4, file: !1, line: 2, type: !7)
!11 = !DILocation(line: 1, column: 15, scope: !4)
!12 = !DILocation(line: 2, column: 9, scope: !4)
!13 = !DILocation(line: 3, column: 1, scope: !4)
!14 = !DILabel(scope: !4, name: "yes", file: !1, line: 3)
!15 = !DILocation(line: 7, column: 2, scope: !17, inlinedAt: !18)
!16 = !DILocation(line: 4, column: 5, scope: !4)
!17 = distinct !DISubprogram(name: "inlined", scope: !1, file: !1, line: 6, type: !5, scopeLine: 6, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!18 = distinct !DILocation(line: 3, column: 4, scope: !4)
