/*
 * The .net language: what is refused and how that is said, shapes, and the
 * parameters and multiply-adds of the networks in share/models, against tables
 * that the published programs printed and against sums done here by hand.
 */
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/table.h"
#include "graph/graph.h"

#include "tap.h"

#define HEAD "input x out=3\n"
#define TAIL "\navgpool p in=last over=thw\nlinear fc in=p out=classes\n"
#define SCORES "avgpool p in=x over=thw\nlinear s in=p out=classes\n"
#define TAIL2 "\nrelu last in=x" TAIL

/* ---- what is refused ---- */

static const struct { const char *text, *says; } wrong[] = {
	/* lines */
	{ HEAD "konv c in=x out=8\n",
	    "t.net:2: no operator or block is named konv" },
	{ HEAD "\n# a comment\n\tconv\n", "t.net:4: conv has no name" },
	{ HEAD "conv c in=x out\n", "t.net:2: out (wanted key=value)" },
	{ HEAD "conv c in=x =8\n", "t.net:2: =8 (wanted key=value)" },
	{ HEAD "conv a,b in=x out=8\n", "t.net:2: name a,b (wanted up to 63 "
	    "letters, digits, '_', '.' and '-')" },
	{ HEAD "conv "
	    "a123456789012345678901234567890123456789012345678901234567890123"
	    " in=x out=8\n", "t.net:2: name a1234567890" },
	{ HEAD "relu x in=x\n", "t.net:2: a second x" },
	{ "relu r in=x\n", "t.net:1: relu before the input" },
	{ HEAD "# M\xfcller\n", "t.net:2: not UTF-8" },
	{ HEAD "relu a in=x\rrelu b in=x\n",
	    "t.net:2: a carriage return within the line" },
	{ "", "t.net: no network in it" },
	{ HEAD, "t.net: no network in it" },
	/* attributes */
	{ HEAD "relu r in=x out=8\n",
	    "t.net:2: relu has no attribute out (it has: in)" },
	{ HEAD "conv c in=x kt=3\n", "t.net:2: conv has no attribute kt (it has: "
	    "in out k s p groups bias)" },
	{ HEAD "conv c in=x out=8 out=8\n", "t.net:2: out twice" },
	{ HEAD "conv c in=x\n", "t.net:2: conv c: no out=CHANNELS" },
	{ HEAD "conv c in=x out=0\n", "t.net:2: out=0 (wanted 1 to 1048576)" },
	/* Products of sizes do not wrap. */
	{ HEAD "conv c in=x out=8 k=65536,65536\n",
	    "t.net:2: k=65536,65536 (wanted h,w or t,h,w, 1 to 1024)" },
	{ HEAD "conv c in=x out=1048576 k=1048576,1 p=524288,524288\n",
	    "t.net:2: k=1048576,1 (wanted" },
	{ HEAD "conv c in=x out=8 s=1,1025\n", "s=1,1025 (wanted" },
	{ HEAD "conv c in=x out=8 p=1,1025\n", "p=1,1025 (wanted h,w or t,h,w, "
	    "0 to 1024)" },
	{ HEAD "conv c in=x out=1048577\n", "out=1048577 (wanted 1 to 1048576)" },
	{ HEAD "conv c in=x out=1048576 k=1024,1024,1024\n",
	    "t.net:2: with c.weight the network has more than 2^31 parameters" },
	{ HEAD "conv a in=x out=32768 k=1,1\nconv b in=a out=32768 k=1,1\n"
	    "conv c in=b out=32768 k=1,1\n",
	    "t.net:4: with c.weight the network has more than 2^31 parameters" },
	{ HEAD "conv c in=x out=8,8\n", "out=8,8 (wanted 1 to 1048576)" },
	{ HEAD "conv c in=x out=2e1\n", "out=2e1 (wanted 1 to 1048576)" },
	{ HEAD "conv c in=x out=Classes\n", "out=Classes (wanted 1 to" },
	{ HEAD "conv c in=x out=8 k=3\n",
	    "t.net:2: k=3 (wanted h,w or t,h,w, 1 to 1024)" },
	{ HEAD "conv c in=x out=8 k=0,3\n", "k=0,3 (wanted h,w or t,h,w, 1 to 1024)" },
	{ HEAD "conv c in=x out=8 k=3,3,3,3\n", "k=3,3,3,3 (wanted" },
	{ HEAD "conv c in=x out=8 k=3,\n", "k=3, (wanted" },
	{ HEAD "conv c in=x out=8 s=2,0\n", "s=2,0 (wanted h,w or t,h,w, 1 to 1024)" },
	{ HEAD "conv c in=x out=8 p=1\n", "p=1 (wanted h,w or t,h,w, 0 to 1024)" },
	{ HEAD "conv c in=x out=8 p=-1,0\n", "p=-1,0 (wanted" },
	{ HEAD "conv c in=x out=8 bias=2\n", "t.net:2: bias=2 (wanted 0 or 1)" },
	{ HEAD "conv c in=x out=8 groups=2\n",
	    "t.net:2: conv c: groups=2 does not divide 3 and 8 channels" },
	{ HEAD "conv c in=x out=8 groups=3\n", "groups=3 does not divide" },
	{ HEAD "bn b in=x gamma=one\n", "t.net:2: gamma=one (wanted a number)" },
	{ HEAD "bn b in=x eps=0\n", "eps=0 (wanted a number from 1e-12 to 1)" },
	{ HEAD "bn b in=x momentum=1.5\n",
	    "momentum=1.5 (wanted a number from 0 to 1)" },
	{ HEAD "dropout d in=x rate=1\n",
	    "t.net:2: rate=1 (wanted a probability below 1)" },
	{ HEAD "dropout d in=x rate=nan\n", "rate=nan (wanted" },
	{ HEAD "linear l in=x out=8 std=-1\n",
	    "std=-1 (wanted a number from 0 to 10)" },
	{ HEAD "shift s in=x fold=1\n", "t.net:2: fold=1 (wanted 2 to 1048576)" },
	{ HEAD "shift s in=x\n",
	    "t.net:2: shift s: fold=8 of 3 channels moves none" },
	{ HEAD "avgpool p in=x\n", "t.net:2: avgpool p: neither over=AXES nor a "
	    "window k, s or p" },
	{ HEAD "avgpool p in=x over=t k=2,2\n", "t.net:2: avgpool p: both "
	    "over=AXES and a window k, s or p" },
	{ HEAD "avgpool p in=x k=2,2 p=0,2\n",
	    "t.net:2: avgpool p: padding 2 is no smaller than its window 2" },
	{ HEAD "avgpool p in=x k=2,2 edges=no\n",
	    "t.net:2: edges=no (wanted zeros or cut)" },
	{ HEAD "avgpool p in=x over=c\n",
	    "t.net:2: over=c (wanted letters of t, h and w)" },
	{ HEAD "avgpool p in=x over=\n", "over=\"\" (wanted letters of t, h and w)" },
	{ HEAD "avgpool p in=x over=xy\n", "over=xy (wanted letters" },
	{ HEAD "conv c in=x out=8\nshift s in=c from=future\n",
	    "t.net:3: from=future (wanted both or past)" },
	{ HEAD "frames f in=x\n", "t.net:2: frames f: no step=FRAMES" },
	{ HEAD "frames f in=x step=0\n", "t.net:2: step=0 (wanted 1 to 1024)" },
	{ HEAD "frames f in=x step=4 first=-1\n",
	    "t.net:2: first=-1 (wanted 0 to 1024)" },
	{ HEAD "frames f in=x step=4 first=4\n",
	    "t.net:2: frames f: first=4 is no smaller than step=4" },
	{ HEAD "frames f in=x step=4 first=1 spread=1\n",
	    "t.net:2: frames f: spread=1 begins with frame 0 (first=1)" },
	{ HEAD "bmm m in=x,x transpose=c\n",
	    "t.net:2: transpose=c (wanted a, b or ab)" },
	{ HEAD "bmm m in=x,x transpose=\n", "transpose=\"\" (wanted a, b or ab)" },
	{ HEAD "bmm m in=x,x transpose=b\nconv c in=m out=8\n",
	    "t.net:3: conv c: how many channels m has depends on the shape "
	    "(wanted a fixed number)" },
	{ HEAD "bmm m in=x,x transpose=b\nconcat a in=x,m\nbn b in=a\n",
	    "t.net:4: bn b: how many channels a has depends on the shape" },
	{ HEAD "bmm m in=x,x transpose=b\nscale s in=m by=1/c trained=1\n",
	    "t.net:3: scale s: how many channels m has depends on the shape" },
	{ HEAD "bmm m in=x,x transpose=b\n", "t.net: how many scores m gives "
	    "depends on the shape (wanted out=classes)" },
	{ HEAD "softmax s in=x\n", "t.net:2: softmax s: no over=AXES" },
	{ HEAD "softmax s in=x over=n\n",
	    "t.net:2: over=n (wanted letters of t, h, w and c)" },
	{ HEAD "sigmoid s in=x over=c\n",
	    "t.net:2: sigmoid has no attribute over (it has: in)" },
	{ HEAD "scale s in=x\n", "t.net:2: scale s: no by=FACTOR" },
	{ HEAD "scale s in=x trained=1\n", "t.net:2: scale s: no by=FACTOR" },
	{ HEAD "scale s in=x by=1/d\n", "t.net:2: by=1/d (wanted a number, alone "
	    "or before /c or /sqrt(c))" },
	{ HEAD "scale s in=x by=/c\n", "by=/c (wanted a number" },
	{ HEAD "scale s in=x by=nan\n", "by=nan (wanted a number" },
	{ HEAD "scale s in=x by=1 trained=2\n", "trained=2 (wanted 0 or 1)" },
	{ HEAD "maxpool m in=x k=2,2 p=2,0\n",
	    "t.net:2: maxpool m: padding 2 is no smaller than its window 2" },
	/* streams */
	{ "input x\n", "t.net:1: input x: no out=CHANNELS" },
	{ "input x out=257\n",
	    "t.net:1: out=257 (wanted 1 to 256 channels of a stream)" },
	{ "input x out=3 mean=1,2\n", "t.net:1: mean has 2 values (wanted 1 or "
	    "3, one for each channel)" },
	{ "input x mean=1,2,3,4 out=3\n", "t.net:1: mean has 4 values (wanted" },
	{ "input x out=1 std=1,1\n", "t.net:1: std has 2 values (wanted 1 or 1," },
	{ "input x out=3 mean=1,,1\n",
	    "t.net:1: mean=1,,1 (wanted numbers between commas)" },
	{ "input x out=3 std=1,0,1\n",
	    "t.net:1: std=1,0,1 (wanted numbers from 1e-6 between commas)" },
	{ "input x out=3 stream=a/b\n", "t.net:1: stream=a/b (wanted up to 63 "
	    "letters, digits, '_', '.' and '-')" },
	{ "input x out=3 stream=\n", "t.net:1: stream=\"\" (wanted up to 63" },
	{ HEAD "input y out=2\n", "t.net:2: out=2 (an input above reads 3 "
	    "channels of the stream rgb)" },
	{ HEAD "input x stream=flow out=2\n", "t.net:2: a second x" },
	{ HEAD "input y stream=flow out=2" TAIL2, "t.net: nothing uses y" },
	/* losses */
	{ HEAD SCORES "loss l in=s kind=hinge\n",
	    "t.net:4: kind=hinge (wanted softmax or sigmoid)" },
	{ HEAD SCORES "loss l in=s weight=-1\n",
	    "t.net:4: weight=-1 (wanted a number from 0)" },
	{ HEAD SCORES "loss l in=s smooth=1\n",
	    "t.net:4: smooth=1 (wanted a share below 1)" },
	{ HEAD SCORES "loss l in=s kind=sigmoid smooth=0.1\n",
	    "t.net:4: loss l: smooth is for kind=softmax" },
	{ HEAD SCORES "loss l in=s target=a,b\n", "t.net:4: target=a,b (wanted" },
	{ HEAD SCORES "loss l\n",
	    "t.net:4: loss l: 0 inputs (wanted 1: in=NAME)" },
	{ HEAD SCORES "loss l in=p\n", "t.net:4: loss l: p gives 3 scores a clip "
	    "(wanted one for each of 7 classes)" },
	{ HEAD SCORES "loss l in=s target=verb\nloss m in=p target=verb\n",
	    "t.net:5: loss m: p gives 3 scores a clip (wanted one for each of 7 "
	    "classes)" },
	{ HEAD SCORES "loss l in=s\nrelu r in=l\n",
	    "t.net:5: in=l: a loss is no input" },
	{ HEAD SCORES "loss l in=s\nrelu r in=s\n", "t.net: nothing uses r" },
	{ HEAD "loss x in=x\n", "t.net:2: a second x" },
	/* inputs */
	{ HEAD "relu r in=y\n", "t.net:2: in=y: nothing above is named so" },
	/* The name above has 63 letters, and this one more. */
	{ HEAD "relu "
	    "a12345678901234567890123456789012345678901234567890123456789012"
	    " in=x\nrelu r in="
	    "a123456789012345678901234567890123456789012345678901234567890123"
	    "\n", ": nothing above is named so" },
	{ HEAD "relu r in=r\n", "in=r: nothing above is named so" },
	{ HEAD "relu r in=\n", "in=\"\": nothing above is named so" },
	{ HEAD "relu r in=x,x\n", "t.net:2: relu takes at most 1 inputs" },
	{ HEAD "add a in=x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x\n",
	    "t.net:2: add takes at most 16 inputs" },
	{ HEAD "concat a in=x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x\n",
	    "t.net:2: concat takes at most 16 inputs" },
	{ HEAD "concat a in=x\n",
	    "t.net:2: concat a: 1 inputs (wanted 2: in=NAME)" },
	{ HEAD "conv c in=x out=1048576\nconcat a in=c,x\n",
	    "t.net:3: concat a: more than 1048576 channels" },
	{ HEAD "mul m in=x,x,x\n", "t.net:2: mul takes at most 2 inputs" },
	{ HEAD "mul m in=x\n", "t.net:2: mul m: 1 inputs (wanted 2: in=NAME)" },
	{ HEAD "bmm m in=x\n", "t.net:2: bmm m: 1 inputs (wanted 2: in=NAME)" },
	{ HEAD "bmm m in=x,x,x\n", "t.net:2: bmm takes at most 2 inputs" },
	{ HEAD "relu r\n", "t.net:2: relu r: 0 inputs (wanted 1: in=NAME)" },
	{ HEAD "add a in=x\n", "t.net:2: add a: 1 inputs (wanted 2: in=NAME)" },
	/* blocks */
	{ HEAD "def b\nrelu $name in=$in\n", "t.net: block b has no end" },
	{ HEAD "def b\ndef c\nend\nend\n", "t.net:3: def inside block b" },
	{ HEAD "def # b\nend\n", "t.net:2: def has no name" },
	{ HEAD "def b\nend\ndef b\nend\n",
	    "t.net:4: there is a block or operator b already" },
	{ HEAD "def conv\nend\n",
	    "t.net:2: there is a block or operator conv already" },
	{ HEAD "def b\nrelu $name in=$in\nend\n\nb r\n",
	    "t.net:6: b r: no value for $in" },
	{ HEAD "def b\nrelu $name in=$in\nend\nb r in=x out=3\n",
	    "t.net:5: block b has no $out" },
	{ HEAD "def b\nconv $name in=x out=$out k=$kt,1\nend\nb r out=3 k=1 kt=3\n",
	    "t.net:5: block b has no $k" },
	{ HEAD "def b\nrelu $name.r in=x # $in\nend\nb r in=x\n",
	    "t.net:5: block b has no $in" },
	{ HEAD "def b\nrelu $name.r in=x\nend\nb r\n",
	    "t.net:5: the last line of block b does not define $name" },
	{ HEAD "def b\nrelu $name in=y\nend\nb r\n",
	    "t.net:5: in=y: nothing above is named so" },
	{ HEAD "def b\n # nothing\n\nend\nb r\n",
	    "t.net:6: the last line of block b does not define $name" },
	{ HEAD "def b\nb $name.b\nrelu $name in=x\nend\nb r\n",
	    "t.net:6: blocks nested more than 8 deep" },
	/* the whole */
	{ HEAD "relu last in=x\nrelu r in=x" TAIL, "t.net: nothing uses r" },
	{ HEAD "relu r in=x\n", "t.net: the last operator gives 3 scores a clip "
	    "(wanted one for each of 7 classes: out=classes)" },
	{ HEAD "avgpool p in=x over=hw\nlinear fc in=p out=8\n",
	    "gives 8 scores a clip (wanted one for each of 7 classes" },
};

