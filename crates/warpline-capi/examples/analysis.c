/* What diverges in a file, and why something on a line of it does: analysis FILE LINE.

   cc -I include examples/analysis.c -lwarpline -o analysis */
#include <stdio.h>
#include "libwarpline.h"

static int failed(WarplineError *error) {
    fprintf(stderr, "%s\n", warpline_error_message(error));
    warpline_error_free(error);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    WarplineError *error = NULL;
    char *report = warpline_analyze_file(argv[1], NULL, NULL, &error);
    if (!report)
        return failed(error);
    puts(report);
    warpline_string_free(report);
    char *why = warpline_explain_file(argv[1], NULL, argv[2], &error);
    if (!why)
        return failed(error);
    puts(why);
    warpline_string_free(why);
    return 0;
}
