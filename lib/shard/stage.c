/* Verified copies of packed datasets, shard by shard. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/shell.h"
#include "base/text.h"
#include "shard/manifest.h"
#include "shard/stage.h"
#include "shard/verify.h"

#define Q text_quote
#define LOCK_NAME ".vt-stage.lock"
#define CHUNK ((size_t)1 << 20)		/* bytes of a read */
#define WAIT 0.2			/* seconds between looks at ->stop */

/* One set, being copied. */
struct stage_copy {
	struct stage_folder *s;
	const char *set;		/* folder of the original */
	char *dir;			/* folder of the copy */
	struct manifest *m;
	struct buffer text;		/* bytes of the manifest */
	char *buffer;			/* [CHUNK] */
};

/*
 * Set ${*m}, the manifest of ${set}, and ${*text}, its bytes, and return the
 * folder of the copy.  Return NULL with ${*bad} as stage_path.
 */
static char *
stage_read(const char *dir, const char *set, struct manifest **m,
    struct buffer *text, int *bad)
{
	char *path = path_join(set, MANIFEST_NAME), name[33], *copy = NULL;
	struct damage d = { 0 };

	*bad = 0;
	if ((*m = manifest_read(set, &d)) == NULL)
		*bad = damage_report(path, &d, NULL);
	else if (file_read(path, text) != 0)
		*bad = -1;
	else
		copy = path_join(dir, hash128_text((*m)->id, name));
	free(path);
	return copy;
}

char *
stage_path(const char *dir, const char *set, int *bad)
{
	struct manifest *m = NULL;
	struct buffer text = { 0 };
	char *copy = stage_read(dir, set, &m, &text, bad);

	manifest_free(m);
	buffer_free(&text);
	return copy;
}

/* ---- verification ---- */

/* Keep the first defect, and stop. */
static int
stage_found(void *arg, const char *name, const struct damage *d)
{
	(void)name;
	*(struct damage *)arg = *d;
	return -1;
}

/*
 * Open the file ${path} and check that it is shard ${k}.  With ${depth}
 * VERIFY_FULL check each byte.  Return 0, or -1 with ${*d} set; d->kind remains
 * NULL if a signal stopped the check.
 */
static int
stage_verify(const struct stage_copy *c, size_t k, const char *path,
    enum verify_depth depth, struct damage *d)
{
	const struct verify v = { .depth = depth, .found = stage_found,
		.arg = d };
	struct shard *s = shard_open(path, d);
	struct hash128 hash;
	int bad = s == NULL || manifest_check_shard(c->m, k, s, d) != 0 ||
	    verify_shard(&v, c->m->shard[k].name, s, 0, &hash) != 0;

	if (!bad && depth == VERIFY_FULL &&
	    !hash128_equal(hash, c->m->shard[k].sum.hash))
		bad = damage_set(d, NOWHERE, "hash", "the hash of the file is "
		    "not the one in the manifest");
	shard_close(s);
	return bad ? -1 : 0;
}

/* Return 1 if the copy has shard ${k}.  It was verified before it got its name,
 * so footer and index suffice. */
static int
stage_has(const struct stage_copy *c, size_t k)
{
	char *path = path_join(c->dir, c->m->shard[k].name);
	struct damage d = { 0 };
	int has = file_size(path) >= 0 &&
	    stage_verify(c, k, path, VERIFY_FAST, &d) == 0;

	free(path);
	return has;
}

/* ---- where the bytes come from ---- */

/* Return the first character of ${s} that a shell may interpret, or '\0'. */
static char
stage_unsafe(const char *s)
{
	while ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
	    (*s >= '0' && *s <= '9') || (*s != '\0' &&
	    strchr("/._+=@%,:-", *s) != NULL))
		s++;
	return *s;
}

/* Return s->command for the shard ${name}.  The caller frees it.  Return NULL
 * after a message if a name could be taken for shell syntax. */
static char *
stage_command(const struct stage_copy *c, const char *name)
{
	struct buffer b = { 0 };

	buffer_add(&b, "", 0);
	for (const char *at = c->s->command; *at != '\0';) {
		size_t n = text_starts(at, "{}") ? 2 :
		    text_starts(at, "{dir}") ? 5 : 0;
		const char *value = n == 2 ? name : c->set;

		if (n > 0 && stage_unsafe(value) != '\0') {
			fail("%s: '%c' in this name (wanted A-Z a-z 0-9 "
			    "/ . _ + = @ %% , : - in a command)", Q(value),
			    stage_unsafe(value));
			buffer_free(&b);
			return NULL;
		}
		if (n > 0)
			buffer_text(&b, value);
		else
			buffer_add(&b, at, 1);
		at += n > 0 ? n : 1;
	}
	return b.data;
}

