/*
 * Checkpoints: safetensors files are written and read back, and refused if
 * damaged or foreign; a net and its momentum are saved and loaded exactly.  A
 * run directory keeps the checkpoints that it should, and the log is cut back
 * to the resumed step.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "train/optim/optim.h"
#include "train/run/checkpoint.h"
#include "train/run/resume.h"
#include "train/run/rundir.h"
#include "train/run/saver.h"
#include "train/run/snapshot.h"

#include "said.h"
#include "tap.h"

static char *dir;

/* Return the path of ${name} in the test's folder.  Valid for 63 more calls. */
static const char *
in_dir(const char *name)
{
	static char path[64][512];
	static int next;
	char *p = path[next++ % 64];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void
put_file(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fwrite(data, 1, n, f) != n || fclose(f) != 0) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
}

static int
exists(const char *name)
{
	return access(in_dir(name), F_OK) == 0;
}

/*
 * Read ${path} and set ${*got} to the result.  Return the messages, "" if none;
 * valid until the next call.
 */
static const char *
reading(const char *path, int ours, int *got)
{
	static char said[1024];
	struct safetensors s;

	said_begin(said, sizeof(said));
	*got = safetensors_read(path, ours, &s);
	said_end();
	if (*got == 0)
		safetensors_free(&s);
	return said;
}

/* ---- files ---- */

static const double f64s[] = { 1.5, -0.0, 1e300 };
static const float f32s[] = { 1, 2, 3, 4, 5, 6 };
static const unsigned char u8s[] = { 7, 0, 255, 1, 2 };

static const struct tensor three[] = {
	{ "b/bytes", DTYPE_U8, 1, { 5 }, u8s, 5, NULL },
	{ "z", DTYPE_F32, 2, { 2, 3 }, f32s, 24, NULL },
	{ "a/one", DTYPE_F64, 1, { 3 }, f64s, 24, NULL },
	{ "scalar", DTYPE_F32, 0, { 0 }, f32s, 4, NULL },
	{ "none", DTYPE_F32, 2, { 0, 4 }, f32s, 0, NULL },
};
static const struct meta notes[] = {
	{ "a", "" }, { "text", "two\nlines\tand \"quotes\" \\ \x01 \xc3\xa9" }
};

static void
round_trip(void)
{
	const char *path = in_dir("t.safetensors");
	struct hash128 hash, again;
	struct safetensors s;
	struct buffer whole = { 0 };
	const struct tensor *t;
	uint64_t header = 0;
	int same = 1, got;

	is(safetensors_write(commit_open(path, NULL), three, 5, notes, 2,
	    &hash), 0, "safetensors: five tensors are written");
	is(safetensors_read(path, 1, &s), 0, "safetensors: the file is read");
	is((long long)s.tensors, 6,
	    "safetensors: it has five tensors and the footer");
	for (int i = 0; i < 5; i++) {
		t = safetensors_tensor(&s, three[i].name);
		same &= t != NULL && t->type == three[i].type &&
		    t->ndim == three[i].ndim && t->bytes == three[i].bytes &&
		    memcmp(t->data, three[i].data, t->bytes) == 0;
		for (int k = 0; same && k < t->ndim; k++)
			same &= t->dim[k] == three[i].dim[k];
	}
	ok(same, "safetensors: types, shapes and values are those written");
	is_text(safetensors_meta(&s, "text"), notes[1].value,
	    "safetensors: metadata is read back");
	is_text(safetensors_meta(&s, "a"), "",
	    "safetensors: empty metadata is read back");
	ok(safetensors_meta(&s, "b") == NULL && safetensors_tensor(&s, "q") ==
	    NULL, "safetensors: absent metadata and tensors are NULL");
	t = safetensors_tensor(&s, "a/one");
	is(((const char *)t->data - s.file.data) % 64, 0,
	    "safetensors: data begin at a multiple of 64");
	t = safetensors_tensor(&s, "z");
	is(((const char *)t->data - s.file.data) % 4, 0,
	    "safetensors: larger elements come first, which aligns all");
	safetensors_free(&s);

	file_read(path, &whole);
	ok(hash128_equal(hash, hash128(whole.data, whole.n)),
	    "safetensors_write returns the hash of the whole file");
	for (int i = 7; i >= 0; i--)
		header = header << 8 | (unsigned char)whole.data[i];
	ok((8 + header) % 64 == 0 && whole.n == 8 + header + 57 + 64 &&
	    whole.data[8] == '{', "safetensors: the file is header, %u bytes "
	    "of tensors, footer", 57u);
	buffer_free(&whole);

	/* Tensors given in another order make the same file. */
	struct tensor mixed[5];
	for (int i = 0; i < 5; i++)
		mixed[i] = three[4 - i];
	safetensors_write(commit_open(in_dir("u.safetensors"), NULL), mixed, 5,
	    notes, 2, &again);
	ok(hash128_equal(hash, again),
	    "safetensors: the order of the tensors given changes no byte");
	is(safetensors_read(path, 0, &s), 0,
	    "safetensors: a checkpoint reads as a file of other programs");
	safetensors_free(&s);
	is(safetensors_read(in_dir("nowhere"), 1, &s), -1,
	    "safetensors: an absent file is an error, not damage");

	/* Weights of other programs have types that checkpoints lack. */
	mixed[0] = (struct tensor){ "h", DTYPE_F16, 1, { 2 }, u8s, 4,
	    NULL };
	safetensors_write(commit_open(in_dir("v.safetensors"), NULL), mixed, 1,
	    notes, 2, &again);
	ok(strstr(reading(in_dir("v.safetensors"), 1, &got),
	    "tensor h: dtype F16 (wanted U8, F32 or F64)") != NULL && got == -2,
	    "safetensors: a checkpoint with F16 is refused");
	reading(in_dir("v.safetensors"), 0, &got);
	is(got, 0, "safetensors: F16 in a file of another program is read");
	safetensors_write(commit_open(in_dir("w.safetensors"), NULL), three, 5,
	    notes, 2, NULL);
	is(safetensors_read(in_dir("w.safetensors"), 0, &s), 0,
	    "safetensors: a file for other programs reads back");
	is((long long)s.tensors, 5,
	    "safetensors: a file for other programs has no footer");
	is((long long)(s.file.n % 64), 57,
	    "safetensors: nothing follows its tensors");
	safetensors_free(&s);
}