/* The message graph_parse gives; it must give one, and no graph. */
static const char *
message(const char *text)
{
	static char said[4096];
	struct graph *g;

	fail_capture(said, sizeof(said));
	g = graph_parse("t.net", text, 7);
	fail_capture(NULL, 0);
	if (g != NULL) {
		graph_free(g);
		return "(it was read)";
	}
	return said;
}

static void
says(const char *text, const char *want)
{
	const char *got = message(text);

	if (!ok(strstr(got, want) != NULL && strstr(got, "; ") == NULL,
	    "refused: %s", want))
		diag("got: %s", got);
}

static void
errors(void)
{
	struct buffer b = { 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		says(wrong[i].text, wrong[i].says);

	buffer_text(&b, HEAD "conv c in=x out=8 ");
	for (int i = 0; i < 500; i++)
		buffer_text(&b, "   ");
	says(b.data, "t.net:2: longer than 1023 bytes");
	b.n = 0;
	buffer_text(&b, HEAD "conv c");
	for (int i = 0; i < 25; i++)
		buffer_printf(&b, " a%d=1", i);
	says(b.data, "t.net:2: more than 24 attributes");
	b.n = 0;
	buffer_text(&b, HEAD "def b\nrelu $name in=$in$in\nend\nb r in=");
	for (int i = 0; i < 600; i++)
		buffer_text(&b, "x");
	says(b.data, "t.net:5: b r: a line of the block becomes longer than 1023");
	buffer_free(&b);
}

/*
 * Reading takes a time that the size of the text bounds.  Without the limits
 * the second of these takes minutes and the third longer than anyone has.
 */
static void
limits(void)
{
	struct buffer b = { 0 };

	buffer_text(&b, HEAD "def b\nrelu $name in=x");
	for (int i = 0; i < 25; i++)
		buffer_printf(&b, "$k%d", i);
	buffer_text(&b, "\nend\n");
	says(b.data, "t.net:3: more than 24 different $keys in a block");

	b.n = 0;
	buffer_text(&b, HEAD);
	for (int i = 0; i < 50000; i++)
		buffer_printf(&b, "relu r%d in=x\n", i);
	says(b.data, "t.net:16385: more than 16384 operators");

	b.n = 0;
	buffer_text(&b, HEAD);
	for (int deep = 0; deep < 8; deep++) {
		buffer_printf(&b, "def b%d\n", deep);
		for (int i = 0; i < 30; i++)
			buffer_printf(&b, deep == 0 ? "relu $name.%d in=x\n" :
			    "b%d $name.%d\n", deep == 0 ? i : deep - 1, i);
		buffer_text(&b, "relu $name in=x\nend\n");
	}
	buffer_text(&b, "b7 y\n");
	says(b.data, "more than 16384 operators");

	b.n = 0;
	buffer_text(&b, HEAD);
	for (int deep = 0; deep < 8; deep++) {
		buffer_printf(&b, "def b%d\n", deep);
		if (deep == 0)
			buffer_text(&b, "relu $name in=x");
		else
			buffer_printf(&b, "b%d $name e=", deep - 1);
		for (int i = 0; i < 480; i++)
			buffer_text(&b, "$e");
		buffer_text(&b, "\nend\n");
	}
	for (int i = 0; i < 5000; i++)
		buffer_printf(&b, "b7 y%d e=\n", i);
	says(b.data, "the blocks expand to more than 16 MiB");

	b.n = 0;
	while (b.n <= 1 << 20)
		buffer_text(&b, "# a line that says nothing, many times\n");
	says(b.data, "(wanted at most 1048576)");
	buffer_free(&b);
}

/* A file whose text ends at a zero byte would be another network, silently. */
static void
zero_byte(void)
{
	static const char text[] = HEAD "avgpool p in=x over=thw\n"
	    "linear fc in=p out=classes\n\0relu r in=fc\n";
	char path[] = "/tmp/vt-graph.XXXXXX", said[200];
	int fd = mkstemp(path);
	struct graph *g;

	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0)
		exit(1);
	fail_capture(said, sizeof(said));
	g = graph_read(path, 7);
	fail_capture(NULL, 0);
	ok(g == NULL && strstr(said, "offset 65: a zero byte (wanted text)"),
	    "a zero byte is refused");
	graph_free(g);
	close(fd);
	unlink(path);
}

