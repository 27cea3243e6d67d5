/* A cascade of cases. */
// survey: n i32 = 4000; score i32[n] below 101; letter u8[n]

void grade(int n, const int *score, char *letter) {
    //@ loop
    for (int i = 0; i < n; i++) {
        if (score[i] >= 90)
            letter[i] = 'A';
        else if (score[i] >= 80)
            letter[i] = 'B';
        else if (score[i] >= 65)
            letter[i] = 'C';
        else if (score[i] >= 50)
            letter[i] = 'D';
        else
            letter[i] = 'F';
    }
}
