#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * text_quote(s): ${s} as a message may show it: unchanged when it is plain
 * printable text in UTF-8, otherwise in C quotes with escapes.  Valid until the
 * fourth later call by the same thread.
 */
const char *text_quote(const char *s);

/*
 * text_shown(s): bytes of the UTF-8 character at ${s} if a terminal shows it
 * and does no more; 0 for what is not UTF-8, for controls (U+0000 to U+001F,
 * U+007F to U+009F), ends of lines (U+2028, U+2029) and what turns the
 * direction of writing (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069), which can make a name look like another.
 */
int text_shown(const char *s);

/*
 * text_chomp(line): take the carriage return off the end of a ${line} that had
 * its newline taken off.  0, or -1 if there is another within the line: then
 * it is several lines to some programs and one to others.
 */
int text_chomp(char *line);

/* text_starts(s, prefix), text_ends(s, suffix): 1 or 0. */
int text_starts(const char *s, const char *prefix);
int text_ends(const char *s, const char *suffix);

/*
 * text_int(s, min, max, to), text_real(s, min, max, to):
 * Read all of ${s} as a decimal number within [min, max].  0, or -1 without a
 * message: the caller knows what the number is for.
 */
int text_int(const char *s, int64_t min, int64_t max, int64_t *to);
int text_real(const char *s, double min, double max, double *to);

/*
 * text_real_write(buf, x): the shortest of %.15g, %.16g and %.17g that reads
 * back as exactly ${x}, into ${buf} of at least 32 bytes.  Return ${buf}.
 */
char *text_real_write(char *buf, double x);

/*
 * text_utf8(s): bytes of the UTF-8 character at ${s} (RFC 3629), 0 if there is
 * none; text_is_utf8(s): 1 if all of ${s} is UTF-8.
 */
int text_utf8(const char *s);
int text_is_utf8(const char *s);

/* text_distance(a, b): edits that turn ${a} into ${b} (Levenshtein). */
int text_distance(const char *a, const char *b);

/* text_hex(buf, data, n): 2 * n lower-case digits and '\0' into ${buf}. */
char *text_hex(char *buf, const void *data, size_t n);

/* text_bytes(buf, bytes): "5.26 GiB" into ${buf} of at least 32 bytes. */
char *text_bytes(char *buf, double bytes);

#endif