/* Shapes that do not fit are found when a plan is made, and named. */
static void
shape_error(const char *text, int t, int side, const char *want)
{
	struct graph *g = graph_parse("t.net", text, 7);
	struct dims in = { 1, t, side, side, 3 }, out[16];
	char said[1024];
	int bad;

	fail_capture(said, sizeof(said));
	bad = g == NULL || g->nop > 16 || graph_shapes(g, &in, out) != 0;
	fail_capture(NULL, 0);
	if (!ok(bad && strstr(said, want) != NULL, "refused: %s", want))
		diag("got: %s", said);
	graph_free(g);
}

static void
shape_errors(void)
{
	shape_error(HEAD "conv c in=x out=3 k=7,7 p=0,0\nrelu last in=c" TAIL, 2, 6,
	    "c: input 1x2x6x6x3 is smaller than the window 1x7x7");
	shape_error(HEAD "maxpool last in=x k=3,1,1 p=0,0,0" TAIL, 2, 6,
	    "last: input 1x2x6x6x3 is smaller than the window 3x1x1");
	shape_error(HEAD "conv c in=x out=3 k=1,1 s=2,2\nadd last in=x,c" TAIL, 2,
	    6, "last: inputs of shapes 1x2x6x6x3 and 1x2x3x3x3 (wanted equal "
	    "ones)");
	shape_error(HEAD "conv last in=x out=1048576 k=1,1 p=1024,1024" TAIL, 2, 6,
	    "last: an output of 1x2x2054x2054x1048576 (wanted at most 2^40 "
	    "values)");
	shape_error(HEAD "conv c in=x out=4\nadd last in=x,c" TAIL, 2, 6,
	    "and 1x2x6x6x4 (wanted equal ones)");
	shape_error(HEAD "frames f in=x step=2\nconcat last in=f,x" TAIL, 4, 6,
	    "last: inputs of shapes 1x2x6x6x3 and 1x4x6x6x3 (wanted ones that "
	    "differ in their channels only)");
	shape_error(HEAD "frames last in=x step=8 first=4" TAIL, 4, 6,
	    "last: 4 frames, of which step=8 first=4 takes none");
	shape_error(HEAD "frames last in=x step=8 spread=1" TAIL, 4, 6,
	    "last: 4 frames, of which step=8 first=0 takes none");
	shape_error(HEAD "frames f in=x step=2\nmul last in=x,f" TAIL, 4, 6,
	    "last: inputs of shapes 1x4x6x6x3 and 1x2x6x6x3 (wanted equal ones, "
	    "or a second one of 1 frame, row or column)");
	shape_error(HEAD "avgpool a in=x over=hw\nmul last in=a,x" TAIL, 4, 6,
	    "last: inputs of shapes 1x4x1x1x3 and 1x4x6x6x3");
	shape_error(HEAD "bmm last in=x,x" TAIL, 4, 6, "last: 1 products of 144x3 "
	    "and 1 of 144x3 matrices (wanted as many columns there as rows "
	    "here)");
	shape_error(HEAD "conv c in=x out=4\nbmm m in=x,c transpose=b\n"
	    "bmm last in=m,x" TAIL, 4, 6, "m: 1 products of 144x3 and 1 of 4x144 matrices");
	shape_error(HEAD "bmm m in=x,x transpose=b\nbmm last in=m,x" TAIL, 4, 600,
	    "m: an output of 1440000 channels (wanted at most 1048576)");
	shape_error(HEAD "avgpool p in=x over=hw\nlinear fc in=p out=classes\n", 2,
	    6, "loss: scores of shape 1x2x1x1x7 (wanted one a clip: end the "
	    "network with avgpool over=t)");
}