/* Append ${n} bytes from c->buffer to the copy of shard ${k}, which has
 * ${*done}. */
static int
stage_append(struct stage_copy *c, size_t k, struct commit *to, size_t n,
    uint64_t *done)
{
	*done += n;
	c->s->bytes += n;
	/* An endless output must not fill the disk. */
	if (*done > c->m->shard[k].sum.bytes)
		return 0;
	return commit_write(to, c->buffer, n);
}

/* Write the output of ${command} to ${to}.  Return 0, or -1 after a message or
 * because of s->stop. */
static int
stage_fetch(struct stage_copy *c, size_t k, const char *command,
    struct commit *to, uint64_t *done)
{
	const char *name = c->m->shard[k].name;
	struct shell *sh = shell_start(command);
	struct error why = { "" };
	ssize_t n = 1;
	int bad = sh == NULL;

	while (!bad && n != 0 && *done <= c->m->shard[k].sum.bytes) {
		n = shell_read(sh, c->buffer, CHUNK, WAIT);
		if (n > 0)
			bad = stage_append(c, k, to, (size_t)n, done);
		else if (n < 0 && errno != EAGAIN)
			bad = fail_errno("%s: cannot read from the command",
			    Q(name));
		else if (n < 0 && *done == c->m->shard[k].sum.bytes &&
		    shell_exited(sh))
			n = 0;		/* a process left by it holds the
					 * pipe */
		bad |= c->s->stop;
	}
	while (!bad && n == 0 && !shell_exited(sh) && !c->s->stop)
		usleep(1000);
	bad |= c->s->stop;
	if (shell_end(sh, &why) != 0 && !bad && n == 0)
		bad = fail("%s: %s of the command: %s", Q(name), why.text,
		    Q(command));
	return bad ? -1 : 0;
}

