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
    if (argc != 3) {
        fprintf(stderr, "usage: analysis FILE LINE\n");
        return 2;
    }
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

    /* The same of a text. */
    const char *source = "void f(int n, int *p) { for (int i = 0; i < n; i++) if (p[i] > 0) p[i] = 1; }\n";
    report = warpline_analyze_source("c", source, NULL, "n=uniform,p=uniform", &error);
    if (!report)
        return failed(error);
    warpline_string_free(report);
    why = warpline_explain_source("c", source, NULL, "1", &error);
    if (!why)
        return failed(error);
    warpline_string_free(why);
    if (warpline_analyze_source("cobol", source, NULL, NULL, &error))
        return 1;
    fprintf(stderr, "%s\n", warpline_error_message(error));
    warpline_error_free(error);
    return 0;
}
