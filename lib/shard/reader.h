#ifndef SHARD_READER_H
#define SHARD_READER_H

/*
 * Reader of one shard.  shard_open checks the footer and the index and keeps
 * the index in memory, except the records.  Records and members are read on
 * demand, so a set of a terabyte needs only some megabytes.  Several threads
 * may read from one struct shard, but not while another closes or reopens it.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "shard/sample.h"
#include "shard/shard.h"

#define NOWHERE UINT64_MAX		/* damage.offset, if unknown */

/* An error in a file, for a message or for a row of vt-pack --verify.
 * Initialize it with { 0 }. */
struct damage {
	uint64_t offset;		/* in the file, or NOWHERE */
	char key[KEY_MAX + 1];		/* "": no particular sample */
	const char *kind;		/* static, one word; see vt-pack(1) */
	char detail[400];
};

/*
 * damage_set(d, offset, kind, fmt, ...):
 * Set all of ${*d}, without a key.  Return -1.
 */
int damage_set(struct damage *d, uint64_t offset, const char *kind,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * damage_report(path, d, e):
 * Add ${d} to ${e}, or print it if ${e} is NULL.  Return -1 if the file could
 * not be read or is missing, -2 if its content is damaged.
 */
int damage_report(const char *path, const struct damage *d, struct error *e);

/* An open shard, or a closed one whose index is in memory. */
struct shard {
	char *path;
	int fd;				/* -1: closed */
	uint64_t size;
	struct shard_footer footer;
	struct hash128 footer_hash;	/* XXH3-128 of the footer's bytes */
	struct stream_list streams;
	struct shard_entry *entry;	/* [footer.samples] */
	unsigned char *tail;		/* order, strings and meta sections */
};

/*
 * shard_open(path, d):
 * Open and check a shard.  On an error, return NULL after a message, or, if
 * ${d} is not NULL, with ${*d} set and without a message.
 */
struct shard *shard_open(const char *path, struct damage *d);

/* shard_close(s): Close the file and free ${s}.  NULL does nothing. */
void shard_close(struct shard *s);

/*
 * shard_close_file(s):
 * Close the file but keep the index in memory.
 * shard_reopen(s, e):
 * Reopen the file if it is closed.  Return 0, or -1 if it is no longer the same
 * shard, with a message in ${e}, printed if ${e} is NULL.  Return -1 with errno
 * EMFILE or ENFILE and no message if there are too many open files.
 */
void shard_close_file(struct shard *s);
int shard_reopen(struct shard *s, struct error *e);

/*
 * shard_read(s, to, n, at, e):
 * Read ${n} bytes at offset ${at} of the file.  Return 0, or -1 with a message
 * in ${e}, printed if ${e} is NULL.
 * shard_try_read(s, to, n, at, d):
 * As shard_read, but describe the error in ${*d}.
 */
int shard_read(const struct shard *s, void *to, size_t n, uint64_t at,
    struct error *e);
int shard_try_read(const struct shard *s, void *to, size_t n, uint64_t at,
    struct damage *d);

/*
 * shard_section(s, i):
 * Return the bytes of section ${i}: SECTION_ORDER or a later one.
 */
static inline const unsigned char *
shard_section(const struct shard *s, int i)
{
	return s->tail + (s->footer.section[i].at -
	    s->footer.section[SECTION_ORDER].at);
}

/* shard_entry(s, i): Return the entry of sample ${i} < s->footer.samples. */
static inline struct shard_entry
shard_entry(const struct shard *s, uint32_t i)
{
	return s->entry[i];
}

/* shard_key(s, e, key): Write the key of ${e} to ${key}.  Return ${key}. */
const char *shard_key(const struct shard *s, const struct shard_entry *e,
    char key[KEY_MAX + 1]);

/*
 * shard_sample(s, e, key):
 * Return the part of a sample that the index stores.  Its pointers are ${key}
 * and parts of ${s}.  A set of labels is not included: it is in KEY.json.
 */
struct sample shard_sample(const struct shard *s, const struct shard_entry *e,
    const char *key);

/*
 * shard_find(s, key):
 * Return the number of the sample with this key, -1 if absent.
 */
int64_t shard_find(const struct shard *s, const char *key);

/*
 * shard_records(s, e, from, n, to, why):
 * Read records ${from} to ${from} + ${n} - 1 of sample ${e} into ${to}[n].
 * Check that the members lie within the sample, one after the other.  Return 0,
 * -1 on an I/O error, or -2 if they do not, with a message in ${why}, printed
 * if ${why} is NULL.
 */
int shard_records(const struct shard *s, const struct shard_entry *e,
    uint32_t from, uint32_t n, struct shard_record *to, struct error *why);

/*
 * shard_sample_read(s, e, what, bad):
 * Read and parse KEY.json of sample ${e} (sample_read).  ${what} begins
 * messages.  Return NULL after a message, with ${*bad} -1 on an I/O error or -2
 * if the data are damaged.  sample_free frees the sample.
 */
struct sample *shard_sample_read(const struct shard *s,
    const struct shard_entry *e, const char *what, int *bad);

/*
 * shard_sample_at(s, i, key, bad): return KEY.json of sample ${i} as
 * shard_sample_read, whose messages begin with its key, and set ${key}
 * [KEY_MAX + 1] to the key.
 */
struct sample *shard_sample_at(const struct shard *s, uint32_t i, char *key,
    int *bad);

/*
 * shard_member(s, e, number, to):
 * Replace the content of ${to} by the data of record ${number} of sample ${e},
 * and check the CRC.  Return 0, or after a message -1 on an I/O error, -2 if
 * the data are damaged.
 */
int shard_member(const struct shard *s, const struct shard_entry *e,
    uint32_t number, struct buffer *to);

#endif
