//! What becomes of questions about work-items.

use warpline_ir::group_functions::Query;
use warpline_ir::text::{parse_module, print_function};
use warpline_ir::verify::verify;
use warpline_vectorize::work_items::{Added, with_parameters};

fn rewritten(text: &str) -> Result<(Vec<Added>, String), String> {
    let mut module = parse_module(text).unwrap_or_else(|e| panic!("{e}"));
    let kernel = module.function("k").expect("it is there");
    let items = with_parameters(&mut module, kernel).map_err(|e| e.to_string())?;
    let items = items.expect("it asks");
    let func = &module.functions[items.func];
    verify(&module, func).unwrap_or_else(|e| panic!("{e}"));
    Ok((items.added, print_function(&module, func)))
}

#[test]
fn questions_become_parameters_and_truncated_indices_their_own() {
    let (added, text) = rewritten(
        "declare @_Z13get_global_idj(i32) -> i64 []
            declare @_Z14get_local_sizej(i32) -> i64 []
            func @k() -> i32 {
            b0:
              %i: i64 = call @_Z13get_global_idj(0)
              %n: i32 = trunc %i
              %j: i64 = call @_Z13get_global_idj(1)
              %m: i32 = trunc %j
              %s: i64 = call @_Z14get_local_sizej(0)
              %z: i64 = call @_Z14get_local_sizej(5)
              %a: i64 = add %s, %z
              %b: i32 = trunc %a
              %c: i32 = add %n, %m
              %d: i32 = add %b, %c
              ret %d
            }",
    )
    .unwrap();
    let expected = [
        Added::Index(64),
        Added::Index(32),
        Added::Answer(Query::GlobalId, 1),
        Added::Answer(Query::LocalSize, 0),
    ];
    assert_eq!(added, expected);
    assert!(text.contains("%global_id_0_i32: i32, %global_id_1: i64, %local_size_0: i64"), "{text}");
    assert!(text.contains("add %global_id_0_i32, ") && text.contains("add %local_size_0, 1"), "{text}");
    assert!(!text.contains("call"), "{text}");
}

#[test]
fn rows_of_sub_groups_have_no_index_that_wraps() {
    let (added, text) = rewritten(
        "declare @_Z13get_global_idj(i32) -> i64 []
            declare @_Z22get_sub_group_local_idv() -> i32 []
            func @k() -> i32 {
            b0:
              %i: i64 = call @_Z13get_global_idj(0)
              %n: i32 = trunc %i
              %l: i32 = call @_Z22get_sub_group_local_idv()
              %a: i32 = add %n, %l
              ret %a
            }",
    )
    .unwrap();
    assert!(added.contains(&Added::Index(64)) && !added.contains(&Added::Index(32)), "{added:?}");
    assert!(text.contains("trunc %global_id_0"), "{text}");
}

#[test]
fn registers_of_gpus_ask_the_same() {
    let (added, text) = rewritten(
        "declare @llvm.nvvm.read.ptx.sreg.tid.x() -> i32 []
            declare @llvm.nvvm.read.ptx.sreg.ntid.x() -> i32 []
            declare @llvm.amdgcn.workgroup.id.y() -> i32 []
            func @k() -> i32 {
            b0:
              %t: i32 = call @llvm.nvvm.read.ptx.sreg.tid.x()
              %n: i32 = call @llvm.nvvm.read.ptx.sreg.ntid.x()
              %g: i32 = call @llvm.amdgcn.workgroup.id.y()
              %a: i32 = add %t, %n
              %b: i32 = add %a, %g
              ret %b
            }",
    )
    .unwrap();
    let expected = [
        Added::Index(64),
        Added::GroupStart,
        Added::Answer(Query::LocalSize, 0),
        Added::Answer(Query::GroupId, 1),
    ];
    assert_eq!(added, expected);
    assert!(text.contains("sub nuw nsw %global_id_0, %group_start_0"), "{text}");
}

#[test]
fn barriers_stay_and_the_kernel_gets_an_index_and_the_begin_of_its_group() {
    let (added, text) = rewritten(
        "declare @_Z7barrierj(i32) [convergent]
            func @k() {
            b0:
              call @_Z7barrierj(1)
              ret
            }",
    )
    .unwrap();
    assert_eq!(added, [Added::Index(64), Added::GroupStart]);
    assert!(text.contains("call @_Z7barrierj"), "{text}");
}

#[test]
fn an_answer_is_chosen_where_the_dimension_is_not_constant() {
    let (added, text) = rewritten(
        "declare @_Z15get_global_sizej(i32) -> i64 []
            func @k(%d: i32) -> i64 {
            b0:
              %n: i64 = call @_Z15get_global_sizej(%d)
              ret %n
            }",
    )
    .unwrap();
    assert_eq!(added.len(), 4);
    assert_eq!(text.matches("= select").count(), 3, "{text}");
    assert!(text.contains("icmp eq %d, 2"), "{text}");
}

#[test]
fn a_callee_that_asks_is_refused() {
    let text = "declare @_Z12get_local_idj(i32) -> i64 []
            declare @inner() -> i64 []
            declare @outer() -> i64 []
            func @inner() -> i64 {
            b0:
              %i: i64 = call @_Z12get_local_idj(0)
              ret %i
            }
            func @outer() -> i64 {
            b0:
              %i: i64 = call @inner()
              ret %i
            }
            func @k() -> i64 {
            b0:
              %i: i64 = call @outer()
              ret %i
            }";
    assert!(
        rewritten(text)
            .unwrap_err()
            .contains("it leads to `inner`, where `get_local_id(uint)` asks which work-item it is")
    );
}

#[test]
fn a_function_of_the_module_is_no_question() {
    let text = "declare @_Z13get_global_idj(i32) -> i64 []
            func @_Z13get_global_idj(%d: i32) -> i64 {
            b0:
              ret 7
            }
            func @k() -> i64 {
            b0:
              %i: i64 = call @_Z13get_global_idj(0)
              ret %i
            }";
    let mut module = parse_module(text).unwrap_or_else(|e| panic!("{e}"));
    let kernel = module.function("k").expect("it is there");
    assert!(with_parameters(&mut module, kernel).expect("nothing is refused").is_none());
}