/*
 * A file of another writer: a header of any length, and values of one size
 * after those of another, so that nothing is aligned.
 */
static void
unaligned(void)
{
	static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],"
	    "\"data_offsets\":[0,3]},\"d\":{\"dtype\":\"F64\",\"shape\":[3],"
	    "\"data_offsets\":[3,27]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],"
	    "\"data_offsets\":[27,29]},\"f\":{\"dtype\":\"F32\",\"shape\":[6],"
	    "\"data_offsets\":[29,53]}}";

	for (int blanks = 0; blanks < 8; blanks++) {
		const struct tensor *d = NULL, *f = NULL;
		struct buffer b = { 0 };
		struct safetensors s;
		size_t n = sizeof(header) - 1 + (size_t)blanks;
		unsigned char length[8] = { (unsigned char)n,
			(unsigned char)(n >> 8) };

		buffer_add(&b, length, 8);
		buffer_text(&b, header);
		for (int i = 0; i < blanks; i++)
			buffer_text(&b, " ");
		buffer_add(&b, u8s, 3);
		buffer_add(&b, f64s, 24);
		buffer_add(&b, u8s, 2);
		buffer_add(&b, f32s, 24);
		put_file(in_dir("odd"), b.data, b.n);
		if (safetensors_read(in_dir("odd"), 0, &s) == 0) {
			d = safetensors_tensor(&s, "d");
			f = safetensors_tensor(&s, "f");
		}
		ok(d != NULL && (uintptr_t)d->data % 8 == 0 &&
		    memcmp(d->data, f64s, 24) == 0 &&
		    f != NULL && (uintptr_t)f->data % 4 == 0 &&
		    memcmp(f->data, f32s, 24) == 0, "unaligned tensors after a "
		    "header of %zu bytes are read", n);
		safetensors_free(&s);
		buffer_free(&b);
	}
}

/* Try every value of every byte, and every length, of a small file. */
static void
damage(void)
{
	static const float x[] = { 1, 2 };
	static const struct tensor one = { "x", DTYPE_F32, 1, { 2 }, x, 8,
		NULL };
	static const struct meta note = { "k", "v" };
	const char *path = in_dir("d.safetensors"), *cut = in_dir("c");
	struct hash128 hash;
	struct buffer b = { 0 };
	long passed = 0, silent = 0;
	int fd, got;

	safetensors_write(commit_open(path, NULL), &one, 1, &note, 1, &hash);
	file_read(path, &b);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	for (size_t i = 0; i < b.n; i++)
		for (int v = 1; v < 256; v++) {
			unsigned char was = (unsigned char)b.data[i];
			unsigned char is = (unsigned char)(was ^ v);
			const char *said;

			if (pwrite(fd, &is, 1, (off_t)i) != 1)
				exit(1);
			said = reading(path, 1, &got);
			passed += got != -2;
			silent += *said == '\0';
			if (v == 255 && pwrite(fd, &was, 1, (off_t)i) != 1)
				exit(1);
		}
	close(fd);
	is(passed, 0, "every other value of every byte is refused as damage");
	is(silent, 0, "every damaged byte is reported");
	diag("%zu bytes, %zu files", b.n, b.n * 255);
	reading(path, 1, &got);
	is(got, 0, "the undamaged file is read");
	passed = 0;
	for (size_t n = 0; n < b.n; n++) {
		put_file(cut, b.data, n);
		reading(cut, 1, &got);
		passed += got != -2;
	}
	for (size_t n = 1; n < 80; n++) {
		buffer_add(&b, "", 1);
		put_file(cut, b.data, b.n);
		reading(cut, 1, &got);
		passed += got != -2;
	}
	is(passed, 0, "every other length is refused as damage");
	buffer_free(&b);
}

/* ---- headers of other writers, some hostile ---- */

static void
put_foreign(const char *header, size_t data)
{
	struct buffer b = { 0 };
	uint64_t n = strlen(header);

	for (int i = 0; i < 8; i++)
		buffer_add(&b, &(char){ (char)(n >> 8 * i) }, 1);
	buffer_text(&b, header);
	for (size_t i = 0; i < data; i++)
		buffer_add(&b, &(char){ (char)(i + 1) }, 1);
	put_file(in_dir("f"), b.data, b.n);
	buffer_free(&b);
}

#define T(name, from, to) "\"" name "\":{\"dtype\":\"F32\",\"shape\":[2]," \
    "\"data_offsets\":[" #from "," #to "]}"

