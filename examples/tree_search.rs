//! Search in a binary tree, one query per lane (Moll and Hack: Partial Control-Flow Linearization, PLDI 2018, Fig. 1).
//!
//! Shows: uniform and divergent branches in one loop, and a lane operation. The stack of nodes to visit is the same for all
//! lanes: a subtree is visited if *any* lane wants to. So these branches are uniform and stay branches, as does the loop's own
//! condition; whether the node is the one that is searched differs from lane to lane. Compare `--linearize full`, which folds all
//! of them.
//!
//! Node `k` of the tree has the key `keys[k]`. The keys are sorted, and the children of a node are as far away as its lowest set
//! bit, halved: the root of 8191 nodes is 4096, its children are 2048 and 6144, and odd nodes are leaves.

const ROOT: i32 = 4096;

unsafe extern "C" {
    /// Whether the condition holds in any lane that is active; in a scalar program, the condition itself.
    safe fn warpline_any(condition: bool) -> bool;
}

//@ args i=index
//@ range 0..65536
//@ bind keys=i32[8192]=iota
//@ bind queries=i32[65536]=iota
//@ lane-insensitive

/// Returns the node whose key is `queries[i] / 4`, or −1.
///
/// # Safety
/// `keys` has `2 * ROOT` elements, and `i` is an index of `queries`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tree_search(i: i32, keys: *const i32, queries: *const i32) -> i32 {
    let query = unsafe { *queries.offset(i as isize) } / 4;
    let mut stack = [0i32; 32];
    stack[0] = ROOT;
    let mut top = 1;
    while top > 0 {
        top -= 1;
        let node = stack[top];
        let key = unsafe { *keys.offset(node as isize) };
        if key == query {
            return node;
        }
        let step = (node & -node) / 2;
        if warpline_any(query < key) && step > 0 {
            stack[top] = node - step;
            top += 1;
        }
        if warpline_any(key < query) && step > 0 {
            stack[top] = node + step;
            top += 1;
        }
    }
    -1
}
