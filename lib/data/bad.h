#ifndef DATA_BAD_H
#define DATA_BAD_H

/* The set of samples that are known to be damaged. */
#include <stddef.h>
#include <stdint.h>

/* Sample numbers in ascending order.  Begin with all 0. */
struct bad_set { uint32_t *sample; size_t n, cap; };

/* bad_has(b, sample): return 1 if ${sample} is in ${b}, 0 otherwise. */
int bad_has(const struct bad_set *b, uint32_t sample);

/*
 * bad_add(b, sample):
 * Add ${sample}.  Return 1, or 0 if it was in ${b} already.
 */
int bad_add(struct bad_set *b, uint32_t sample);

/* bad_free(b): free the memory of ${b} and set it to all 0. */
void bad_free(struct bad_set *b);

/*
 * bad_text(b):
 * Return ${b} as text: "3 17 250", "" if empty.  The caller frees it.
 */
char *bad_text(const struct bad_set *b);

/*
 * bad_parse(b, text, samples):
 * Add the samples of ${text}, in the format of bad_text, to ${b}.  Return 0.
 * Return -1 without a message if ${text} is malformed or a number is not below
 * ${samples}; the numbers before it are then added.
 */
int bad_parse(struct bad_set *b, const char *text, uint32_t samples);

#endif