static void
foreign(void)
{
	static const struct { const char *header; size_t data; } good[] = {
		{ "{}", 0 },
		{ "{" T("x", 0, 8) "}", 8 },
		{ "{" T("x", 8, 16) "," T("y", 0, 8) "}   ", 16 },
		{ "{\"__metadata__\":{}," T("x", 0, 8) "}", 8 },
		{ "{\"s\":{\"shape\":[],\"dtype\":\"U8\",\"data_offsets\":[0,1],"
		    "\"more\":1}}", 1 },
		{ "{\"e\":{\"shape\":[0,5],\"dtype\":\"F64\",\"data_offsets\":"
		    "[0,0]}," T("x", 0, 8) "}", 8 },
	};
	static const struct { const char *header; size_t data;
	    const char *says; } bad[] = {
		{ "{" T("x", 0, 8), 8, "f: not valid JSON" },
		{ "[1]", 0, "f: the header is not a JSON object" },
		{ "{" T("x", 0, 8) "," T("x", 0, 8) "}", 8, "duplicate" },
		{ "{\"__metadata__\":3}", 0, "__metadata__ is not a JSON object" },
		{ "{\"__metadata__\":{\"a\":1}}", 0, "metadata a is not text" },
		{ "{\"x\":1}", 0, "tensor x: dtype missing" },
		{ "{\"x\":{\"dtype\":\"U8\"}}", 0, "tensor x: shape is not an array" },
		{ "{\"x\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1]}}", 0,
		    "tensor x: shape is not an array of at most 8 numbers" },
		{ "{\"x\":{\"dtype\":\"U8\",\"shape\":[-1]}}", 0, "bad shape" },
		{ "{\"x\":{\"dtype\":\"U8\",\"shape\":[1.5]}}", 0, "bad shape" },
		{ "{\"x\":{\"dtype\":\"U8\",\"shape\":[2147483647,2147483647,"
		    "2147483647]}}", 0, "bad shape" },
		{ "{\"x\":{\"dtype\":\"U8\",\"shape\":[2]}}", 2, "data_offsets" },
		{ "{" T("x", 0, 9) "}", 8, "tensor x: data_offsets beyond the "
		    "file's 8 bytes" },
		{ "{" T("x", 8, 0) "}", 8, "data_offsets beyond" },
		{ "{" T("x", -8, 0) "}", 8, "data_offsets beyond" },
		{ "{" T("x", 0, 4) "}", 8, "tensor x: 4 bytes (wanted 8 by its "
		    "shape)" },
		{ "{" T("x", 8, 16) "}", 16, "tensor x does not begin where the "
		    "one before it ends" },
		{ "{" T("x", 0, 8) "," T("y", 4, 12) "}", 12, "tensor y does not "
		    "begin where" },
		{ "{" T("x", 0, 8) "}", 12, "4 bytes after the last tensor" },
	};
	struct safetensors s;
	const char *path, *said;
	int got;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		put_foreign(good[i].header, good[i].data);
		path = in_dir("f");
		said = reading(path, 0, &got);
		if (!ok(got == 0 && *said == '\0',
		    "a header is read: %s", good[i].header))
			diag("%s", said);
		said = reading(path, 1, &got);
		ok(got == -2 && strstr(said, "no footer") != NULL,
		    "a file without a footer is refused as a checkpoint of vt");
	}
	put_foreign(good[2].header, 16);
	safetensors_read(in_dir("f"), 0, &s);
	ok(strcmp(s.tensor[0].name, "y") == 0 && memcmp(safetensors_tensor(&s,
	    "x")->data, s.file.data + s.file.n - 8, 8) == 0,
	    "tensor data begin where the header says");
	safetensors_free(&s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_foreign(bad[i].header, bad[i].data);
		said = reading(in_dir("f"), 0, &got);
		if (!ok(got == -2 && strstr(said, bad[i].says) != NULL &&
		    strstr(said, "; ") == NULL,
		    "a header is refused: %s", bad[i].says))
			diag("%d: %s", got, said);
	}
	put_file(in_dir("f"), "1234567", 7);
	said = reading(in_dir("f"), 0, &got);
	ok(got == -2 && strstr(said, "7 bytes (wanted a header)") != NULL,
	    "a file too short for a header is refused");
	put_file(in_dir("f"), "\xff\xff\xff\xff\0\0\0\0{}", 10);
	said = reading(in_dir("f"), 0, &got);
	ok(got == -2 && strstr(said, "a header of 4294967295 bytes in a file of "
	    "10") != NULL, "a header longer than the file is refused");
}

/* ---- a net ---- */

static const char net_text[] =
    "input x out=3\n"
    "conv c in=x out=4 k=3,3\n"
    "bn b in=c\n"
    "avgpool p in=b over=thw\n"
    "linear fc in=p out=classes\n";

static struct state
a_state(void)
{
	return (struct state){ .step = 12, .clips = UINT64_MAX, .seed = 7,
		.epoch = 1.0 / 3, .loss = 0.1, .best = -1e300, .best_metric = "top1",
		.best_step = 9, .grown = 1,
		.build = "vt 0", .results = "1", .isa = "base", .library = "none",
		.precision = "fp32",
		.settings_id = "0123456789abcdef0123456789abcdef",
		.classes = "a\nb \"c\"\n",
		.class_hash = "0123456789abcdef", .config = "seed = 7\n",
		.dataset = "00", .generation = 2, .history = "11",
		.model = "net", .network = net_text, .frames = 8, .crop = 48,
		.extract = "{\"fps\":[12,1]}", .order = "v1",
		.flips = "none", .class_weights = "none" };
}

/* Return the elements of a flat buffer as doubles.  The caller frees them. */
static double *
values(const struct net *n, const void *flat)
{
	double *v = calloc(n->graph->elements, sizeof(*v));

	device_get(n->device, v, flat, n->graph->elements);
	return v;
}

static void *
momentum(const struct optim *o)
{
	return o->slots.slot[0].data;
}

static struct net *
new_net(const char *backend, const char *text, uint64_t seed, struct optim *o)
{
	struct device *b = device_open(backend_find(backend),
	    &(struct device_options){ .threads = 1 });
	struct net *n = net_new(graph_parse("net.net", text, 2), b);
	double *v;

	net_init(n, seed);
	*o = (struct optim){ 0 };
	optim_open(o, n, NULL);
	v = calloc(n->graph->elements, sizeof(*v));
	for (size_t i = 0; i < n->graph->elements; i++)
		v[i] = (float)sin((double)(seed + i));
	device_put(b, momentum(o), v, n->graph->elements);
	free(v);
	return n;
}

static void
free_net(struct net *n, struct optim *o)
{
	const struct graph *g = n->graph;
	struct device *d = n->device;

	optim_close(o);
	net_free(n);
	device_close(d);
	graph_free((struct graph *)g);
}

/*
 * Return 1 if all parameters are equal, and the momentum of all trained ones.
 */
