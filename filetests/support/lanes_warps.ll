;@ group Lane operations
;@ construct operations of warps and waves (`llvm.nvvm.shfl.sync.…`, `vote.….sync`, `laneid`; `llvm.amdgcn.readfirstlane`, `readlane`, `ballot`, `mbcnt`) with masks of all lanes, in groups of one dimension
;@ happens as OpenCL's sub-groups, with 32 lanes, or as many as AMD's wave has
;@ args buffer:600=small, buffer:600=zero
;@ range 0..50
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
define void @kernel(ptr %a, ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %k = zext i32 %t to i64
  %p = getelementptr i32, ptr %a, i64 %k
  %q = getelementptr i32, ptr %out, i64 %k
  %x = load i32, ptr %p
  %y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %x, i32 1, i32 31)
  %c = icmp sgt i32 %y, %x
  %any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %c)
  %z = select i1 %any, i32 %y, i32 0
  store i32 %z, ptr %q
  ret void
}