/* ---- what is read ---- */

static const struct op *
op_named(const struct graph *g, const char *name)
{
	for (int i = 0; i < g->nop; i++)
		if (strcmp(g->op[i].name, name) == 0)
			return &g->op[i];
	printf("Bail out! no %s in %s\n", name, g->name);
	exit(1);
}

static const struct param *
param_named(const struct graph *g, const char *name)
{
	for (int i = 0; i < g->nparam; i++)
		if (strcmp(g->param[i].name, name) == 0)
			return &g->param[i];
	printf("Bail out! no %s in %s\n", name, g->name);
	exit(1);
}

/* Every default and every attribute, as vt-model(5) has them. */
static void
language(void)
{
	static const char text[] =
	    "# comment\r\n"
	    "def unit\n"
	    "conv $name.c in=$in out=$out k=$k # a $comment\n"
	    "\n"
	    "relu $name in=$name.c\n"
	    "  end # of unit\n"
	    "def two\n"
	    "unit $name.a in=$in out=16 k=1,1\n"
	    "unit $name in=$name.a out=16 k=3,3,3\n"
	    "end\n"
	    "\tinput x out=3\r\n"
	    "two t in=x\n"
	    "conv c in=t out=32 k=5,4 s=2,3 groups=4 bias=1\n"
	    "conv d in=c out=16 k=2,3,3 s=2,1,1 p=0,2,1\n"
	    "bn b in=d\n"
	    "bn e in=b gamma=0 eps=1e-3 momentum=0.01\n"
	    "shift s in=e fold=4\n"
	    "add a in=e,s,e\n"
	    "maxpool m in=a k=2,2\n"
	    "dropout o in=m\n"
	    "avgpool p in=o over=thw\n"
	    "linear f in=p out=12\n"
	    "linear l in=f out=classes std=0.5";	/* no newline at the end */
	struct graph *g = graph_parse("dir/t.net", text, 7);
	struct dims in = { 2, 6, 24, 24, 3 }, out[32];
	char dims[64];
	const struct op *c, *d;

	if (!ok(g != NULL, "a network with everything is read"))
		return;
	is_text(g->name, "t", "its name is the file's without .net");
	is(g->nop, 17, "blocks within blocks become operators");
	c = op_named(g, "c");
	d = op_named(g, "d");
	ok(c->k[0] == 1 && c->k[1] == 5 && c->k[2] == 4 && c->s[0] == 1 &&
	    c->s[1] == 2 && c->s[2] == 3 && c->groups == 4 && c->bias,
	    "two numbers are h and w");
	ok(c->p[0] == 0 && c->p[1] == 2 && c->p[2] == 1,
	    "the padding is (k - 1) / 2, rounded down, where none is given");
	ok(d->k[0] == 2 && d->s[0] == 2 && d->p[0] == 0 && d->p[1] == 2 &&
	    d->p[2] == 1, "three numbers are t, h and w");
	is(param_named(g, "c.weight")->ndim, 4, "k=h,w gives weights of 4 axes");
	is(param_named(g, "d.weight")->ndim, 5, "k=t,h,w gives weights of 5");
	is((long long)param_named(g, "c.weight")->count, 32 * 4 * 5 * 4,
	    "groups divide the input channels of weights");
	near(param_named(g, "c.weight")->std, sqrt(2.0 / (32 * 5 * 4)), 1e-15,
	    "convolutions begin normal, of variance 2 / (out taps)");
	near(param_named(g, "c.bias")->std, 0, 0, "their biases at 0");
	near(param_named(g, "l.weight")->std, 0.5, 0, "linear layers as std says");
	near(param_named(g, "f.weight")->std, 0.01, 0, "or 0.01");
	near(param_named(g, "b.weight")->fill, 1, 0, "scales at 1");
	near(param_named(g, "e.weight")->fill, 0, 0, "or as gamma says");
	near(param_named(g, "b.running_var")->fill, 1, 0, "running variances at 1");
	ok(op_named(g, "b")->eps == 1e-5 && op_named(g, "b")->momentum == 0.1 &&
	    op_named(g, "e")->eps == 1e-3 && op_named(g, "e")->momentum == 0.01,
	    "bn has eps 1e-5 and momentum 0.1 unless said");
	near(op_named(g, "o")->rate, 0.5, 0, "dropout has rate 0.5");
	ok(param_named(g, "l.weight")->head && param_named(g, "l.bias")->head &&
	    !param_named(g, "f.weight")->head,
	    "the last linear layer is the classifier");
	if (ok(graph_shapes(g, &in, out) == 0, "shapes follow")) {
		is_text(dims_text(&out[op_named(g, "t") - g->op], dims),
		    "2x6x24x24x16", "default padding keeps sizes at stride 1");
		is_text(dims_text(&out[op_named(g, "c") - g->op], dims),
		    "2x6x12x8x32", "a convolution's output");
		is_text(dims_text(&out[op_named(g, "d") - g->op], dims),
		    "2x3x14x8x16", "one over time");
		is_text(dims_text(&out[op_named(g, "m") - g->op], dims),
		    "2x3x13x7x16", "a pool's");
		is_text(dims_text(&out[op_named(g, "l") - g->op], dims),
		    "2x1x1x1x7", "the scores");
		is_text(dims_text(&out[g->nop - 1], dims), "2x1x1x1x1",
		    "the losses");
	}
	for (int i = 0; i < g->nparam; i++)
		if (g->param[i].offset % PARAM_ALIGN != 0 || (i > 0 &&
		    g->param[i].offset < g->param[i - 1].offset +
		    g->param[i - 1].count))
			ok(0, "%s has a place of its own", g->param[i].name);
	ok(g->param[g->nparam - 1].offset + g->param[g->nparam - 1].count <=
	    g->elements, "the flat buffer holds every parameter");
	graph_free(g);
}