static int
same_net(const struct net *a, const struct optim *oa, const struct net *b,
    const struct optim *ob)
{
	double *v[4] = { values(a, a->w), values(b, b->w),
		values(a, momentum(oa)), values(b, momentum(ob)) };
	int same = 1;

	for (int k = 0; k < a->graph->nparam; k++) {
		const struct param *p = &a->graph->param[k];

		for (size_t i = p->offset; i < p->offset + p->count; i++) {
			same &= v[0][i] == v[1][i];
			same &= v[2][i] == v[3][i] || p->kind >= PARAM_MEAN;
		}
	}
	for (int i = 0; i < 4; i++)
		free(v[i]);
	return same;
}

static struct hash128
save_net(const struct net *n, const struct optim *o, const struct state *st,
    const char *path)
{
	struct snapshot *s;
	struct hash128 hash = { { 0 } };

	if (snapshot_take(&s, n, &o->slots, st) != 0 ||
	    snapshot_write(s, path, &hash, NULL) != 0)
		ok(0, "a checkpoint is written to %s", path);
	snapshot_free(s);
	return hash;
}

static int
load_all(const struct safetensors *f, const char *path, struct net *n,
    struct optim *o)
{
	struct slots_whole whole;
	int bad = checkpoint_load(f, path, n, 0) != 0 ||
	    checkpoint_slots(f, path, &o->slots, &whole) != 0;

	if (bad)
		return -1;
	bad = slots_scatter(&o->slots, &whole);
	slots_forget(&whole);
	return bad;
}

/*
 * Load ${path} into a new net made of ${text}.  Return the message, valid until
 * the next call.
 */
static const char *
load_says(const char *path, const char *text)
{
	static char said[1024];
	struct optim m;
	struct net *n = new_net("ref", text, 9, &m);
	struct safetensors f;
	struct state st;

	*said = '\0';
	if (checkpoint_read(path, &f, &st) != 0)
		return "unreadable";
	said_begin(said, sizeof(said));
	load_all(&f, path, n, &m);
	said_end();
	safetensors_free(&f);
	free_net(n, &m);
	return said;
}

static void
saved_net(void)
{
	const char *path = in_dir("n.safetensors");
	struct state st = a_state(), got;
	struct safetensors f;
	struct optim m, m2, m64;
	struct net *n = new_net("ref", net_text, 1, &m);
	struct net *other = new_net("ref", net_text, 2, &m2);
	struct net *wide = new_net("ref64", net_text, 3, &m64);
	struct hash128 hash = save_net(n, &m, &st, path);

	ok(!same_net(n, &m, other, &m2), "two nets of different seeds differ");
	is(checkpoint_read(path, &f, &got), 0, "a checkpoint is read");
	ok(got.step == 12 && got.clips == UINT64_MAX && got.seed == 7 &&
	    got.epoch == 1.0 / 3 && got.loss == 0.1 && got.best == -1e300 &&
	    got.best_step == 9 && strcmp(got.best_metric, "top1") == 0 &&
	    got.generation == 2 && got.frames == 8 && got.crop == 48,
	    "the numbers of a checkpoint read back exactly");
	ok(strcmp(got.build, st.build) == 0 &&
	    strcmp(got.results, st.results) == 0 &&
	    strcmp(got.isa, st.isa) == 0 &&
	    strcmp(got.library, st.library) == 0 &&
	    strcmp(got.precision, st.precision) == 0 &&
	    strcmp(got.settings_id, st.settings_id) == 0 &&
	    strcmp(got.classes, st.classes) == 0 &&
	    strcmp(got.class_hash, st.class_hash) == 0 &&
	    strcmp(got.config, st.config) == 0 &&
	    strcmp(got.dataset, st.dataset) == 0 &&
	    strcmp(got.history, st.history) == 0 &&
	    strcmp(got.extract, st.extract) == 0 &&
	    strcmp(got.model, st.model) == 0 &&
	    strcmp(got.network, st.network) == 0 &&
	    strcmp(got.order, st.order) == 0,
	    "the texts of a checkpoint read back exactly");
	is((long long)f.metas, 29, "a checkpoint has no further metadata");
	ok(safetensors_tensor(&f, "model/c.weight") != NULL &&
	    safetensors_tensor(&f, "optim/momentum/c.weight") != NULL &&
	    safetensors_tensor(&f, "bn/b.running_var") != NULL &&
	    safetensors_tensor(&f, "optim/momentum/b.running_var") == NULL,
	    "tensors have the names of vt-checkpoint(5)");
	is((long long)f.tensors, 5 + 5 + 2 + 1, "each tensor is saved once");
	is(load_all(&f, path, other, &m2), 0,
	    "a checkpoint is loaded into another net");
	ok(same_net(n, &m, other, &m2), "the loaded net equals the saved one");
	is(load_all(&f, path, wide, &m64), 0,
	    "a fp32 checkpoint is loaded into a fp64 net");
	ok(same_net(n, &m, wide, &m64), "fp32 values are exact in fp64");
	safetensors_free(&f);
	ok(hash128_equal(hash, save_net(other, &m2, &st,
	    in_dir("o.safetensors"))), "equal states make equal files");
	save_net(wide, &m64, &st, in_dir("w.safetensors"));
	checkpoint_read(in_dir("w.safetensors"), &f, &got);
	is((long long)safetensors_tensor(&f, "model/fc.bias")->bytes, 16,
	    "a fp64 net is saved in fp64");
	is(load_all(&f, path, other, &m2), 0,
	    "a fp64 checkpoint is loaded into a fp32 net");
	ok(same_net(n, &m, other, &m2), "fp64 values are rounded to fp32");
	safetensors_free(&f);

	ok(strstr(load_says(path, "input x out=3\nconv d in=x out=4 k=3,3\n"
	    "avgpool p in=d over=thw\nlinear fc in=p out=classes\n"),
	    "no tensor model/d.weight, which net needs") != NULL,
	    "a network with another layer is refused");
	ok(strstr(load_says(path, "input x out=3\nconv c in=x out=5 k=3,3\n"
	    "avgpool p in=c over=thw\nlinear fc in=p out=classes\n"),
	    "tensor model/c.weight: dimension 0 is 4 (wanted 5)") != NULL,
	    "a layer of another width is refused");
	ok(strstr(load_says(path, "input x out=3\nconv c in=x out=4 k=1,3,3\n"
	    "avgpool p in=c over=thw\nlinear fc in=p out=classes\n"),
	    "tensor model/c.weight has 4 dimensions (wanted 5)") != NULL,
	    "a layer with another number of dimensions is refused");
	free_net(n, &m);
	free_net(other, &m2);
	free_net(wide, &m64);
}

