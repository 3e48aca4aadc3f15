/* Verification of a set.  Threads verify the shards in parallel; the errors
 * are reported in the order of the shards. */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/ordered.h"
#include "base/stop.h"
#include "base/text.h"
#include "shard/keyset.h"
#include "shard/manifest.h"
#include "shard/verify.h"

/* The errors and keys of one shard. */
struct verify_result {
	struct damage *damage;
	size_t damages, cap;
	char *keys;			/* one after the other, each with
					 * '\0' */
	uint32_t samples;
};

struct verify_set_state {
	const struct verify *v;
	const char *dir;
	struct manifest *m;
	struct verify_result *result;	/* [shards] */
	int wrong;			/* errors reported */
	atomic_int stop;
};

/* Report an error, on the caller's thread. */
static void
verify_set_found(struct verify_set_state *s, const char *name,
    const struct damage *d)
{
	s->wrong++;
	s->stop |= s->v->found(s->v->found_arg, name, d) != 0;
}

static void
verify_set_found_in_shard(struct verify_set_state *s, size_t k)
{
	struct verify_result *r = &s->result[k];

	for (size_t i = 0; i < r->damages && !s->stop; i++)
		verify_set_found(s, s->m->shard[k].name, &r->damage[i]);
	free(r->damage);
	r->damage = NULL;
	r->damages = 0;
}

/* ---- one shard, on any thread ---- */

struct verify_relay { struct verify_set_state *set; struct verify_result *r; };

/* Store an error until the caller's thread reaches this shard. */
static int
verify_set_keep(void *arg, const char *name, const struct damage *d)
{
	struct verify_relay *relay = arg;
	struct verify_result *r = relay->r;

	(void)name;
	r->damage = array_reserve(r->damage, r->damages, &r->cap,
	    sizeof(*r->damage));
	r->damage[r->damages++] = *d;
	return relay->set->stop ? -1 : 0;
}

/* Store the keys, to detect one that two shards have. */
static void
verify_set_keep_keys(struct verify_result *r, const struct shard *s)
{
	struct buffer b = { 0 };
	char key[KEY_MAX + 1];

	r->samples = s->footer.samples;
	buffer_add(&b, "", 0);
	for (uint32_t i = 0; i < r->samples; i++) {
		struct shard_entry e = shard_entry(s, i);

		buffer_add(&b, shard_key(s, &e, key), e.key_length + 1u);
	}
	r->keys = b.data;
}

/* Check one shard completely.  The file is opened and closed here, so few
 * files are open at once. */
static void
verify_set_check_shard(struct verify_set_state *set, size_t k, int thread)
{
	const struct manifest_shard *m = &set->m->shard[k];
	struct verify_result *r = &set->result[k];
	struct verify_relay relay = { set, r };
	struct verify v = *set->v;
	char *path = path_join(set->dir, m->name);
	struct damage d = { 0 };
	struct hash128 hash;
	struct shard *s = shard_open(path, &d);
	int wrong = 0;

	v.found = verify_set_keep;
	v.found_arg = &relay;
	if (s == NULL) {
		verify_set_keep(&relay, m->name, &d);
		goto out;
	}
	verify_set_keep_keys(r, s);
	if (manifest_check_shard(set->m, k, s, &d) != 0) {
		verify_set_keep(&relay, m->name, &d);
		wrong = 1;
	}
	wrong |= verify_shard(&v, m->name, s, thread, &hash);
	if (wrong == 0 && v.depth != VERIFY_FAST &&
	    !hash128_equal(hash, m->sum.hash)) {
		/* After another error, the hash adds no information. */
		d = (struct damage){ 0 };
		damage_set(&d, NOWHERE, "hash",
		    "the hash of the file is not the one in the manifest");
		verify_set_keep(&relay, m->name, &d);
	}
	if (v.depth == VERIFY_FAST && v.tick != NULL)
		v.tick(v.arg, s->size);
out:
	shard_close(s);
	free(path);
}

/* Verify shard ${k}: the work function of struct ordered.  After a stop, the
 * remaining calls return at once. */
static void
verify_set_part(size_t k, int thread, void *arg)
{
	struct verify_set_state *s = arg;

	if (!s->stop && stop_signal() == 0)
		verify_set_check_shard(s, k, thread);
}

/* ---- the set ---- */