/* What networks of two pathways, and those that attend, are made of. */
static void
joins(void)
{
	static const char text[] = HEAD
	    "frames slow in=x step=4\n"
	    "frames odd in=x step=3 first=2\n"
	    "frames ends in=x step=5 spread=1\n"
	    "conv a in=x out=20 k=5,1,1 s=4,1,1\n"
	    "concat c in=slow,a,slow\n"
	    "shift s in=c fold=4 from=past\n"
	    "maxpool m in=s k=2,1,1 s=2,1,1\n"
	    "avgpool v in=m k=1,2,2 s=1,2,2 edges=cut\n"
	    "bmm f in=m,v transpose=b\n"
	    "scale d in=f by=1/c\n"
	    "softmax p in=d over=c\n"
	    "bmm y in=p,v\n"
	    "scale g in=y by=0.5 trained=1\n"
	    "avgpool q in=g over=thw\n"
	    "sigmoid i in=q\n"
	    "mul u in=g,i\n"
	    "swish h in=u\n"
	    "relu6 r in=h\n"
	    "avgpool e in=r over=thw\n"
	    "avgpool l in=odd over=thw\n"
	    "avgpool k in=ends over=thw\n"
	    "scale n in=k by=2/sqrt(c) trained=1\n"
	    "concat o in=e,l,n\n"
	    "linear fc in=o out=classes\n";
	static const struct { const char *op, *shape; } want[] = {
		{ "slow", "2x4x12x8x3" }, { "odd", "2x5x12x8x3" },
		{ "ends", "2x3x12x8x3" }, { "c", "2x4x12x8x26" },
		{ "s", "2x4x12x8x26" }, { "m", "2x2x12x8x26" },
		{ "v", "2x2x6x4x26" }, { "f", "2x2x12x8x48" },
		{ "p", "2x2x12x8x48" }, { "y", "2x2x12x8x26" },
		{ "u", "2x2x12x8x26" }, { "o", "2x1x1x1x32" } };
	struct graph *g;
	struct dims in = { 2, 16, 12, 8, 3 }, out[40], z;
	char dims[64];
	const struct op *y;
	struct op ab = { .name = "z", .nin = 2,
		.transpose = TRANSPOSE_A | TRANSPOSE_B };

	g = graph_parse("t.net", text, 7);
	if (!ok(g != NULL && graph_shapes(g, &in, out) == 0,
	    "joins, attention and gates are read"))
		return;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		is_text(dims_text(&out[op_named(g, want[i].op) - g->op], dims),
		    want[i].shape, want[i].op);
	y = op_named(g, "y");
	near(op_types[OP_BMM].macs(y, &out[y->in[0]], &out[y - g->op]),
	    2.0 * 192 * 48 * 26, 0, "a product counts each multiply-add");
	ok(op_named(g, "s")->past && op_named(g, "v")->cut &&
	    op_named(g, "p")->over == OVER_C, "words and letters are kept");
	near(op_factor(op_named(g, "d"), 48), 1 / 48.0, 0, "a factor of 1/c");
	is(op_named(g, "d")->nparam, 0, "a constant factor is no parameter");
	near(param_named(g, "g.weight")->fill, 0.5, 0, "a trained one is");
	near(param_named(g, "n.weight")->fill, 2 / sqrt(3), 1e-15,
	    "and begins where it says");
	is((long long)param_named(g, "n.weight")->count, 1, "it is one number");
	is(param_named(g, "fc.weight")->dim[1], 32,
	    "what is joined has the channels of all");
	ok(op_types[OP_BMM].infer(&ab, (struct dims[]){ { 2, 3, 2, 2, 5 },
	    { 2, 1, 7, 1, 12 } }, &z) == 0 && strcmp(dims_text(&z, dims),
	    "2x1x1x5x7") == 0, "both transposed: rows become places of a row");
	graph_free(g);
}