/* Check that a checkpoint with the metadata ${meta} is refused with ${want}. */
static void
metadata_error(const struct meta *meta, size_t n, const char *want)
{
	struct safetensors f;
	struct state st;
	struct hash128 hash;
	char said[512];
	int got;

	safetensors_write(commit_open(in_dir("m"), NULL), NULL, 0, meta, n,
	    &hash);
	said_begin(said, sizeof(said));
	got = checkpoint_read(in_dir("m"), &f, &st);
	said_end();
	if (!ok(got == -2 && strstr(said, want) != NULL,
	    "metadata is refused: %s", want))
		diag("%d: %s", got, said);
}

static char said_of_rows[512];

static void
metadata_errors(void)
{
	static const struct meta future = { "vt.format", "2" };
	struct state st = a_state();
	struct meta all[64], some[64];
	size_t n = 0, required = 0, step = 0, crop = 0;
	char want[64];

	st.tensors = "{}";
	for (size_t i = 0; i < state_row_count; i++) {
		char *text = state_row_text(&state_rows[i], &st);

		step = strcmp(state_rows[i].key, "vt.step") == 0 ? n : step;
		crop = strcmp(state_rows[i].key, "vt.crop") == 0 ? n : crop;
		if (text != NULL)
			all[n++] = (struct meta){ state_rows[i].key, text };
	}
	metadata_error(&future, 1, "format 2 (this version reads 1)");
	metadata_error(NULL, 0, "no vt.best in its metadata");
	for (size_t i = 0; i < n; i++) {
		const struct state_row *r = state_rows;

		while (strcmp(r->key, all[i].key) != 0)
			r++;
		if (r->missing != NULL && r->type != STATE_CONSTANT)
			continue;
		memcpy(some, all, i * sizeof(*all));
		memcpy(some + i, all + i + 1, (n - i - 1) * sizeof(*all));
		snprintf(want, sizeof(want), "no %s in its metadata",
		    all[i].key);
		metadata_error(some, n - 1, want);
		required++;
	}
	is((long long)required, 27, "27 keys are in every checkpoint");
	memcpy(some, all, sizeof(some));
	some[step].value = "twelve";
	metadata_error(some, n, "vt.step is twelve (wanted a number)");
	some[step].value = "12 13";
	metadata_error(some, n, "(wanted no further number)");
	some[step].value = all[step].value;
	some[crop].value = "0";
	metadata_error(some, n, "vt.crop is 0 (wanted 1 or more)");
	memcpy(some, all, sizeof(some));
	some[n] = (struct meta){ "vt.zebra", "1" };
	metadata_error(some, n + 1, "unknown key vt.zebra in its metadata");
	some[n].key = "vt.step";
	said_begin(said_of_rows, sizeof(said_of_rows));
	is(state_read(&st, "m", some, n + 1), -1, "a key twice is refused");
	said_end();
	ok(strstr(said_of_rows, "m: key vt.step occurs twice") != NULL,
	    "a key twice: the message names it");
	for (size_t i = 0; i < n; i++)
		free((char *)all[i].value);
}

/* Set the member of ${r} to a value that is neither that of a_state nor omitted. */
static void
change(const struct state_row *r, struct state *s)
{
	void *at = (char *)s + r->at;

	switch (r->type) {
	case STATE_COUNT: *(uint64_t *)at = UINT64_MAX - 1; break;
	case STATE_INT: *(int *)at = INT32_MAX; break;
	case STATE_REAL: *(double *)at = 0.1 + 0.2; break;
	case STATE_TEXT:
	case STATE_NULLABLE: *(const char **)at = "changed"; break;
	case STATE_CONSTANT: break;
	}
}

static int
same_member(const struct state_row *r, const struct state *a,
    const struct state *b)
{
	const char *x = (const char *)a + r->at, *y = (const char *)b + r->at;

	return r->type == STATE_CONSTANT || (r->type == STATE_COUNT ||
	    r->type == STATE_REAL ? memcmp(x, y, 8) == 0 :
	    r->type == STATE_INT ? memcmp(x, y, sizeof(int)) == 0 :
	    strcmp(*(const char *const *)x, *(const char *const *)y) == 0);
}

/* Write, read, send and compare each row of the state. */
static void
rows_of_state(void)
{
	const char *path = in_dir("rows.safetensors");
	struct optim m;
	struct net *n = new_net("ref", net_text, 1, &m);
	struct safetensors f;
	unsigned char rows[sizeof(struct state)] = { 0 };
	int all = 1;

	for (size_t i = 0; i < state_row_count; i++) {
		const struct state_row *r = &state_rows[i];
		struct state st = a_state(), plain = st, got, there = st;
		struct buffer b = { 0 };
		const char *key;

		if (i > 0 && !ok(strcmp(r[-1].key, r->key) < 0,
		    "%s: keys are in byte order", r->key))
			continue;
		for (size_t k = 0; r->type != STATE_CONSTANT &&
		    k < (r->type == STATE_INT ? sizeof(int) : 8); k++)
			rows[r->at + k]++;
		change(r, &st);
		save_net(n, &m, &st, path);
		if (!ok(checkpoint_read(path, &f, &got) == 0 &&
		    (strcmp(r->key, "vt.tensors") == 0 ||
		    same_member(r, &st, &got)), "%s is saved and read", r->key))
			continue;
		safetensors_free(&f);
		state_pack(&st, &b);
		state_unpack(&there, &b);
		ok(r->type == STATE_CONSTANT || r->flags & STATE_FREE_SEND ||
		    same_member(r, &st, &there), "%s is sent", r->key);
		buffer_free(&b);
		key = state_difference(&st, &plain);
		ok(r->flags & STATE_FREE_REPLAY ? key == NULL : key != NULL &&
		    strcmp(key, r->key) == 0, "%s is compared", r->key);
	}
	/* The struct has no padding. */
	for (size_t k = 0; k < sizeof(rows); k++)
		all &= rows[k] == 1;
	ok(all, "each member has one row");
	free_net(n, &m);
}

