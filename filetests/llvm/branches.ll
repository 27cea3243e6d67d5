; As clang makes it: `x` is written on both ways round the join, `y` on one of them, `away` gets away.
define i32 @f(i1 %c, i32 %n) {
entry:
  %x = alloca i32, align 4
  %y = alloca i32, align 4
  %away = alloca i32, align 4
  br i1 %c, label %left, label %right
left:
  store i32 1, ptr %x, align 4
  store i32 %n, ptr %y, align 4
  br label %join
right:
  store i32 2, ptr %x, align 4
  br label %join
join:
  call void @use(ptr %away)
  %a = load i32, ptr %x, align 4
  %b = load i32, ptr %y, align 4
  %sum = add i32 %a, %b
  ret i32 %sum
}
define i32 @g(i1 %c) {
entry:
  %z = alloca i32, align 4
  br i1 %c, label %set, label %done
set:
  store i32 1, ptr %z, align 4
  %r = load i32, ptr %z, align 4
  ret i32 %r
done:
  ret i32 0
}
declare void @use(ptr)