/* PySlowFast's slow pathway, as that program chose its frames. */
static void
slow_pathway(void)
{
	struct table *t = table_read(golden_path("idx_psf_slow_pathway.tsv"));
	int bad = 0;

	for (size_t r = 0; r < t->rows; r++) {
		int frames = atoi(t->cell[r][0]), i = 0;
		struct op op = { .kind = OP_FRAMES, .spread = 1,
			.step = atoi(t->cell[r][1]) };
		char *next = t->cell[r][2];

		for (;; i++, next++) {
			bad += strtol(next, &next, 10) !=
			    op_frame(&op, frames, i);
			if (*next != ',')
				break;
		}
		bad += i + 1 != op_frames(&op, frames);
	}
	ok(bad == 0 && t->rows == 9, "spread frames are PySlowFast's (%zu rows)",
	    t->rows);
	table_free(t);
}

/* The products of the five non-local blocks of I3D, counted over there. */
static void
attention_macs(void)
{
	static const char text[] =
	    "def attend\n"
	    "conv $name.theta in=$in out=$c k=1,1,1 bias=1\n"
	    "maxpool $name.pool in=$in k=1,2,2 s=1,2,2\n"
	    "conv $name.phi in=$name.pool out=$c k=1,1,1 bias=1\n"
	    "conv $name.g in=$name.pool out=$c k=1,1,1 bias=1\n"
	    "scale $name.scale in=$name.theta by=1/sqrt(c)\n"
	    "bmm $name.f in=$name.scale,$name.phi transpose=b\n"
	    "softmax $name.p in=$name.f over=c\n"
	    "bmm $name.y in=$name.p,$name.g\n"
	    "conv $name.out in=$name.y out=3 k=1,1,1 bias=1\n"
	    "bn $name.bn in=$name.out gamma=0\n"
	    "add $name in=$name.bn,$in\n"
	    "end\n" HEAD
	    "attend a in=x c=256\nattend b in=a c=256\n"
	    "maxpool half in=b k=2,2 s=2,2\n"
	    "attend c in=half c=512\nattend d in=c c=512\nattend e in=d c=512\n"
	    "avgpool p in=e over=thw\nlinear fc in=p out=classes\n";
	struct table *t = table_read(golden_path(
	    "layers_psf_I3D_NLN_8x8_R50_224.tsv"));
	struct graph *g = graph_parse("t.net", text, 7);
	struct dims in = { 1, 4, 28, 28, 3 }, out[80];
	double macs = 0;

	if (ok(g != NULL && graph_shapes(g, &in, out) == 0,
	    "a network with non-local blocks is read")) {
		for (int i = 0; i < g->nop; i++)
			if (g->op[i].kind == OP_BMM)
				macs += op_types[OP_BMM].macs(&g->op[i],
				    &out[g->op[i].in[0]], &out[i]);
		near(macs, strtod(t->cell[t->rows - 1][9], NULL), 0,
		    "the products of I3D's non-local blocks");
	}
	graph_free(g);
	table_free(t);
}

/* Two streams, a shared trunk, and three heads of two targets. */
static void
heads(void)
{
	static const char text[] =
	    "input x out=3 mean=0.5 std=0.25,0.5,1\n"
	    "input y stream=flow out=10 mean=0.5\n"
	    "input z out=3\n"			/* rgb again */
	    "conv a in=x out=8 k=3,3\n"
	    "conv b in=y out=8 k=3,3\n"
	    "conv c in=z out=8 k=3,3\n"
	    "add s in=a,b,c\n"
	    "linear mid in=s out=16\n"
	    "avgpool p in=mid over=thw\n"
	    "linear verb in=p out=12\n"
	    "linear fc in=p out=classes\n"
	    "loss main in=fc smooth=0.1\n"
	    "loss set in=verb target=verb kind=sigmoid weight=0.5\n"
	    "loss more in=verb target=verb\n";
	struct graph *g = graph_parse("t.net", text, 7);
	struct dims in[2] = { { 2, 8, 24, 24, 3 }, { 2, 8, 24, 24, 10 } };
	struct dims out[16];
	const struct op *x, *y;

	if (!ok(g != NULL, "a network of two streams and three heads is read"))
		return;
	x = op_named(g, "x");
	y = op_named(g, "y");
	ok(g->needs.streams == 2 && strcmp(g->needs.stream[0].name, "rgb") == 0 &&
	    g->needs.stream[0].c == 3 && strcmp(g->needs.stream[1].name,
	    "flow") == 0 && g->needs.stream[1].c == 10,
	    "it needs rgb of 3 channels and flow of 10");
	ok(x->stream == 0 && y->stream == 1 && op_named(g, "z")->stream == 0,
	    "and each input knows its stream");
	ok(x->mean[0] == 0.5 && x->mean[2] == 0.5 && x->sd[0] == 0.25 &&
	    x->sd[2] == 1 && y->mean[9] == 0.5 && y->sd[9] == 1,
	    "one mean stands for all channels, and std is 1 unless said");
	ok(g->needs.targets == 2 && strcmp(g->needs.target[0].name, "class") == 0
	    && g->needs.target[0].classes == 7 && strcmp(g->needs.target[1].name,
	    "verb") == 0 && g->needs.target[1].classes == 12,
	    "it needs classes, and verbs");
	ok(g->needs.target[0].kinds == (1 << TARGET_CLASS | 1 << TARGET_SHARES) &&
	    g->needs.target[1].kinds == 1 << TARGET_CLASS,
	    "of kinds that all losses of a target take");
	is(g->heads, 3, "it has three heads");
	ok(g->head[0].scores == op_named(g, "fc") - g->op &&
	    g->head[0].loss == op_named(g, "main") - g->op &&
	    g->head[0].classes == 7 && g->head[2].classes == 12 &&
	    op_named(g, "more")->head == 2, "in the order of the losses");
	ok(op_named(g, "set")->loss == LOSS_SIGMOID &&
	    op_named(g, "set")->weight == 0.5 && op_named(g, "main")->weight == 1
	    && op_named(g, "main")->smooth == 0.1, "with what their lines say");
	ok(param_named(g, "fc.weight")->head && param_named(g, "verb.bias")->head &&
	    !param_named(g, "mid.weight")->head,
	    "the last linear layer of each is a classifier");
	ok(graph_shapes(g, in, out) == 0 && out[1].c == 10 && out[0].c == 3,
	    "each stream has its shape");
	in[1].h = 12;
	ok(graph_shapes(g, in, out) != 0, "which must suit the network");
	graph_free(g);
}

