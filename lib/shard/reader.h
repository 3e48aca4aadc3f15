#ifndef SHARD_READER_H
#define SHARD_READER_H

/*
 * One shard, opened: its footer and index are checked and, but for the records,
 * held in memory; records and members are read when asked for, so that a set
 * of a terabyte needs some megabytes.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "shard/sample.h"
#include "shard/shard.h"

/* What is wrong with a file, for a message or for a row of --verify. */
#define NOWHERE UINT64_MAX		/* the offset, if there is none */
struct damage {
	uint64_t offset;		/* in the file */
	char key[KEY_MAX + 1];		/* "": no sample in particular */
	const char *kind;		/* one word, see vt-pack(1) */
	char detail[400];
};

/* damage_set(d, offset, kind, fmt, ...): fill it in, without a key; -1. */
int damage_set(struct damage *d, uint64_t offset, const char *kind,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* damage_say(path, d, e): add ${d} to ${e}, or print it if ${e} is NULL.  Return -1
 * if the file could not be read or is missing, -2 if its content is damaged. */
int damage_say(const char *path, const struct damage *d, struct error *e);

struct shard {
	char *path;
	int fd;				/* -1: closed */
	uint64_t size;
	struct shard_footer footer;
	struct hash128 footer_hash;	/* XXH3-128 of its bytes */
	struct stream_list streams;
	unsigned char *samples;		/* the sections */
	unsigned char *tail;		/* order, strings, meta */
};

/*
 * shard_open(path, d):
 * NULL after a message, or, if ${d} is not NULL, without one but with ${d}
 * filled in.
 */
struct shard *shard_open(const char *path, struct damage *d);
void shard_close(struct shard *s);		/* NULL is fine */

/*
 * shard_rest(s): close the file for now.
 * shard_wake(s, e): open it again.  Return 0, or -1 if it is no longer the same
 * shard, with the message in ${e} or, if ${e} is NULL, printed.  Return -1 with
 * errno EMFILE or ENFILE and no message if there are too many open files.
 */
void shard_rest(struct shard *s);
int shard_wake(struct shard *s, struct error *e);

/*
 * shard_read(s, to, n, at, e), shard_get(s, to, n, at, d): ${n} bytes of the file
 * from ${at} on; -1 with the message in ${e} (NULL: printed), or with ${d} filled
 * in.
 */
int shard_read(const struct shard *s, void *to, size_t n, uint64_t at,
    struct error *e);
int shard_get(const struct shard *s, void *to, size_t n, uint64_t at,
    struct damage *d);

/* shard_section(s, i): section ${i}, from SECTION_ORDER on. */
static inline const unsigned char *
shard_section(const struct shard *s, int i)
{
	return s->tail + (s->footer.section[i].at -
	    s->footer.section[SECTION_ORDER].at);
}

/* shard_entry(s, i): sample ${i}, below s->footer.samples. */
struct shard_entry shard_entry(const struct shard *s, uint32_t i);

/* shard_key(s, e, key): the key of ${e}, into ${key}[KEY_MAX + 1] too. */
const char *shard_key(const struct shard *s, const struct shard_entry *e,
    char key[KEY_MAX + 1]);

/*
 * shard_sample(s, e, key): what the index knows of the sample of entry ${e}.
 * Its pointers are ${key} and parts of ${s}; its labels, if it has a set of them,
 * are in KEY.json.
 */
struct sample shard_sample(const struct shard *s, const struct shard_entry *e,
    const char *key);

/* shard_find(s, key): the sample of that key, -1 if there is none. */
int64_t shard_find(const struct shard *s, const char *key);

/*
 * shard_records(s, e, from, n, to, why):
 * Read records ${from} to ${from} + ${n} - 1 of sample ${e} and check that they
 * lie within it, one after the other.  0, -1 on an I/O error, -2 if they do
 * not, with the message in ${why} or, if ${why} is NULL, printed.
 */
int shard_records(const struct shard *s, const struct shard_entry *e,
    uint32_t from, uint32_t n, struct shard_record *to, struct error *why);

/*
 * shard_sample_read(s, e, what, bad):
 * Read KEY.json of entry ${e}, as sample_read has it; ${what} begins its
 * messages.  NULL after a message; then ${*bad} is -1 on an I/O error, -2 if the
 * data are damaged.
 */
struct sample *shard_sample_read(const struct shard *s,
    const struct shard_entry *e, const char *what, int *bad);

/*
 * shard_member(s, e, number, to):
 * Replace ${to} by the data of record ${number} of sample ${e}, CRC checked.
 * 0, -1 on an I/O error, -2 if the data are damaged, after a message.
 */
int shard_member(const struct shard *s, const struct shard_entry *e,
    uint32_t number, struct buffer *to);

#endif