/* A row may be an array. */
static void
array_rows(void)
{
	struct { double x[3]; } numbers = { { 0.1, -2, 1e300 } }, back = { { 0 } };
	const struct state_row r = { "vt.x", STATE_REAL, 0, 3, NULL, 0 };
	char *text = state_row_text(&r, (const struct state *)(const void *)&numbers);

	ok(state_row_set(&r, (struct state *)(void *)&back, "m", text) == 0 &&
	    memcmp(&numbers, &back, sizeof(back)) == 0,
	    "an array is written and read exactly");
	free(text);
	said_begin(said_of_rows, sizeof(said_of_rows));
	is(state_row_set(&r, (struct state *)(void *)&back, "m", "1 2"), -1,
	    "an array that is too short is refused");
	said_end();
	ok(strstr(said_of_rows, "vt.x is \"1 2\" (wanted a number)") != NULL,
	    "an array that is too short: the message names it");
}

/* ---- the run directory ---- */

/*
 * Return the names in a directory, sorted, without dot files.  Valid until the
 * next call.
 */
static const char *
names(const char *path)
{
	static char text[1024];
	struct dirent **e;
	int n = scandir(path, &e, NULL, alphasort);

	*text = '\0';
	for (int i = 0; i < n; i++) {
		if (*e[i]->d_name != '.') {
			strcat(text, *text ? " " : "");
			strcat(text, e[i]->d_name);
		}
		free(e[i]);
	}
	if (n >= 0)
		free(e);
	return text;
}

static const char *
text_of(const char *path)
{
	static struct buffer b;

	b.n = 0;
	return file_read(path, &b) == 0 ? b.data : "(unreadable)";
}

/* Save a checkpoint of ${step} as the saver does.  Return its hash. */
static struct hash128
save_step(struct rundir *r, const struct net *n, const struct optim *m,
    uint64_t step, int best)
{
	struct state st = a_state();
	char *path = rundir_checkpoint(r->path, step);
	struct hash128 hash;

	st.step = step;
	hash = save_net(n, m, &st, path);
	if (rundir_saved(r, step, hash, best, 0, NULL) != 0)
		ok(0, "the checkpoint of step %d is saved", (int)step);
	free(path);
	return hash;
}

static void
set_step_damaged(struct rundir *r, uint64_t step)
{
	char *path = rundir_checkpoint(r->path, step);

	if (truncate(path, 100) != 0)
		exit(1);
	free(path);
}

/*
 * A snapshot that is refused after another call found a full disk frees no
 * space: the older checkpoints are all that is left.  Free ${s}.
 */
static void
refused_late(struct rundir *r, struct snapshot *s)
{
	char *oldest = rundir_checkpoint(r->path, 1), said[1024];
	struct saver *w = saver_new(r, 20);
	int result;

	put_file(oldest, "", 0);
	saver_start(w, s, 40, 0);
	said_begin(said, sizeof(said));
	errno = ENOSPC;
	result = saver_wait(w);
	said_end();
	saver_free(w);
	is(result, -1, "a save that is refused again fails");
	is(unlink(oldest), 0, "it removes no older checkpoint");
	free(oldest);
}

/* A net that holds NaN is neither written nor read. */
static void
not_finite(struct rundir *r, const struct net *n, struct optim *m)
{
	char *path = rundir_checkpoint(r->path, 40), said[1024];
	struct state st = a_state();
	struct snapshot *s;
	struct hash128 hash;
	struct resume found;
	struct safetensors f;
	struct device *d = n->device;
	float was, nan = NAN;

	st.step = 40;
	device_download(d, &was, momentum(m), sizeof(was));
	device_upload(d, momentum(m), &nan, sizeof(nan));
	snapshot_take(&s, n, &m->slots, &st);
	said_begin(said, sizeof(said));
	is(snapshot_write(s, path, &hash, NULL), -1,
	    "a checkpoint with NaN is not written");
	said_end();
	ok(strstr(said, "holds NaN") != NULL && !exists(path),
	    "the refusal names NaN and leaves no file");
	refused_late(r, s);
	device_upload(d, momentum(m), &was, sizeof(was));

	/* Old versions wrote such checkpoints: replace a good one. */
	save_step(r, n, m, 40, 0);
	safetensors_read(path, 1, &f);
	for (size_t i = 0; i < f.tensors; i++)
		if (f.tensor[i].type == DTYPE_F32)
			memcpy((void *)f.tensor[i].data, &nan, sizeof(nan));
	f.tensors--;			/* write a new footer */
	safetensors_write(commit_open(path, NULL), f.tensor, f.tensors, f.meta,
	    f.metas, &hash);
	safetensors_free(&f);
	said_begin(said, sizeof(said));
	is(resume_file(path, &found), -3,
	    "a checkpoint with NaN is refused by resume_file");
	is(resume_newest(r->path, &found), 1,
	    "resume_newest falls back to an older checkpoint");
	said_end();
	is((long long)found.state.step, 20,
	    "the older checkpoint is the newest finite one");
	resume_free(&found);
	unlink(path);
	free(path);
}