/* ---- the networks that are installed ---- */

static struct graph *
model(const char *name, int classes)
{
	char path[128];
	struct graph *g;

	snprintf(path, sizeof(path), "share/models/%s.net", name);
	g = graph_read(path, classes);
	if (g == NULL) {
		printf("Bail out! %s cannot be read\n", path);
		exit(1);
	}
	return g;
}

/*
 * Parameters and multiply-adds of a ResNet of basic blocks, by hand: a stem of
 * ${taps} x ${taps} taps at stride 2 with ${stem} channels, perhaps a pool of
 * stride 2, then ${stages} stages of two blocks, each with twice the channels
 * and half the side of the one before.
 */
struct sum { long long parameters, macs; };

static void
add_conv(struct sum *s, int in, int out, int k, int side)
{
	s->parameters += (long long)in * out * k * k + 2 * out;	/* and its bn */
	s->macs += (long long)in * out * k * k * side * side;
}

static struct sum
basic(int stem, int taps, int pool, int stages, int classes, int t, int side)
{
	struct sum s = { 0, 0 };
	int c = stem;

	side = (side + 1) / 2;
	add_conv(&s, 3, stem, taps, side);
	if (pool)
		side = (side + 1) / 2;
	for (int i = 0; i < stages; i++, c *= 2) {
		int in = i == 0 ? c : c / 2;

		if (i > 0) {
			side = (side + 1) / 2;
			add_conv(&s, in, c, 1, side);	/* the projection */
		}
		add_conv(&s, in, c, 3, side);
		for (int k = 0; k < 3; k++)
			add_conv(&s, c, c, 3, side);
	}
	s.parameters += (long long)c / 2 * classes + classes;
	s.macs += (long long)c / 2 * classes;
	s.macs *= t;
	return s;
}

static void
check_sum(const char *name, int classes, int t, int side, struct sum want)
{
	struct graph *g = model(name, classes);
	struct dims in = { 1, t, side, side, 3 };
	char what[128];

	snprintf(what, sizeof(what), "%s, %d classes: parameters", name, classes);
	is((long long)graph_parameters(g), want.parameters, what);
	snprintf(what, sizeof(what), "%s, %d x %d x %d: multiply-adds", name, t,
	    side, side);
	near(graph_macs(g, &in), (double)want.macs, 0, what);
	graph_free(g);
}

static void
by_hand(void)
{
	static const int shapes[][2] = { { 2, 34 }, { 4, 48 }, { 8, 79 } };

	is(basic(16, 5, 0, 3, 8, 1, 48).parameters, 175896,
	    "the small network has the parameters its file says");
	is(basic(64, 7, 1, 4, 1000, 1, 224).parameters, 11689512,
	    "ResNet-18 has torchvision's");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		int t = shapes[i][0], side = shapes[i][1];

		check_sum("tsm_tiny", 8, t, side, basic(16, 5, 0, 3, 8, t, side));
		check_sum("tsn_tiny", 8, t, side, basic(16, 5, 0, 3, 8, t, side));
		check_sum("tsm_r18", 174, t, 4 * side,
		    basic(64, 7, 1, 4, 174, t, 4 * side));
		check_sum("tsn_r18", 174, t, 4 * side,
		    basic(64, 7, 1, 4, 174, t, 4 * side));
	}
}

/* The number in the row of ${model}; -1 if there is none. */
static double
stat(const struct table *t, const char *name, const char *column)
{
	int c = table_column(t, column);

	for (size_t r = 0; r < t->rows; r++)
		if (strcmp(t->cell[r][0], name) == 0)
			return strtod(t->cell[r][c], NULL);
	return -1;
}

static void
golden_stats(const char *row, const char *name, int classes, int t)
{
	struct table *stats = table_read(golden_path("model_stats_tsm.tsv"));
	struct graph *g = model(name, classes);
	struct dims in = { 1, t, 224, 224, 3 };
	size_t norms = 0, running = 0;
	char what[128];

	for (int i = 0; i < g->nparam; i++) {
		const struct param *p = &g->param[i];

		if (p->kind == PARAM_SCALE || p->kind == PARAM_OFFSET)
			norms += p->count;
		if (p->kind >= PARAM_MEAN)
			running += p->count;
	}
#define WHAT(s) (snprintf(what, sizeof(what), "%s is %s: %s", name, row, s), what)
	near((double)graph_parameters(g), stat(stats, row, "params"), 0,
	    WHAT("parameters"));
	near((double)norms, stat(stats, row, "bn_params"), 0,
	    WHAT("scales and offsets"));
	near((double)running, stat(stats, row, "bn_running_buffers"), 0,
	    WHAT("running statistics"));
	near(graph_macs(g, &in), stat(stats, row, "macs_224"), 0,
	    WHAT("multiply-adds at 224"));
	in.h = in.w = 256;
	if (stat(stats, row, "macs_256") > 0)
		near(graph_macs(g, &in), stat(stats, row, "macs_256"), 0,
		    WHAT("at 256"));
	graph_free(g);
	table_free(stats);
}

/*
 * The published name as ours: without "base_model.", without the ".net" that a
 * shift puts around its convolution, and new_fc is fc.
 */
static void
rename_key(const char *from, char *to, size_t size)
{
	const char *net;

	if (strncmp(from, "base_model.", 11) == 0)
		from += 11;
	if (strncmp(from, "new_fc", 6) == 0)
		from += 4;
	net = strstr(from, ".net");
	if (net != NULL && (net[4] == '.' || net[4] == '\0'))
		snprintf(to, size, "%.*s%s", (int)(net - from), from, net + 4);
	else
		snprintf(to, size, "%s", from);
}

