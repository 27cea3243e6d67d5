; As clang makes it: a loop with a bound, and a test for equality in it.
define i32 @find(ptr %a, i32 %n, i32 %wanted) {
entry:
  %i = alloca i32, align 4
  store i32 0, ptr %i, align 4
  br label %head
head:
  %k = load i32, ptr %i, align 4
  %more = icmp slt i32 %k, %n
  br i1 %more, label %body, label %none
body:
  %at = getelementptr inbounds i32, ptr %a, i32 %k
  %x = load i32, ptr %at, align 4
  %found = icmp eq i32 %x, %wanted
  br i1 %found, label %yes, label %next
next:
  %k2 = load i32, ptr %i, align 4
  %inc = add nsw i32 %k2, 1
  store i32 %inc, ptr %i, align 4
  br label %head
yes:
  ret i32 %k
none:
  ret i32 -1
}
define void @nothing() {
  ret void
}