/* A variance below 0 is damage, unless it is within rounding error. */
static void
negative(struct rundir *r, const struct net *n, struct optim *m)
{
	static const struct { float value; int status; } row[] = {
		{ -5, -2 }, { -1e-9f, 0 } };
	char *path = rundir_checkpoint(r->path, 40), said[1024];
	struct hash128 hash;
	struct resume found;
	struct safetensors f;

	for (int i = 0; i < 2; i++) {
		int changed = 0;

		save_step(r, n, m, 40, 0);
		safetensors_read(path, 1, &f);
		for (size_t k = 0; k < f.tensors; k++)
			if (strstr(f.tensor[k].name, ".running_var") != NULL) {
				memcpy((void *)f.tensor[k].data, &row[i].value,
				    sizeof(float));
				changed++;
			}
		f.tensors--;		/* write a new footer */
		safetensors_write(commit_open(path, NULL), f.tensor, f.tensors,
		    f.meta, f.metas, &hash);
		safetensors_free(&f);
		ok(changed > 0, "%d variances are set to %g", changed,
		    (double)row[i].value);
		said_begin(said, sizeof(said));
		is(resume_file(path, &found), row[i].status == 0 ? 1 : -2,
		    "a variance below 0 is refused, one within rounding is "
		    "read");
		said_end();
		if (row[i].status == 0)
			resume_free(&found);
		else
			ok(strstr(said, "running_var holds -5 (wanted a "
			    "variance") != NULL,
			    "the message names the variance: %s", said);
	}
	unlink(path);
	free(path);
}

/*
 * best.safetensors follows the step in the state, whatever happened to the
 * file.
 */
static void
best(struct rundir *r, const struct net *n, const struct optim *m)
{
	const char *path = in_dir("deep/run/best.safetensors");
	struct resume found;

	unlink(path);
	is(rundir_repair_best(r, 20), 0,
	    "rundir_repair_best makes a missing best.safetensors");
	is(resume_file(path, &found), 1,
	    "the repaired best.safetensors is read");
	is((long long)found.state.step, 20,
	    "the repaired best has the named step");
	resume_free(&found);
	save_step(r, n, m, 25, 0);
	is(rundir_repair_best(r, 25), 0,
	    "rundir_repair_best replaces a best of another step");
	is(resume_file(path, &found), 1,
	    "the replaced best.safetensors is read");
	is((long long)found.state.step, 25,
	    "the replaced best has the new step");
	resume_free(&found);
	unlink(in_dir("deep/run/ckpt-0000000025.safetensors"));
	is(rundir_repair_best(r, 25), 0,
	    "rundir_repair_best needs no checkpoint if best is right");
	if (truncate(path, 300) != 0)
		exit(1);
	is(rundir_repair_best(r, 25), -1,
	    "rundir_repair_best fails if best is damaged and the checkpoint gone");
}

static void
run_directory(void)
{
	const char *path = in_dir("deep/run");
	struct rundir r = { .keep = 2 }, second = { .keep = 2 };
	struct resume found = { 0 };
	struct hash128 hash;
	struct optim m;
	struct net *n = new_net("ref", net_text, 1, &m);
	char said[1024], text[33], want[128];
	uint64_t *steps;

	is(resume_newest(path, &found), 0,
	    "resume: an absent directory is a new run");
	is(rundir_open(&r, path), 0,
	    "rundir_open makes the directory and its parents");
	said_begin(said, sizeof(said));
	ok(rundir_open(&second, path) != 0, "a second rundir_open is refused");
	said_end();
	ok(strstr(said, "in use") != NULL,
	    "the message says that the directory is in use");
	is(resume_newest(path, &found), 0,
	    "resume: a directory without checkpoints is a new run");

	hash = save_step(&r, n, &m, 5, 1);
	is_text(names(path), "best.safetensors ckpt-0000000005.safetensors latest",
	    "the first checkpoint is also the best");
	snprintf(want, sizeof(want), "ckpt-0000000005.safetensors %s\n",
	    hash128_text(hash, text));
	is_text(text_of(in_dir("deep/run/latest")), want,
	    "latest holds the name and hash of the checkpoint");
	save_step(&r, n, &m, 10, 0);
	save_step(&r, n, &m, 20, 0);
	is_text(names(path), "best.safetensors ckpt-0000000010.safetensors "
	    "ckpt-0000000020.safetensors latest",
	    "two checkpoints are kept, and the best");
	is(resume_file(in_dir("deep/run/best.safetensors"), &found), 1,
	    "best.safetensors is a checkpoint of its own");
	is((long long)found.state.step, 5,
	    "best.safetensors has the step of the best");
	resume_free(&found);

	/* Files of other programs are neither counted nor removed. */
	put_file(in_dir("deep/run/ckpt-1.safetensors"), "", 0);
	put_file(in_dir("deep/run/ckpt-0000000001.safetensors.old"), "", 0);
	save_step(&r, n, &m, 10000000000, 0);
	is_text(names(path), "best.safetensors "
	    "ckpt-0000000001.safetensors.old ckpt-0000000020.safetensors "
	    "ckpt-1.safetensors ckpt-10000000000.safetensors latest",
	    "files of other names stay, and a step may have 11 digits");
	is(rundir_checkpoints(path, "", &steps), 2,
	    "rundir_checkpoints finds two checkpoints");
	ok(steps[0] == 10000000000 && steps[1] == 20,
	    "rundir_checkpoints lists the newest first");
	free(steps);
	is(rundir_link(&r, 20, "final.safetensors", NULL), 0,
	    "rundir_link ends the run");
	is(resume_file(in_dir("deep/run/final.safetensors"), &found), 1,
	    "a finished run has a final checkpoint");
	resume_free(&found);

	is(rundir_unfinish(&r), 0,
	    "rundir_unfinish succeeds with a final checkpoint");
	ok(!exists("deep/run/final.safetensors") && rundir_unfinish(&r) == 0,
	    "rundir_unfinish removes it, and succeeds without one");

	/* Damaged checkpoints are renamed, and an older one is taken. */
	set_step_damaged(&r, 10000000000);
	said_begin(said, sizeof(said));
	is(resume_newest(path, &found), 1,
	    "resume_newest finds a checkpoint despite a damaged one");
	is((long long)found.state.step, 20,
	    "resume_newest takes the one before the damaged one");
	ok(exists("deep/run/ckpt-10000000000.safetensors"),
	    "resume_newest renames nothing");
	is(resume_rename_bad(path, &found), 0, "resume_set_aside succeeds");
	said_end();
	ok(exists("deep/run/ckpt-10000000000.safetensors.bad") &&
	    strstr(said, "renamed to ckpt-10000000000.safetensors.bad") != NULL,
	    "resume_set_aside renames the damaged checkpoint and says so");
	save_step(&r, n, &m, 30, 0);
	said_begin(said, sizeof(said));
	is(resume_rename_bad(path, &found), -1,
	    "resume_set_aside refuses if a newer checkpoint was saved");
	said_end();
	unlink(in_dir("deep/run/ckpt-0000000030.safetensors"));
	resume_free(&found);
	not_finite(&r, n, &m);
	negative(&r, n, &m);
	best(&r, n, &m);
	set_step_damaged(&r, 20);
	said_begin(said, sizeof(said));
	is(resume_newest(path, &found), -2,
	    "resume_newest fails if all checkpoints are damaged");
	said_end();
	ok(strstr(said, "every checkpoint is damaged") != NULL,
	    "the message says that all are damaged");

	/* Temporary files of a killed run are removed under the lock. */
	put_file(in_dir("deep/run/.latest.tmp.1234"), "x", 1);
	rundir_close(&r);
	is(rundir_open(&r, path), 0, "rundir_open succeeds after rundir_close");
	ok(!exists("deep/run/.latest.tmp.1234"),
	    "rundir_open removes temporary files");
	rundir_close(&r);
	free_net(n, &m);
}

