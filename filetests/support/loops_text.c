//@ group Loops as the unit
//@ construct loops that nothing ends but what they load (`while (text[n]) n++`)
//@ happens lanes look whether any of them leaves, within the page that the first one loads from
//@ args buffer:404=zero
//@ range 0..1
//@ result 4
//@ loop
int kernel(const char *text) {
    int n = 0;
    while (text[n] != 0) n++;
    return n;
}