static void
golden_keys(const char *file, const char *name, int classes)
{
	char path[160], want[128], shape[128];
	struct graph *g = model(name, classes);
	struct table *t;
	int k = 0, differ = 0;

	snprintf(path, sizeof(path), "keys_%s.tsv", file);
	t = table_read(golden_path(path));
	for (size_t r = 0; r < t->rows; r++) {
		const char *key = t->cell[r][0];
		const struct param *p = &g->param[k];
		int at = 0;

		/* A count of batches, which no rule here needs. */
		if (strstr(key, "num_batches_tracked") != NULL)
			continue;
		rename_key(key, want, sizeof(want));
		*shape = '\0';
		for (int i = 0; k < g->nparam && i < p->ndim; i++)
			at += snprintf(shape + at, sizeof(shape) - (size_t)at,
			    "%s%d", i ? "x" : "", p->dim[i]);
		if (k++ < g->nparam && strcmp(p->name, want) == 0 &&
		    strcmp(shape, t->cell[r][1]) == 0 &&
		    (p->kind >= PARAM_MEAN) == (*t->cell[r][2] == 'b'))
			continue;
		if (differ++ == 0)
			diag("%s %s, wanted %s %s", k <= g->nparam ? p->name :
			    "nothing", shape, want, t->cell[r][1]);
	}
	ok(differ == 0 && k == g->nparam && k > 100,
	    "%s has the names, shapes and order of %s (%d)", name, file, k);
	graph_free(g);
	table_free(t);
}

/* "8x64x56x56": frames are images of a batch there. */
static void
image_shape(const struct dims *d, int planar, char *to, size_t size)
{
	if (planar)
		snprintf(to, size, "%dx%dx%dx%d", d->n * d->t, d->c, d->h, d->w);
	else
		snprintf(to, size, "%dx%d", d->n * d->t, d->c);
}

static int
same_layer(const struct graph *g, int i, const struct dims *out,
    char *const *cell)
{
	const struct op *op = &g->op[i];
	const struct dims *in = &out[op->in[0]];
	int conv = op->kind == OP_CONV;
	char name[128], a[64], b[64], k[64] = "-", s[64] = "-", p[64] = "-";

	rename_key(cell[0], name, sizeof(name));
	image_shape(in, conv, a, sizeof(a));
	image_shape(&out[i], conv, b, sizeof(b));
	if (conv) {
		snprintf(k, sizeof(k), "%dx%d", op->k[1], op->k[2]);
		snprintf(s, sizeof(s), "%dx%d", op->s[1], op->s[2]);
		snprintf(p, sizeof(p), "%dx%d", op->p[1], op->p[2]);
	}
	return strcmp(op->name, name) == 0 && strcmp(a, cell[2]) == 0 &&
	    strcmp(b, cell[3]) == 0 && strcmp(k, cell[4]) == 0 &&
	    strcmp(s, cell[5]) == 0 && strcmp(p, cell[6]) == 0 &&
	    g->param[op->param].count == strtoull(cell[8], NULL, 10) &&
	    op_types[op->kind].macs(op, in, &out[i]) == strtod(cell[9], NULL);
}

static void
golden_layers(const char *file, const char *name, int classes, int frames)
{
	char path[160];
	struct graph *g = model(name, classes);
	struct dims in = { 1, frames, 224, 224, 3 };
	struct dims *out = xcalloc((size_t)g->nop, sizeof(*out));
	struct table *t;
	size_t r = 0;
	int differ = 0;

	snprintf(path, sizeof(path), "layers_%s_224.tsv", file);
	t = table_read(golden_path(path));
	graph_shapes(g, &in, out);
	for (int i = 0; i < g->nop; i++) {
		if (g->op[i].kind != OP_CONV && g->op[i].kind != OP_LINEAR)
			continue;
		if (r < t->rows && !same_layer(g, i, out, t->cell[r]) &&
		    differ++ == 0)
			diag("%s differs from %s", g->op[i].name, t->cell[r][0]);
		r++;
	}
	/* The last row is the sum of attention's products. */
	ok(differ == 0 && r + 1 == t->rows && r > 50,
	    "%s has the layers of %s (%zu)", name, file, r);
	free(out);
	graph_free(g);
	table_free(t);
}

static void
golden_shapes(void)
{
	struct table *t = table_read(golden_path("macs_by_multigrid_shape.tsv"));
	struct graph *g = model("tsm_r50", 400);
	int same = 0, all = 0;

	for (size_t r = 0; r < t->rows; r++)
		if (strcmp(t->cell[r][0], "TSM_R50") == 0) {
			int side = atoi(t->cell[r][2]);
			struct dims in = { 1, atoi(t->cell[r][1]), side, side, 3 };

			all++;
			same += graph_macs(g, &in) == strtod(t->cell[r][3], NULL);
		}
	ok(all == 9 && same == all,
	    "tsm_r50 costs what it should at %d of 9 multigrid shapes", same);
	graph_free(g);
	table_free(t);
}

static void
golden(void)
{
	golden_stats("tsm_r50_8f_k400", "tsm_r50", 400, 8);
	golden_stats("tsm_r50_16f_k400", "tsm_r50", 400, 16);
	golden_stats("tsm_r50_8f_sth", "tsm_r50", 174, 8);
	golden_stats("tsn_r50_8f_k400", "tsn_r50", 400, 8);
	golden_stats("torchvision_resnet50_in1k", "tsn_r50", 1000, 1);
	golden_keys("tsm_r50_8f_k400", "tsm_r50", 400);
	golden_keys("tsm_r50_8f_sth", "tsm_r50", 174);
	golden_keys("tsmrepo_tsn_r50_8f_k400", "tsn_r50", 400);
	golden_keys("torchvision_resnet50", "tsn_r50", 1000);
	golden_layers("tsm_r50_8f_k400", "tsm_r50", 400, 8);
	golden_layers("tsm_r50_16f_k400", "tsm_r50", 400, 16);
	golden_layers("tsm_r50_8f_sth", "tsm_r50", 174, 8);
	golden_layers("tsmrepo_tsn_r50_8f_k400", "tsn_r50", 400, 8);
	golden_layers("torchvision_resnet50", "tsn_r50", 1000, 1);
	golden_shapes();
}

int
main(void)
{
	errors();
	limits();
	zero_byte();
	shape_errors();
	language();
	joins();
	slow_pathway();
	attention_macs();
	heads();
	by_hand();
	golden();
	return done();
}