/* As stage_fetch, from the shard of the original set. */
static int
stage_read_file(struct stage_copy *c, size_t k, struct commit *to,
    uint64_t *done)
{
	char *path = path_join(c->set, c->m->shard[k].name);
	int fd = file_open(path, O_RDONLY), bad = 0;
	ssize_t n = 1;

	if (fd < 0)
		bad = fail_errno("%s: cannot open", Q(path));
	while (!bad && n != 0 && *done <= c->m->shard[k].sum.bytes) {
		n = TEMP_FAILURE_RETRY(read(fd, c->buffer, CHUNK));
		bad = n < 0 ? fail_errno("%s: cannot read", Q(path)) :
		    stage_append(c, k, to, (size_t)n, done);
		bad |= c->s->stop;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return bad ? -1 : 0;
}

/* ---- a shard, a set ---- */

/* Verify the bytes of ${to}, which has no name yet, as shard ${k}.  Return 0,
 * as damage_report after a message, or -1 if a signal stopped it. */
static int
stage_check(const struct stage_copy *c, size_t k, const struct commit *to,
    uint64_t bytes)
{
	const struct manifest_shard *want = &c->m->shard[k];
	char path[64], *name = path_join(c->dir, want->name);
	struct damage d = { 0 };
	struct error why = { "" };
	int bad = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", commit_fd(to));
	if (bytes != want->sum.bytes)
		bad = damage_set(&d, NOWHERE, "size", "%s %llu bytes arrived "
		    "(the manifest says %llu)", bytes > want->sum.bytes ?
		    "more than" : "only", (unsigned long long)(bytes >
		    want->sum.bytes ? want->sum.bytes : bytes),
		    (unsigned long long)want->sum.bytes);
	else
		bad = stage_verify(c, k, path, VERIFY_FULL, &d);
	if (bad && d.kind != NULL) {
		bad = damage_report(name, &d, &why);
		if (c->s->command != NULL)
			fail("%s: the copy is removed", why.text);
		else
			fail("%s: the copy is removed (vt-pack --verify -i %s "
			    "checks the original)", why.text, Q(c->set));
	}
	free(name);
	return bad;
}

/* Copy shard ${k}.  Return as stage_set. */
static int
stage_shard(struct stage_copy *c, size_t k)
{
	const char *name = c->m->shard[k].name;
	char *path = path_join(c->dir, name), *command = NULL;
	struct commit *to = NULL;
	uint64_t done = 0;
	int bad = -1;

	if (c->s->command != NULL &&
	    (command = stage_command(c, name)) == NULL)
		goto out;
	if ((to = commit_open(path, NULL)) == NULL)
		goto out;
	bad = command != NULL ? stage_fetch(c, k, command, to, &done) :
	    stage_read_file(c, k, to, &done);
	if (!bad)
		bad = commit_sync(to);
	if (!bad)
		bad = stage_check(c, k, to, done);
	if (bad)
		commit_drop(to);
	else
		bad = commit_done(to);
out:
	free(command);
	free(path);
	return bad;
}

/* Write the files beside the shards, the manifest last: it means that the copy
 * is complete. */
static int
stage_finish(const struct stage_copy *c)
{
	struct buffer classes = { 0 }, sums = { 0 };
	const struct { const char *name; const struct buffer *b; } file[] = {
		{ CLASSES_NAME, &classes }, { SUMS_NAME, &sums },
		{ MANIFEST_NAME, &c->text } };
	int bad = 0;

	class_text(&c->m->classes, &classes);
	manifest_sums(c->m, &sums);
	for (size_t i = 0; i < sizeof(file) / sizeof(file[0]) && !bad; i++) {
		char *path = path_join(c->dir, file[i].name);

		bad = commit_bytes(path, file[i].b->data, file[i].b->n);
		free(path);
	}
	buffer_free(&classes);
	buffer_free(&sums);
	return bad;
}

/*
 * Sets with equal content can differ in the settings that they were packed
 * with, and in the number of appends.  Checkpoints store both, so a
 * copy of the one cannot replace the other.  The version of vt-pack may differ.
 */
static int
stage_check_manifest(const struct stage_copy *c)
{
	char *path = path_join(c->dir, MANIFEST_NAME);
	struct damage d = { 0 };
	struct manifest *m = NULL;
	int bad = 0;

	if (file_size(path) < 0)
		;
	else if ((m = manifest_read(c->dir, &d)) == NULL)
		bad = damage_report(path, &d, NULL);
	else if (!hash128_equal(m->settings, c->m->settings) ||
	    m->generation != c->m->generation)
		bad = fail("%s: differs from the manifest of %s, which has the "
		    "same samples: remove %s or stage elsewhere", Q(path),
		    Q(c->set), Q(c->dir));
	manifest_free(m);
	free(path);
	return bad;
}

/* Copy the shards that are missing.  The caller holds the lock. */
static int
stage_missing(struct stage_copy *c)
{
	size_t shards = c->m->shards, n = 0;
	char *missing = xcalloc(shards, 1), size[32], *manifest;
	int bad;

	c->s->bytes = c->s->of = 0;
	for (size_t k = 0; k < shards; k++)
		if ((missing[k] = !stage_has(c, k)) != 0) {
			n++;
			c->s->of += c->m->shard[k].sum.bytes;
		}
	if (n > 0)
		note("%s: copying %zu of %zu shards, %s, to %s", Q(c->set), n,
		    shards, text_bytes(size, (double)c->s->of), Q(c->dir));
	bad = commit_sweep(c->dir);
	for (size_t k = 0; k < shards && !bad; k++)
		if (missing[k])
			bad = c->s->stop ? -1 : stage_shard(c, k);
	manifest = path_join(c->dir, MANIFEST_NAME);
	if (!bad && (n > 0 || file_size(manifest) < 0))
		bad = stage_finish(c);
	free(manifest);
	free(missing);
	return bad;
}

int
stage_set(struct stage_folder *s, const char *set)
{
	struct stage_copy c = { .s = s, .set = set };
	char who[256];
	int bad, lock = -1;

	c.dir = stage_read(s->dir, set, &c.m, &c.text, &bad);
	if (c.dir != NULL)
		bad = file_make_dir(c.dir, NULL);
	if (!bad && dir_locked(c.dir, LOCK_NAME, who, sizeof(who)))
		note("%s: waiting for the process that copies it (host and "
		    "pid: %s)", Q(set), who);
	if (!bad && (lock = dir_lock_wait(c.dir, LOCK_NAME, &s->stop)) < 0)
		bad = -1;
	c.buffer = xmalloc(CHUNK);
	if (!bad)
		bad = stage_check_manifest(&c);
	if (!bad)
		bad = stage_missing(&c);
	dir_unlock(lock);
	free(c.buffer);
	free(c.dir);
	manifest_free(c.m);
	buffer_free(&c.text);
	return bad;
}
