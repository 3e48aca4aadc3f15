#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * text_quote(s):
 * Return ${s} in a form safe for messages.  Plain printable UTF-8 without
 * blanks, quotes and backslashes is unchanged.  Other text is quoted as in C.
 * Text longer than 512 bytes is truncated, with "...".  The result is valid
 * until the fourth later call by the same thread.
 */
const char *text_quote(const char *s);

/*
 * text_displayable(s):
 * Return the length in bytes of the UTF-8 character at ${s} if a terminal
 * displays it without other effects.  Return 0 for:
 * - bytes that are not UTF-8;
 * - controls (U+0000 to U+001F, U+007F to U+009F);
 * - line and paragraph separators (U+2028, U+2029);
 * - bidirectional controls (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066
 *   to U+2069), which can make one name look like another.
 */
int text_displayable(const char *s);

/*
 * text_chomp(line):
 * Remove a carriage return at the end of ${line}, whose newline has been
 * removed.  Return 0, or -1 without a message if another carriage return is in
 * the line.  Some programs would read that as several lines.
 */
int text_chomp(char *line);

/*
 * text_trim(s):
 * Cut the blanks and tabs at the end of ${s}, and return its first other
 * character, a pointer into ${s}.
 */
char *text_trim(char *s);

/*
 * text_choice(choices, value):
 * Return the index of ${value} in "a|b|c", or -1.
 * text_choice_name(choices, i, buf):
 * Write the value with the index ${i} to ${buf}, of 64 bytes, and return it.
 */
int text_choice(const char *choices, const char *value);
const char *text_choice_name(const char *choices, int i, char buf[64]);

/*
 * text_starts(s, prefix), text_ends(s, suffix):
 * Return 1 if ${s} begins or ends so, 0 otherwise.
 */
int text_starts(const char *s, const char *prefix);
int text_ends(const char *s, const char *suffix);

/*
 * text_int(s, min, max, to), text_real(s, min, max, to):
 * Read all of ${s} as a decimal number in [min, max] and set ${*to}.  Leading
 * blanks and '+' are errors.  Return 0, or -1 without a message: only the
 * caller knows the meaning of the number.
 */
int text_int(const char *s, int64_t min, int64_t max, int64_t *to);
int text_real(const char *s, double min, double max, double *to);

/*
 * text_real_write(buf, x):
 * Write the shortest of %.15g, %.16g and %.17g that reads back as exactly ${x}
 * to ${buf}, which has at least 32 bytes.  Return ${buf}.
 */
char *text_real_write(char *buf, double x);

/*
 * text_utf8(s):
 * Return the length in bytes of the UTF-8 character at ${s} (RFC 3629).  It is
 * 1 for the final '\0'.  Return 0 if ${s} does not begin with a valid
 * character.
 * text_is_utf8(s):
 * Return 1 if all of ${s} is UTF-8, 0 otherwise.
 */
int text_utf8(const char *s);
int text_is_utf8(const char *s);

/*
 * text_code(s):
 * Return the code point of the UTF-8 character at ${s}, or its first byte if
 * text_utf8 does not accept it.
 */
unsigned text_code(const char *s);

/*
 * text_fold(s):
 * Return a key that is equal for two texts which look the same: it ignores the
 * case, invisible characters, blanks at the ends and doubled blanks, and
 * whether a letter and its marks are one character (Unicode's NFC) or several
 * (NFD).  It knows the letters of Latin, Greek and Cyrillic with their common
 * marks, kana and Hangul.  The caller frees it.
 */
char *text_fold(const char *s);

/*
 * text_distance(a, b):
 * Return the Levenshtein distance: the number of edits that turn ${a} into
 * ${b}.  Only the first 64 bytes of ${b} count.
 */
int text_distance(const char *a, const char *b);

/*
 * text_hex(buf, data, n):
 * Write ${n} bytes as 2 * n lower-case hexadecimal digits and '\0' to ${buf}.
 * Return ${buf}.
 */
char *text_hex(char *buf, const void *data, size_t n);

/*
 * text_bytes(buf, bytes):
 * Write a size such as "5.26 GiB" to ${buf}, which has at least 32 bytes.
 * Return ${buf}.
 */
char *text_bytes(char *buf, double bytes);

#endif
