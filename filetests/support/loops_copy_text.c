//@ group Loops as the unit
//@ construct loops that store before they are left in the middle (`while ((*to++ = *from++))`)
//@ happens the store moves to behind the branch; what it moves past is elsewhere, or that is checked before the loop
//@ args buffer:404=zero, buffer:404=random
//@ range 0..1
//@ loop
void kernel(const char *restrict from, char *restrict to) {
    while ((*to++ = *from++) != 0) {}
}