static void
add_line(struct runlog *l, const char *key, int64_t value, int64_t step,
    const char *type)
{
	const struct json_member m = JSON_MEMBER(key, value);

	runlog_event(l, type, (uint64_t)step, &m, 1);
}

/* Return the lines of the file ${path} without their member "time". */
static const char *
lines_of(const char *path)
{
	static char text[1024];
	char *at, *end;

	snprintf(text, sizeof(text), "%s", text_of(path));
	while ((at = strstr(text, "\"time\":")) != NULL &&
	    (end = strchr(at, ',')) != NULL)
		memmove(at, end + 1, strlen(end));
	return text;
}

static void
log_cut(void)
{
	const char *path = in_dir("logs");
	struct runlog l;
	int status = -1;
	char said[256];

	file_make_dir(path, NULL);
	is(runlog_last(path, &status), RUNLOG_NONE,
	    "a missing log has no status");
	is(runlog_open(&l, path, 0), 0, "runlog_open makes a new log");
	add_line(&l, "ranks", 1, 0, "start");
	is(runlog_last(path, &status), RUNLOG_OPEN,
	    "a log with a start but no end is open");
	for (int i = 1; i < 5; i++)
		add_line(&l, "loss", 1, 10 * i, "step");
	is(runlog_close(&l), 0, "runlog_close succeeds");
	/* A line that was being written when the power failed. */
	FILE *f = fopen(in_dir("logs/log.jsonl"), "a");
	fputs("{\"loss\":1,\"step\":2", f);
	fclose(f);
	is(runlog_open(&l, path, 30), 0, "runlog_open resumes from step 30");
	add_line(&l, "ranks", 1, 30, "start");
	is_text(lines_of(in_dir("logs/log.jsonl")),
	    "{\"ranks\":1,\"step\":0,\"type\":\"start\"}\n"
	    "{\"loss\":1,\"step\":10,\"type\":\"step\"}\n"
	    "{\"loss\":1,\"step\":20,\"type\":\"step\"}\n"
	    "{\"loss\":1,\"step\":30,\"type\":\"step\"}\n"
	    "{\"ranks\":1,\"step\":30,\"type\":\"start\"}\n",
	    "lines up to step 30 are kept, the torn one is cut");
	runlog_end(&l, 5, 30);
	runlog_end(&l, 1, 30);
	is(runlog_last(path, &status), RUNLOG_ENDED, "runlog_end ends the log");
	is(status, 5, "the first status given to runlog_end counts");
	runlog_close(&l);
	is(runlog_open(&l, path, 0), 0, "runlog_open starts a run at step 0");
	is_text(text_of(in_dir("logs/log.jsonl")), "",
	    "a start at step 0 empties the log");

	/* A full disk: lines wait in memory. */
	int fd = l.file.fd;
	l.file.fd = open("/dev/full", O_WRONLY);
	said_begin(said, sizeof(said));
	add_line(&l, "loss", 1, 10, "step");
	add_line(&l, "loss", 1, 20, "step");
	said_end();
	is_text(strstr(said, "cannot write"), "cannot write: No space left on "
	    "device; keeping new data in memory", "a full disk is said, once");
	close(l.file.fd);
	l.file.fd = fd;
	add_line(&l, "loss", 1, 30, "step");
	is_text(lines_of(in_dir("logs/log.jsonl")),
	    "{\"loss\":1,\"step\":10,\"type\":\"step\"}\n"
	    "{\"loss\":1,\"step\":20,\"type\":\"step\"}\n"
	    "{\"loss\":1,\"step\":30,\"type\":\"step\"}\n",
	    "lines are written when the disk has space again");
	l.file.fd = open("/dev/full", O_WRONLY);
	said_begin(said, sizeof(said));
	add_line(&l, "loss", 1, 40, "step");
	is(runlog_close(&l), -1, "runlog_close fails if the disk stays full");
	said_end();
	close(fd);
}

static void
remove_all(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char *below;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		below = path_join(path, e->d_name);
		if (file_is_dir(below))
			remove_all(below);
		else
			unlink(below);
		free(below);
	}
	if (d != NULL)
		closedir(d);
	rmdir(path);
}

int
main(void)
{
	const char *base = getenv("TMPDIR");
	char name[512];

	snprintf(name, sizeof(name), "%s/vt-test.XXXXXX", base ? base : "/tmp");
	if ((dir = mkdtemp(name)) == NULL) {
		printf("Bail out! cannot make a folder for the test\n");
		return 1;
	}
	round_trip();
	unaligned();
	damage();
	foreign();
	saved_net();
	metadata_errors();
	rows_of_state();
	array_rows();
	run_directory();
	log_cut();
	remove_all(dir);
	return done();
}