/* Check that the file ${name} contains exactly ${want}. */
static void
verify_set_check_file(struct verify_set_state *s, const char *name,
    const struct buffer *want)
{
	char *path = path_join(s->dir, name);
	struct error said = { "" };
	struct damage d = { 0 };
	struct buffer got = { 0 };

	if (file_try(path, &got, &said) != 0)
		damage_set(&d, NOWHERE, "missing", "%s", said.text);
	else if (got.n != want->n || memcmp(got.data, want->data, got.n) != 0)
		damage_set(&d, NOWHERE, "manifest",
		    "differs from what the manifest says");
	if (d.kind != NULL)
		verify_set_found(s, name, &d);
	buffer_free(&got);
	free(path);
}

/* Warn of shards that the manifest does not list.  They are harmless, but
 * probably a mistake. */
static void
verify_set_warn_of_extra(const struct verify_set_state *s)
{
	DIR *dir = opendir(s->dir);
	struct dirent *e;

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		size_t k = 0;

		if (!text_ends(e->d_name, ".tar") || e->d_name[0] == '.')
			continue;
		while (k < s->m->shards &&
		    strcmp(s->m->shard[k].name, e->d_name) != 0)
			k++;
		if (k == s->m->shards)
			warning("%s/%s: not in the manifest, ignored",
			    text_quote(s->dir), text_quote(e->d_name));
	}
	if (dir != NULL)
		closedir(dir);
}

/* Check the identity of the content.  A shard that failed its check has been
 * reported. */
static void
verify_set_check_identity(struct verify_set_state *s)
{
	struct damage d = { 0 };

	for (size_t k = 0; k < s->m->shards; k++)
		if (!s->m->shard[k].checked)
			return;
	if (!s->stop && manifest_identify(s->m, &d) != 0)
		verify_set_found(s, MANIFEST_NAME, &d);
}

/* Check that no key occurs in two shards. */
static void
verify_set_check_keys(struct verify_set_state *s)
{
	struct keyset *keys = keyset_new();

	for (size_t k = 0; k < s->m->shards && !s->stop; k++) {
		struct verify_result *r = &s->result[k];
		const char *key = r->keys;

		for (uint32_t i = 0; key != NULL && i < r->samples; i++) {
			uint32_t shard = (uint32_t)k;
			uint64_t sample = i;
			struct damage d = { 0 };

			/* A duplicate in one shard has been reported. */
			if (!keyset_add(keys, key, &shard, &sample) &&
			    shard != k) {
				damage_set(&d, NOWHERE, "key", "the key occurs "
				    "twice, first in %s",
				    s->m->shard[shard].name);
				strcpy(d.key, key);
				verify_set_found(s, s->m->shard[k].name, &d);
			}
			key += strlen(key) + 1;
		}
	}
	keyset_free(keys);
}

int
verify_set(const struct verify *v, const char *dir, int threads)
{
	struct verify_set_state s = { .v = v, .dir = dir };
	struct buffer classes = { 0 }, sums = { 0 };
	struct damage d = { 0 };
	struct ordered *shards;
	size_t next;

	if ((s.m = manifest_read(dir, &d)) == NULL) {
		verify_set_found(&s, MANIFEST_NAME, &d);
		return s.stop ? -1 : s.wrong;
	}
	class_text(&s.m->classes, &classes);
	manifest_sums(s.m, &sums);
	verify_set_check_file(&s, CLASSES_NAME, &classes);
	verify_set_check_file(&s, SUMS_NAME, &sums);
	verify_set_warn_of_extra(&s);
	s.result = xcalloc(s.m->shards, sizeof(*s.result));
	/* The window is all shards: stored errors are small, and no thread
	 * waits. */
	shards = ordered_new(s.m->shards, threads, 1, s.m->shards,
	    verify_set_part, &s);
	while (!s.stop && ordered_next(shards, &next))
		verify_set_found_in_shard(&s, next);
	ordered_free(shards);
	verify_set_check_identity(&s);
	verify_set_check_keys(&s);
	for (size_t k = 0; k < s.m->shards; k++) {
		free(s.result[k].keys);
		free(s.result[k].damage);
	}
	free(s.result);
	buffer_free(&classes);
	buffer_free(&sums);
	manifest_free(s.m);
	return s.stop || stop_signal() != 0 ? -1 : s.wrong;
}
