//! Search in a binary tree, one element per lane, each lane on its own way. Compare `bt.rs`, where lanes go together.
//!
//! Each lane has its own node, so labels and children are gathered, and lanes leave the loop in different iterations.
//! There are as many of those as the lane with the longest way needs, in whatever order the elements are.

//@ args _i=index, element=varying

/// Returns the node whose label is `element`, or −1.
///
/// Node `k` has the label `labels[k]` and the children `children[2 * k]`, with lower labels, and
/// `children[2 * k + 1]`, with higher ones; 0 for none. The root is node 0.
///
/// # Safety
/// The arrays have that many elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bt_gather(_i: i32, element: f32, labels: *const f32, children: *const i32) -> i32 {
    let mut node = 0;
    loop {
        let label = unsafe { *labels.offset(node as isize) };
        if label == element {
            return node;
        }
        let side = (label < element) as i32;
        node = unsafe { *children.offset((2 * node + side) as isize) };
        if node == 0 {
            return -1;
        }
    }
}
