#ifndef DATA_BAD_H
#define DATA_BAD_H

#include <stddef.h>
#include <stdint.h>

/* Samples that are known to be damaged, in order; begins as zeros. */
struct bad_set { uint32_t *sample; size_t n, cap; };

int bad_has(const struct bad_set *b, uint32_t sample);

/* bad_add(b, sample): 1 if it was not in it. */
int bad_add(struct bad_set *b, uint32_t sample);
void bad_free(struct bad_set *b);

/*
 * bad_text(b): "3 17 250", the caller's to free.  bad_parse(b, text, samples):
 * adds what such a text has; -1 if it is none, or of other data.
 */
char *bad_text(const struct bad_set *b);
int bad_parse(struct bad_set *b, const char *text, uint32_t samples);

#endif
